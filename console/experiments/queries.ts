import { queryOptions } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import { listOptions } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'

export type Experiment = Schemas['Experiment']
export type Summary = Schemas['ExperimentSummary']
export type Outcome = Schemas['OutcomeResult']
export type Version = Schemas['AgentVersion']
export type Arm = 'a' | 'b'

type Named = Pick<Outcome, 'name' | 'metricId' | 'measure'>

/** Returns the name of an outcome: the monitor, and the measured category or field. */
export const outcomeName = ({ name, measure: { label } }: Pick<Named, 'name' | 'measure'>): string =>
  label === null ? name : `${name}: ${label}`

/** Identifies an outcome in its experiment. A monitor can have several. */
export const outcomeKey = ({ metricId, measure: { kind, key } }: Pick<Named, 'metricId' | 'measure'>): string =>
  key === null ? metricId : `${metricId}:${kind}:${key}`

export const experimentsOptions = listOptions(['experiments'], (cursor) =>
  answer(api.GET('/v1/experiments', { params: { query: { limit: 50, ...cursor } } })),
)

export const experimentOptions = (id: string) =>
  queryOptions({
    queryKey: ['experiments', id],
    queryFn: ({ signal }) => answer(api.GET('/v1/experiments/{id}', { params: { path: { id } }, signal })),
  })

export const runsOptions = (id: string) =>
  queryOptions({
    queryKey: ['experiments', id, 'runs'],
    queryFn: ({ signal }) =>
      answer(api.GET('/v1/experiments/{id}/evaluations', { params: { path: { id }, query: { limit: 20 } }, signal })),
  })

export const experimentExportsOptions = (id: string) =>
  queryOptions({
    queryKey: ['experiments', id, 'exports'],
    queryFn: ({ signal }) =>
      answer(api.GET('/v1/experiments/{id}/exports', { params: { path: { id }, query: { limit: 10 } }, signal })),
  })

export const versionsOptions = (agentId: string | null) =>
  queryOptions({
    queryKey: ['agents', agentId, 'versions', 'all'],
    // `enabled` prevents a request without an ID.
    queryFn: () =>
      answer(api.GET('/v1/agents/{id}/versions', { params: { path: { id: agentId ?? '' }, query: { limit: 200 } } })),
    enabled: agentId !== null,
  })

export const versionOptions = (agentId: string, versionId: string) =>
  queryOptions({
    queryKey: ['agents', agentId, 'versions', versionId],
    queryFn: () =>
      answer(api.GET('/v1/agents/{id}/versions/{versionId}', { params: { path: { id: agentId, versionId } } })),
    staleTime: Number.POSITIVE_INFINITY,
  })

export const armName = ({ armAName, armBName }: Pick<Summary, 'armAName' | 'armBName'>, arm: Arm): string =>
  (arm === 'a' ? armAName : armBName) ?? arm.toUpperCase()

/** Returns the cohort's conditions as a list filter, which can't express "any company except one". */
const filterOfCohort = (conditions: Experiment['cohortFilters']): Schemas['Filter'] => {
  const left = <const Value extends string>(name: string, all: Value[]): Value[] => {
    const matching = conditions.filter(({ field }) => field === name)
    const fitting = all.filter((one) => matching.every(({ op, value }) => (op === 'eq') === (one === value)))
    return fitting.length < all.length ? fitting : []
  }
  const channels = left('channel', ['call', 'chat', 'voicemail'])
  const directions = left('direction', ['inbound', 'outbound'])
  const companyIds = conditions.flatMap(({ field, op, value }) =>
    field === 'companyId' && op === 'eq' && value !== undefined ? [value] : [],
  )
  const metadata = conditions.flatMap(({ field, key = '', ...rest }) =>
    field === 'metadata' ? [{ key, ...rest }] : [],
  )
  return {
    ...(channels.length > 0 && { channels }),
    ...(directions.length > 0 && { directions }),
    ...(companyIds.length > 0 && { companyIds }),
    ...(metadata.length > 0 && { metadata }),
  }
}

type Selected = Pick<Schemas['Filter'], 'monitors' | 'categories'>

/** Returns the conditions that select an outcome's conversations, to the extent that filters can express them. */
export const selectOutcome = (
  { metricId, measure }: Pick<Outcome, 'metricId' | 'measure'>,
  result: 'affected' | 'all' | 'unscored',
): Selected =>
  result === 'affected' && measure.kind === 'category'
    ? { categories: { monitorId: metricId, any: [measure.key ?? ''] } }
    : { monitors: [{ id: metricId, result: measure.kind === 'result' ? result : 'all' }] }

/** Returns a filter for an arm's conversations, optionally with one result. */
export const filterOfArm = (
  experiment: Pick<Experiment, 'armAVersionId' | 'armBVersionId' | 'startedAt' | 'finishedAt' | 'cohortFilters'>,
  arm: Arm,
  selected: Selected = {},
): Schemas['Filter'] => ({
  agentVersionIds: [arm === 'a' ? experiment.armAVersionId : experiment.armBVersionId],
  statuses: ['completed'],
  since: experiment.startedAt,
  ...(experiment.finishedAt && { until: experiment.finishedAt }),
  ...filterOfCohort(experiment.cohortFilters),
  ...selected,
})
