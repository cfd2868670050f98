import { useState } from 'react'
import { useNames } from '../api/names.ts'
import { PickOne } from './pick-one.tsx'

/** Asks who should review the selected rows. */
export const AssignReviewer = ({
  start,
  onClose,
}: {
  start: (userId: string) => Promise<void>
  onClose: () => void
}) => {
  const members = useNames('members')
  const [person, setPerson] = useState<string | null>(null)
  return (
    <PickOne
      title="Assign reviewer"
      label="Reviewer"
      hint="The reviewer finds each conversation under Review."
      action="Assign reviewer"
      none="No members."
      options={members.options}
      isLoaded={members.isLoaded}
      error={members.error}
      value={person}
      onChange={setPerson}
      send={start}
      onClose={onClose}
    />
  )
}
