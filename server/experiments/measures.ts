// Describes what the outcomes of an experiment measure: a monitor's results, one of its categories, or one of its
// fields.

import Type, { type Static, type TSchema } from 'typebox'
import { CategoryKey, FieldKey } from '../filters/category.ts'
import { categoryLabels, faultOfCategory, readFieldType } from '../monitors/categories.ts'
import type { JudgeDefinition } from '../monitors/judges/definition.ts'
import type { Issue } from '../platform/errors.ts'
import { Choice, Closed, Id } from '../platform/http/schemas.ts'
import type { NewOutcome } from './queries.ts'

const metricId = { ...Id, description: 'One of `outcomeMetricIds`.' }

const ofResult = Closed(
  { metricId, kind: Choice(['result']) },
  {
    title: 'ResultOutcome',
    description: 'The mean score of a judge or rule with scores, or the affected rate of any other monitor.',
  },
)

const ofCategory = Closed(
  { metricId, kind: Choice(['category']), category: CategoryKey },
  {
    title: 'CategoryOutcome',
    description:
      'The share of conversations with a category, among those with categories. Conversations that are not ' +
      'applicable count as missing, except for the share of `not_applicable`.',
  },
)

const Bound = Type.Number({ minimum: -1e15, maximum: 1e15 })

const ofField = Closed(
  {
    metricId,
    kind: Choice(['field']),
    field: FieldKey,
    range: Type.Optional(
      Closed(
        { low: Bound, high: Bound },
        {
          description:
            'The smallest and the largest possible number. A number outside this range counts as failed. Without a ' +
            'range, the values are `true` and `false`.',
        },
      ),
    ),
  },
  {
    title: 'FieldOutcome',
    description: 'The mean of a numeric field, or the share of conversations where a field is true.',
  },
)

const measures = [ofResult, ofCategory, ofField] as const

export type OutcomeMeasure = Static<(typeof measures)[number]>

/** One of these schemas. `kind` selects it, so that an error is reported for the right one. */
export const OutcomeMeasure = Type.Unsafe<OutcomeMeasure>({
  type: 'object',
  required: ['kind'],
  discriminator: { propertyName: 'kind' },
  oneOf: measures as readonly TSchema[],
  examples: [{ metricId: '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f', kind: 'category', category: 'refund' }],
})

/** The maximum number of outcomes. Each one costs something for every conversation. */
export const mostOutcomes = 20

type Monitor = { id: string; kind: NewOutcome['monitorKind']; definition: Record<string, unknown> }

const keyOf = (measure: OutcomeMeasure): string => {
  const key = measure.kind === 'category' ? measure.category : measure.kind === 'field' ? measure.field : ''
  return `${measure.metricId.toLowerCase()} ${measure.kind} ${key}`
}

/** Returns the errors in a measure of a monitor, each with its path. */
const faultOf = (monitor: Monitor, measure: OutcomeMeasure): Issue | undefined => {
  if (measure.kind === 'result') return undefined
  if (measure.kind === 'category') {
    const message = faultOfCategory(monitor, measure.category)
    return message === undefined ? undefined : { path: '.category', message }
  }
  const { field, range } = measure
  const known = readFieldType(monitor, field)
  if ('fault' in known) return { path: '.field', message: known.fault }
  if (range && range.low >= range.high) return { path: '.range.high', message: 'must be greater than low' }
  if (known.type === 'number' && !range) return { path: '.range', message: 'is required for a field with numbers' }
  return known.type === 'boolean' && range ? { path: '.range', message: 'is only for fields with numbers' } : undefined
}

/** Returns the errors in the measures of a launch. Monitors that do not exist are reported elsewhere. */
export const measureFaults = (
  monitors: readonly Monitor[],
  given: readonly OutcomeMeasure[],
  named: string[],
): Issue[] => {
  const ids = new Set(named.map((id) => id.toLowerCase()))
  const keys = given.map(keyOf)
  const issues = given.flatMap((measure, at): Issue[] => {
    const path = `outcomeMeasures[${at}]`
    const id = measure.metricId.toLowerCase()
    if (!ids.has(id)) return [{ path: `${path}.metricId`, message: 'must be one of outcomeMetricIds' }]
    if (keys.indexOf(keys[at] ?? '') < at) return [{ path, message: 'is listed twice' }]
    const monitor = monitors.find((one) => one.id === id)
    const fault = monitor && faultOf(monitor, measure)
    return fault ? [{ path: path + fault.path, message: fault.message }] : []
  })
  const measured = new Set(given.map((measure) => measure.metricId.toLowerCase()))
  const outcomes = given.length + [...ids].filter((id) => !measured.has(id)).length
  if (outcomes <= mostOutcomes) return issues
  return [...issues, { path: 'outcomeMeasures', message: `must not result in more than ${mostOutcomes} outcomes` }]
}

type Measured = Pick<NewOutcome, 'kind' | 'range' | 'measure'>

/**
 * Returns how a monitor's results are measured: by the score if there is one, otherwise by the rate of affected
 * conversations.
 */
const ofResults = ({ kind, definition }: Monitor): Measured => {
  const boolean = { kind: 'boolean', range: null, measure: null } as const
  if (kind === 'rule') return typeof definition.score === 'string' ? { ...boolean, kind: 'numeric' } : boolean
  if (kind === 'external') return boolean
  if (kind === 'scorecard') return { kind: 'numeric', range: { low: 0, high: 100 }, measure: null }
  // Definitions were validated for their kind when they were stored.
  const { output } = definition as JudgeDefinition
  if (output.type !== 'score') return boolean
  return { kind: 'numeric', range: { low: output.min, high: output.max }, measure: null }
}

const measuredAs = (monitor: Monitor, measure: OutcomeMeasure): Measured => {
  if (measure.kind === 'result') return ofResults(monitor)
  if (measure.kind === 'category') {
    const { category } = measure
    const label = categoryLabels(monitor).get(category) ?? category
    return { kind: 'boolean', range: null, measure: { kind: 'category', category, label } }
  }
  const { field, range = null } = measure
  return { kind: range ? 'numeric' : 'boolean', range, measure: { kind: 'field', field } }
}

/** Returns the measures for a monitor in order. Without any, the monitor's results are measured. */
export const measuresOf = (monitor: Monitor, given: readonly OutcomeMeasure[] = []): Measured[] => {
  const own = given.filter((measure) => measure.metricId.toLowerCase() === monitor.id)
  return own.length === 0 ? [ofResults(monitor)] : own.map((measure) => measuredAs(monitor, measure))
}

type Stored = Pick<NewOutcome, 'measure' | 'range'> & { monitorId: string }

/** Returns an outcome's measure in the format of a launch. */
export const shownMeasure = ({ monitorId, measure, range }: Stored): OutcomeMeasure => {
  if (measure === null) return { metricId: monitorId, kind: 'result' }
  if (measure.kind === 'category') return { metricId: monitorId, kind: 'category', category: measure.category }
  return { metricId: monitorId, kind: 'field', field: measure.field, ...(range && { range }) }
}

/** Returns the label that distinguishes an outcome from others of the same monitor. */
export const measureName = ({ measure }: Pick<Stored, 'measure'>): string | undefined =>
  measure === null ? undefined : measure.kind === 'category' ? measure.label : measure.field
