import { useMutation } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import { useMay } from '../api/session.ts'
import { announce } from '../ui/announce.tsx'
import { useKeys } from '../ui/keys.tsx'
import { type Finding, type FindingStatus, type Priority, refreshFindings } from './queries.ts'
import { priorities, priorityWords } from './words.tsx'

/** The status changes that are possible from each status. */
export const moves: Record<FindingStatus, FindingStatus[]> = {
  open: ['acknowledged', 'resolved', 'ignored'],
  acknowledged: ['resolved', 'ignored', 'open'],
  resolved: ['open'],
  ignored: ['open'],
}

export const moveWords: Record<FindingStatus, string> = {
  acknowledged: 'Acknowledge',
  resolved: 'Resolve',
  ignored: 'Ignore',
  open: 'Reopen',
}

type Triage = { finding: Finding; status?: FindingStatus; priority?: Priority; reason?: string }

/** Returns whether a finding can move to a status. A merged finding can't. */
export const mayMove = ({ status, mergedIntoId }: Finding, to: FindingStatus): boolean =>
  mergedIntoId === null && moves[status].includes(to)

export const useTriage = () =>
  useMutation({
    mutationFn: ({ finding, ...body }: Triage) =>
      answer(api.POST('/v1/findings/{id}/triage', { params: { path: { id: finding.id } }, body })),
    onSuccess: async (finding, { status }) => {
      await refreshFindings()
      announce(`“${finding.title}”`, status ? `Status: ${status}` : priorityWords[finding.priority])
    },
  })

const statusKeys: [key: string, to: FindingStatus][] = [
  ['a', 'acknowledged'],
  ['r', 'resolved'],
  ['i', 'ignored'],
  ['o', 'open'],
]

/** Handles the keys that change the status of the selected finding. */
export const useTriageKeys = (finding: Finding | undefined, triage: (triage: Triage) => void): void => {
  const mayWrite = useMay('member')
  const toStatus = (status: FindingStatus) => {
    if (!finding) return
    if (mayMove(finding, status)) triage({ finding, status })
    else
      announce(
        `You can’t change the status. The finding is already ${finding.mergedIntoId ? 'merged' : finding.status}.`,
      )
  }
  const toPriority = (priority: Priority) => {
    if (finding && finding.mergedIntoId === null && finding.priority !== priority) triage({ finding, priority })
  }
  useKeys(
    mayWrite
      ? Object.fromEntries([
          ...statusKeys.map(([key, to]) => [key, { does: moveWords[to], run: () => toStatus(to) }]),
          ...priorities.map((priority, at) => [
            String(at + 1),
            { does: priorityWords[priority], run: () => toPriority(priority) },
          ]),
        ])
      : {},
  )
}
