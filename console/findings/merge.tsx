import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, api } from '../api/client.ts'
import { Fault } from '../api/fault.ts'
import { announce } from '../ui/announce.tsx'
import { ChooserOfOne } from '../ui/chooser.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { type Finding, mergeableOptions, refreshFindings } from './queries.ts'

/** Merges a finding into one that is chosen. */
export const Merge = ({ finding, onClose }: { finding: Finding; onClose: () => void }) => {
  const navigate = useNavigate()
  const [intoId, setIntoId] = useState<string | null>(null)
  const { data } = useQuery(mergeableOptions)
  const others = (data?.data ?? []).filter(({ id, mergedIntoId }) => id !== finding.id && mergedIntoId === null)
  return (
    <Confirm
      title={`Merge “${finding.title}” into another?`}
      action="Merge"
      open
      onClose={onClose}
      run={async () => {
        if (intoId === null) throw new Fault({ status: -1, message: 'Choose the finding that stays.' })
        const into = await answer(
          api.POST('/v1/findings/{id}/merge', { params: { path: { id: finding.id } }, body: { intoId } }),
        )
        await refreshFindings()
        announce(`Merged into “${into.title}”`)
        await navigate({ to: '/findings/$id', params: { id: into.id } })
      }}
    >
      <ChooserOfOne
        label="The finding that stays"
        options={others.map(({ id, title }) => ({ value: id, label: title }))}
        value={intoId}
        onChange={setIntoId}
        placeholder="Its title"
        {...(data?.nextCursor && { hint: 'Of the 200 that were filed last.' })}
      />
      <p>
        This one ends as resolved and takes nothing more. The other shows the conversations, comments and history of
        both. A merge cannot be undone.
      </p>
    </Confirm>
  )
}
