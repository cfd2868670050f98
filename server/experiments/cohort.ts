// Parses the filters that decide which conversations of the compared versions belong to an experiment.

import Type, { type Static } from 'typebox'
import { Condition, faultsOf, parseFilter } from '../filters/filter.ts'
import type { Plain } from '../filters/queries.ts'
import type { Issue } from '../platform/errors.ts'
import { Choice, Closed } from '../platform/http/schemas.ts'

const fields = ['metadata', 'channel', 'direction', 'companyId'] as const

export const CohortFilter = Closed(
  {
    field: Choice(fields, { description: 'The property to compare.' }),
    key: Type.Optional({
      ...Condition.properties.key,
      description: 'The metadata key. Required for `metadata`, and not allowed otherwise.',
    }),
    op: {
      ...Condition.properties.op,
      description: 'Metadata supports every operator; other fields support `eq` and `neq`.',
    },
    value: Type.Optional(Condition.properties.value),
  },
  {
    title: 'CohortFilter',
    description:
      'A condition on conversations, as in Filter. A conversation without a direction or company does not match any ' +
      'condition on that property.',
    examples: [{ field: 'metadata', key: 'plan', op: 'eq', value: 'gold' }],
  },
)
export type CohortFilter = Static<typeof CohortFilter>

export type Cohort = {
  /** A conversation must match each of these. */
  takes: Plain[]
  /** A conversation must match none of these. */
  leaves: Plain[]
  /** A conversation must have a company, because the exclusion names one. */
  needsCompany: boolean
}

const values = { channel: ['call', 'chat', 'voicemail'], direction: ['inbound', 'outbound'] } as const
const idForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

const faultOf = ({ field, key, op, value }: CohortFilter): Issue | undefined => {
  if (field === 'metadata') {
    if (key === undefined) return { path: 'key', message: 'is required for field metadata' }
    const [fault] = faultsOf({ metadata: [{ key, op, ...(value !== undefined && { value }) }] })
    return fault && { path: 'value', message: fault.message }
  }
  if (key !== undefined) return { path: 'key', message: `requires field metadata, not ${field}` }
  if (op !== 'eq' && op !== 'neq') return { path: 'op', message: `must be eq or neq for ${field}` }
  if (value === undefined) return { path: 'value', message: `is required for ${op}` }
  if (field === 'companyId') return idForm.test(value) ? undefined : { path: 'value', message: 'must be a UUID' }
  const known: readonly string[] = values[field]
  return known.includes(value) ? undefined : { path: 'value', message: `must be one of ${known.join(', ')}` }
}

const selectionOf = ({ field, op, value = '' }: CohortFilter): Plain => {
  const chosen = <V extends string>(all: readonly V[]) => all.filter((one) => (one === value) === (op === 'eq'))
  if (field === 'channel') return { channels: chosen(values.channel) }
  if (field === 'direction') return { directions: chosen(values.direction) }
  return { companyIds: [value.toLowerCase()] }
}

/** Validates rules that a schema cannot express. */
export const cohortFaults = (filters: CohortFilter[]): Issue[] =>
  filters.flatMap((filter, at) => {
    const fault = faultOf(filter)
    return fault ? [{ ...fault, path: `cohortFilters[${at}].${fault.path}` }] : []
  })

/** Parses filters in which `cohortFaults` found no errors. */
export const parseCohort = (filters: CohortFilter[]): Cohort => {
  const metadata = filters.flatMap(({ field, key, op, value }) =>
    field === 'metadata' && key !== undefined ? [{ key, op, ...(value !== undefined && { value }) }] : [],
  )
  const others = filters.filter(({ field }) => field !== 'metadata')
  const excludes = ({ field, op }: CohortFilter) => field === 'companyId' && op === 'neq'
  const leaves = others.filter(excludes).map(selectionOf)
  return {
    takes: [
      ...(metadata.length > 0 ? [{ metadata: parseFilter({ metadata }).metadata ?? [] }] : []),
      ...others.filter((filter) => !excludes(filter)).map(selectionOf),
    ],
    leaves,
    needsCompany: leaves.length > 0,
  }
}

export const companyIdsOf = (filters: CohortFilter[]): { path: string; id: string }[] =>
  filters.flatMap(({ field, value }, at) =>
    field === 'companyId' && value !== undefined && idForm.test(value)
      ? [{ path: `cohortFilters[${at}].value`, id: value.toLowerCase() }]
      : [],
  )
