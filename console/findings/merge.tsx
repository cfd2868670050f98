import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, api } from '../api/client.ts'
import { Fault } from '../api/fault.ts'
import { announce } from '../ui/announce.tsx'
import { ChooserOfOne } from '../ui/chooser.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { type Finding, mergeableOptions, refreshFindings } from './queries.ts'

/** Merges a finding into another. */
export const Merge = ({ finding, onClose }: { finding: Finding; onClose: () => void }) => {
  const navigate = useNavigate()
  const [intoId, setIntoId] = useState<string | null>(null)
  const { data } = useQuery(mergeableOptions)
  const others = (data?.data ?? []).filter(({ id, mergedIntoId }) => id !== finding.id && mergedIntoId === null)
  return (
    <Confirm
      title={`Merge “${finding.title}”?`}
      action="Merge finding"
      open
      onClose={onClose}
      run={async () => {
        if (intoId === null) throw new Fault({ status: -1, message: 'Choose a finding to merge into.' })
        const into = await answer(
          api.POST('/v1/findings/{id}/merge', { params: { path: { id: finding.id } }, body: { intoId } }),
        )
        await refreshFindings()
        announce(`Merged into “${into.title}”`)
        await navigate({ to: '/findings/$id', params: { id: into.id } })
      }}
    >
      <ChooserOfOne
        label="Merge into"
        options={others.map(({ id, title }) => ({ value: id, label: title }))}
        value={intoId}
        onChange={setIntoId}
        placeholder="Search findings"
        {...(data?.nextCursor && { hint: 'Shows the 200 latest findings.' })}
      />
      <p>
        This finding will be closed. The other finding will show the conversations, comments, and history of both. You
        can’t undo a merge.
      </p>
    </Confirm>
  )
}
