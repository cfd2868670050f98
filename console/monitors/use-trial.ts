// Tries a draft on stored conversations: rules while typing, LLM judges on request.

import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { answer, api } from '../api/client.ts'
import { Fault, type Issue } from '../api/fault.ts'
import type { Schemas } from '../api/schema.d.ts'
import { useDeferred } from '../lib/deferred.ts'
import type { Filter, Monitor, Scope } from './queries.ts'
import type { Kind } from './search.ts'

export type Trial = Schemas['MonitorTrial']
export type Tried = Trial['data'][number]

/** Conversations to test a new monitor on, with the results that they should have. */
export type TrialExamples = Record<'affected' | 'notAffected', { conversationId: string }[]>

type TrialDraft = { kind: Kind; definition: Record<string, unknown>; scope: Scope }

/** The monitor that is edited, or the examples for a new one. */
type Subject = { monitor: Monitor | undefined; examples?: TrialExamples | undefined }

const idsOf = ({ affected, notAffected }: TrialExamples): string[] =>
  [...affected, ...notAffected].map(({ conversationId }) => conversationId)

export const maxShown = 20
/**
 * The number of conversations to test a rule on. It is higher than the number of displayed conversations, so that
 * changed results can be counted.
 */
const ruleLimit = 200

const ask = (
  { kind, definition, scope }: TrialDraft,
  { monitor, examples }: Subject,
  filter: Filter,
  signal: AbortSignal,
): Promise<Trial> => {
  const limit = kind === 'rule' && monitor ? ruleLimit : maxShown
  const conversationIds = examples ? idsOf(examples) : []
  const body = {
    definition,
    scope,
    ...(conversationIds.length > 0 ? { conversationIds } : { limit }),
    ...(Object.keys(filter).length > 0 && { filter }),
  }
  return answer(
    monitor
      ? api.POST('/v1/monitors/{id}/test', { params: { path: { id: monitor.id } }, body, signal })
      : api.POST('/v1/monitors/test', { body: { ...body, kind: kind === 'judge' ? 'judge' : 'rule' }, signal }),
  )
}

const useAnswer = (draft: TrialDraft | undefined, subject: Subject, filter: Filter) => {
  const { monitor, examples } = subject
  const query = useQuery({
    queryKey: ['trials', monitor?.id ?? null, draft, filter, examples ?? null],
    queryFn: ({ signal }) => ask(draft as TrialDraft, subject, filter, signal),
    enabled: draft !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  // The last result stays visible while the next one is loading or after an error.
  const [last, setLast] = useState<Trial>()
  useEffect(() => {
    if (query.data) setLast(query.data)
  }, [query.data])
  return { ...query, shown: query.data ?? last }
}

const isFilled = ({ kind, definition: { expression, criteria } }: TrialDraft) =>
  kind === 'rule' ? expression !== '' : kind === 'judge' && criteria !== ''

/** Returns the errors of a definition. */
const problemsOf = (error: unknown): Issue[] =>
  error instanceof Fault && error.status === 400 ? error.issues.filter(({ path }) => path.startsWith('definition')) : []

export const useTrial = ({ kind, definition, scope, ...subject }: TrialDraft & Subject) => {
  const { monitor } = subject
  const now = { kind, definition, scope }
  const rested = useDeferred(now, 350)
  const [requested, setRequested] = useState<TrialDraft>()
  const judged = requested?.kind === kind ? requested : undefined
  const draft = kind === 'rule' ? rested : judged
  const shownDraft = draft && draft.kind === kind && isFilled(draft) ? draft : undefined
  const newest = useAnswer(shownDraft, subject, {})
  const reviewed = useAnswer(monitor && shownDraft, subject, { reviewStatus: 'completed' })
  const problems = problemsOf(newest.error)
  return {
    problems,
    trial: shownDraft && newest.shown,
    reviewed: shownDraft && reviewed.shown,
    isFetching: newest.isFetching,
    /** Whether the result is from a draft other than the current one. */
    isStale: shownDraft !== undefined && (newest.data === undefined || JSON.stringify(draft) !== JSON.stringify(now)),
    error: problems.length === 0 ? newest.error : null,
    retry: () => void newest.refetch(),
    isFilled: isFilled(now),
    run: () => {
      if (JSON.stringify(requested) !== JSON.stringify(now)) return setRequested(now)
      void newest.refetch()
      if (monitor) void reviewed.refetch()
    },
  }
}
