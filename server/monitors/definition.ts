import Type, { type Static } from 'typebox'
import { Filter } from '../filters/filter.ts'
import type { Issue } from '../platform/errors.ts'
import { Choice, Closed } from '../platform/http/schemas.ts'
import { toIssues } from '../platform/http/validation.ts'
import { strict } from '../platform/json-schema.ts'
import { checkRule } from './rules/check.ts'

/** Defines the definition of each kind of monitor as closed schemas. */

export const monitorKinds = ['rule', 'judge', 'external'] as const
export type MonitorKind = (typeof monitorKinds)[number]

const Expression = Type.String({ minLength: 1, maxLength: 10_000, pattern: '\\S' })

const RuleDefinition = Closed({
  expression: {
    ...Expression,
    description: 'A CEL expression; true means affected.',
    examples: ['signals.interruptions.byAgent > 3'],
  },
  score: Type.Optional({
    ...Expression,
    description: 'A CEL expression that returns a number.',
    examples: ['signals.overlapMs'],
  }),
})

const BooleanOutput = Closed({ type: Choice(['boolean']) })

const ScoreOutput = Closed({
  type: Choice(['score']),
  min: Type.Number(),
  max: Type.Number(),
  affectedWhen: Closed({ op: Choice(['gte', 'gt', 'lte', 'lt']), value: Type.Number() }),
})

/** Selects a schema depending on a property of the value. */
const when = (name: string, value: string, schema: object) => ({
  if: { properties: { [name]: { const: value } }, required: [name] },
  // biome-ignore lint/suspicious/noThenProperty: it is a keyword of JSON Schema.
  then: schema,
})

type Output = Static<typeof BooleanOutput> | Static<typeof ScoreOutput>

const JudgeDefinition = Closed({
  criteria: Type.String({
    minLength: 1,
    maxLength: 20_000,
    pattern: '\\S',
    examples: ['The agent promises a refund without checking the order first.'],
  }),
  output: Type.Unsafe<Output>({
    type: 'object',
    properties: { type: Choice(['boolean', 'score']) },
    required: ['type'],
    allOf: [when('type', 'boolean', BooleanOutput), when('type', 'score', ScoreOutput)],
  }),
  model: Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: 'Default: the operator’s model.' })),
})

const ExternalDefinition = Closed({})

const schemas: Record<MonitorKind, object> = {
  rule: RuleDefinition,
  judge: JudgeDefinition,
  external: ExternalDefinition,
}

export type MonitorDefinition = Static<typeof RuleDefinition> | Static<typeof JudgeDefinition> | Record<string, never>

/** The definition in requests and responses, whatever the kind. */
export const AnyDefinition = Type.Unsafe<MonitorDefinition>({
  type: 'object',
  additionalProperties: true,
  description:
    'By kind. rule: `{expression, score?}`. judge: `{criteria, output: {type: boolean} | {type: score, min, max, ' +
    'affectedWhen: {op: gte|gt|lte|lt, value}}, model?}`. external: `{}`.',
  examples: [{}],
})

const { agentIds, agentVersionIds, agentGroupIds, companyIds, channels, metadata } = Filter.properties

export const Scope = Closed(
  { agentIds, agentVersionIds, agentGroupIds, companyIds, channels, metadata },
  {
    title: 'MonitorScope',
    description: 'The conversations that the monitor applies to: fields of a Filter. `{}` takes every one.',
    examples: [{ channels: ['call'] }],
  },
)

/** Adds to the schema of a body that the definition must be of its kind. */
export const definitionByKind = monitorKinds.map((kind) =>
  when('kind', kind, { properties: { definition: schemas[kind] } }),
)

const validators = Object.fromEntries(
  monitorKinds.map((kind) => [kind, strict.compile({ properties: { definition: schemas[kind] } })]),
)

const outputIssues = (output: Output): Issue[] => {
  if (output.type !== 'score') return []
  const { min, max, affectedWhen } = output
  if (max <= min) return [{ path: 'definition.output.max', message: 'must be greater than min' }]
  const isWithin = affectedWhen.value >= min && affectedWhen.value <= max
  return isWithin ? [] : [{ path: 'definition.output.affectedWhen.value', message: 'must be between min and max' }]
}

/** Returns everything that is wrong with a definition: first according to its schema, then according to its content. */
export const checkDefinition = (kind: MonitorKind, definition: unknown): Issue[] => {
  const validate = validators[kind]
  if (validate && !validate({ definition })) return toIssues(validate.errors ?? [])
  // The schema has just validated which of the three kinds it is.
  const { output, expression, score } = definition as Partial<
    Static<typeof JudgeDefinition> & Static<typeof RuleDefinition>
  >
  if (expression !== undefined) return checkRule({ expression, score })
  return output ? outputIssues(output) : []
}
