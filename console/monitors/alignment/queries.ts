import { queryOptions } from '@tanstack/react-query'
import { answer, api } from '../../api/client.ts'
import { listOptions, queryClient } from '../../api/queries.ts'
import type { Schemas } from '../../api/schema.d.ts'

export type Alignment = Schemas['Alignment']
export type AlignmentSummary = Schemas['AlignmentSummary']
export type AlignmentEstimate = Schemas['AlignmentEstimate']
export type AlignmentProposal = Schemas['AlignmentProposal']
export type ProposalKind = AlignmentProposal['kind']

export const alignmentsOptions = (id: string) =>
  listOptions<AlignmentSummary>(['monitors', id, 'alignments', 'list'], (cursor, signal) =>
    answer(
      api.GET('/v1/monitors/{id}/alignments', { params: { path: { id }, query: { limit: 20, ...cursor } }, signal }),
    ),
  )

export const alignmentOptions = (id: string, alignmentId: string) =>
  queryOptions({
    queryKey: ['monitors', id, 'alignments', alignmentId],
    queryFn: ({ signal }) =>
      answer(api.GET('/v1/monitors/{id}/alignments/{alignmentId}', { params: { path: { id, alignmentId } }, signal })),
  })

/**
 * Estimates an alignment, and reports missing requirements. The estimate depends on the version, because results do.
 * Events don't refresh it, because it is expensive.
 */
export const estimateOptions = (id: string, version: number) =>
  queryOptions({
    queryKey: ['alignment-estimate', id, version],
    queryFn: async ({ signal }) => {
      const body = { dryRun: true }
      const estimate = await answer(
        api.POST('/v1/monitors/{id}/alignments', { params: { path: { id } }, body, signal }),
      )
      // With `dryRun`, the API returns an estimate instead of an alignment.
      return estimate as AlignmentEstimate
    },
  })

export const startAlignment = (id: string, maxCost: number | null) =>
  answer(api.POST('/v1/monitors/{id}/alignments', { params: { path: { id } }, body: { maxCost } }))

export const changeAlignment = (id: string, alignmentId: string, to: 'cancel' | 'resume') => {
  const params = { path: { id, alignmentId } }
  return answer(
    to === 'cancel'
      ? api.POST('/v1/monitors/{id}/alignments/{alignmentId}/cancel', { params, body: {} })
      : api.POST('/v1/monitors/{id}/alignments/{alignmentId}/resume', { params, body: {} }),
  )
}

type Application = { proposal: ProposalKind; overrideReason?: string }

export const applyProposal = (id: string, alignmentId: string, body: Application) =>
  answer(api.POST('/v1/monitors/{id}/alignments/{alignmentId}/apply', { params: { path: { id, alignmentId } }, body }))

export const isUnfinished = ({ status }: AlignmentSummary): boolean => status === 'queued' || status === 'running'

export const refreshMonitor = (id: string) => queryClient.invalidateQueries({ queryKey: ['monitors', id] })
