import Type, { type Static } from 'typebox'
import { CategoryKey, FieldKey, notApplicable, other } from '../filters/category.ts'
import { Filter } from '../filters/filter.ts'
import type { Issue } from '../platform/errors.ts'
import { Choice, Closed, Id } from '../platform/http/schemas.ts'
import { toIssues } from '../platform/http/validation.ts'
import { strict } from '../platform/json-schema.ts'
import { type Example, fieldTypes } from './judges/definition.ts'
import { checkFieldCondition, checkRule } from './rules/check.ts'
import type { Scorecard } from './scorecards/algebra.ts'
import {
  completeScorecard,
  type GivenScorecard,
  ScorecardDefinition,
  scorecardIssues,
} from './scorecards/definition.ts'

/** Describes the definition of each kind of monitor with a closed schema. */

export const monitorKinds = ['rule', 'judge', 'external', 'scorecard'] as const
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
  categories: Type.Optional({
    ...Expression,
    description: 'A CEL map of categories to conditions. Categories with a true condition are stored with the result.',
    examples: ["{'silent': signals.longestSilenceMs > 5000, 'interrupted': signals.interruptions.byAgent > 3}"],
  }),
  fields: Type.Optional({
    ...Expression,
    description: 'A CEL map of fields to their values, which are stored with the result.',
    examples: ["{'plan': metadata.plan, 'seconds': conversation.durationSeconds}"],
  }),
})

const BooleanOutput = Closed({ type: Choice(['boolean']) })

const ScoreOutput = Closed({
  type: Choice(['score']),
  min: Type.Number(),
  max: Type.Number(),
  affectedWhen: Closed({ op: Choice(['gte', 'gt', 'lte', 'lt']), value: Type.Number() }),
  decision: Type.Optional(
    Closed({
      threshold: Type.Number(),
      calibration: Type.Optional(
        Type.Array(
          Type.Unsafe<[number, number]>({ type: 'array', items: { type: 'number' }, minItems: 2, maxItems: 2 }),
          { minItems: 1, maxItems: 500 },
        ),
      ),
    }),
  ),
})

const Label = Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' })
const Hint = Type.String({ minLength: 1, maxLength: 500, pattern: '\\S' })

const CategoryOutput = Closed({
  type: Choice(['category']),
  categories: Type.Array(
    Closed({
      key: CategoryKey,
      label: Label,
      description: Type.Optional(Hint),
      affected: Type.Optional(Type.Boolean()),
    }),
    { minItems: 1, maxItems: 50 },
  ),
  multiple: Type.Optional(Type.Boolean()),
  allowOther: Type.Optional(Type.Boolean()),
  allowNotApplicable: Type.Optional(Type.Boolean()),
})

const ExtractOutput = Closed({
  type: Choice(['extract']),
  fields: Type.Array(
    Closed({
      key: FieldKey,
      type: Choice(fieldTypes),
      description: Type.Optional(Hint),
      options: Type.Optional(Type.Array(Label, { minItems: 1, maxItems: 50, uniqueItems: true })),
      required: Type.Optional(Type.Boolean()),
    }),
    { minItems: 1, maxItems: 30 },
  ),
  affectedWhen: Type.Optional(Type.String({ minLength: 1, maxLength: 2_000, pattern: '\\S' })),
})

/** Selects a schema depending on a property of the value. */
const when = (name: string, value: string, schema: object) => ({
  if: { properties: { [name]: { const: value } }, required: [name] },
  // biome-ignore lint/suspicious/noThenProperty: it is a keyword of JSON Schema.
  then: schema,
})

const outputs = { boolean: BooleanOutput, score: ScoreOutput, category: CategoryOutput, extract: ExtractOutput }
const outputTypes = ['boolean', 'score', 'category', 'extract'] as const

type Output = Static<(typeof outputs)[keyof typeof outputs]>

/** The limits for learned content, which is part of every request. */
const mostGuidelines = 20
const mostExamples = 20

const Guideline = Closed({
  text: Type.String({ minLength: 1, maxLength: 500, pattern: '\\S' }),
  alignmentId: Type.Optional(Id),
})

/** A reference to a stored example. Its other properties come from the database, so those of a request are ignored. */
const ExampleReference = Type.Unsafe<Partial<Example> & Pick<Example, 'conversationId' | 'reviewId'>>(
  Type.Object({ conversationId: Id, reviewId: Id }),
)

const ExcerptMs = Type.Integer({ minimum: 0, maximum: 60_000 })

const JudgeDefinition = Closed({
  criteria: Type.String({
    minLength: 1,
    maxLength: 20_000,
    pattern: '\\S',
    examples: ['The agent promises a refund without checking the order first.'],
  }),
  output: Type.Unsafe<Output>({
    type: 'object',
    properties: { type: Choice(outputTypes) },
    required: ['type'],
    allOf: outputTypes.map((type) => when('type', type, outputs[type])),
  }),
  model: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: '`providerId/model`, or a model of the operator’s endpoint. Default: the default provider’s model.',
    }),
  ),
  input: Type.Optional(
    Choice(['transcript', 'sound'], {
      description:
        '`sound`: the model also listens to the recording. Requires an OpenAI-compatible or Google provider and a ' +
        'model that accepts audio. Default: `transcript`.',
    }),
  ),
  soundExcerpt: Type.Optional(
    Closed(
      {
        expression: {
          ...Expression,
          description:
            'A CEL expression, as in a rule. The model listens to the turns that the expression matches as evidence.',
          examples: ["turns.by('customer').mentions('refund')"],
        },
        beforeMs: ExcerptMs,
        afterMs: ExcerptMs,
      },
      { description: 'Limits sound to excerpts. By default, the model listens to the whole call, up to 7 minutes.' },
    ),
  ),
  guidelines: Type.Optional(Type.Array(Guideline, { maxItems: mostGuidelines })),
  examples: Type.Optional(Type.Array(ExampleReference, { maxItems: mostExamples })),
})

const ExternalDefinition = Closed({})

const schemas: Record<MonitorKind, object> = {
  rule: RuleDefinition,
  judge: JudgeDefinition,
  external: ExternalDefinition,
  scorecard: ScorecardDefinition,
}

export type MonitorDefinition =
  | Static<typeof RuleDefinition>
  | Static<typeof JudgeDefinition>
  | GivenScorecard
  | Record<string, never>

/** The definition in requests and responses, whatever the kind. */
export const AnyDefinition = Type.Unsafe<MonitorDefinition>({
  type: 'object',
  additionalProperties: true,
  description:
    'Depends on the kind. rule: `{expression, score?, categories?, fields?}`. judge: `{criteria, output: {type: ' +
    'boolean} | {type: score, min, max, affectedWhen: {op: gte|gt|lte|lt, value}, decision?: {threshold, ' +
    'calibration?: [[score, probability]]}} | {type: category, categories: [{key, label, description?, affected?}], ' +
    'multiple?, allowOther?, allowNotApplicable?} | {type: extract, fields: [{key, type: ' +
    'string|number|date|boolean|enum|list, description?, options?, required?}], affectedWhen?}, model?, input?: ' +
    'transcript|sound, soundExcerpt?: {expression, beforeMs, afterMs}, ' +
    'guidelines?: [{text, alignmentId?}], examples?: [{conversationId, reviewId, …}]}`. Alignments add examples. ' +
    'external: `{}`. scorecard: `{sections: [{name, items: [{monitorId, version?, points, notApplicable?: ' +
    'exclude|full|zero, autoFail?}]}], bands?: [{name, from}], affectedBelow}`.',
  examples: [{}],
})

const { agentIds, agentVersionIds, agentGroupIds, companyIds, channels, metadata, similarTo } = Filter.properties

export const Scope = Closed(
  { agentIds, agentVersionIds, agentGroupIds, companyIds, channels, metadata, similarTo },
  {
    title: 'MonitorScope',
    description: 'The conversations that the monitor applies to: fields of a Filter. `{}` selects all.',
    examples: [{ channels: ['call'] }],
  },
)

/** Adds a rule to a body's schema: the definition must match its kind. */
export const definitionByKind = monitorKinds.map((kind) =>
  when('kind', kind, { properties: { definition: schemas[kind] } }),
)

const validators = Object.fromEntries(
  monitorKinds.map((kind) => [kind, strict.compile({ properties: { definition: schemas[kind] } })]),
)

const path = (property: string) => `definition.output.${property}`

const repeatedKeys = (list: readonly { key: string }[], name: string): Issue[] => {
  const keys = list.map(({ key }) => key)
  return keys.flatMap((key, at) =>
    keys.indexOf(key) < at ? [{ path: path(`${name}[${at}].key`), message: 'is used by an earlier one' }] : [],
  )
}

const reservedBy: Record<string, string> = { [other]: 'allowOther', [notApplicable]: 'allowNotApplicable' }

const categoryIssues = ({ categories }: Static<typeof CategoryOutput>): Issue[] => [
  ...repeatedKeys(categories, 'categories'),
  ...categories.flatMap(({ key }, at) => {
    const instead = reservedBy[key]
    return instead === undefined
      ? []
      : [{ path: path(`categories[${at}].key`), message: `is reserved; set ${instead} instead` }]
  }),
]

const extractIssues = ({ fields, affectedWhen }: Static<typeof ExtractOutput>): Issue[] => {
  const issues = repeatedKeys(fields, 'fields')
  fields.forEach(({ type, options }, at) => {
    if (type === 'enum' && !options)
      issues.push({ path: path(`fields[${at}].options`), message: 'is required for enum' })
    if (type !== 'enum' && options) issues.push({ path: path(`fields[${at}].options`), message: 'is only for enum' })
  })
  const keys = fields.map(({ key }) => key)
  const fault = affectedWhen === undefined ? undefined : checkFieldCondition(affectedWhen, keys)
  if (fault !== undefined) issues.push({ path: path('affectedWhen'), message: fault })
  return issues
}

const outputIssues = (output: Output): Issue[] => {
  if (output.type === 'category') return categoryIssues(output)
  if (output.type === 'extract') return extractIssues(output)
  if (output.type === 'boolean') return []
  const { min, max, affectedWhen, decision } = output
  if (max <= min) return [{ path: path('max'), message: 'must be greater than min' }]
  const isWithin = (value: number) => value >= min && value <= max
  const beyond = 'must be between min and max'
  if (!isWithin(affectedWhen.value)) return [{ path: path('affectedWhen.value'), message: beyond }]
  return decision ? decisionIssues(decision, isWithin) : []
}

type Decision = NonNullable<Static<typeof ScoreOutput>['decision']>

/** Checks a decision. A threshold is a score, or a probability if there is a calibration. Its points ascend. */
const decisionIssues = ({ threshold, calibration }: Decision, isWithin: (score: number) => boolean): Issue[] => {
  const at = path('decision.threshold')
  if (!calibration) return isWithin(threshold) ? [] : [{ path: at, message: 'must be between min and max' }]
  const isShare = (value: number) => value >= 0 && value <= 1
  if (!isShare(threshold)) return [{ path: at, message: 'must be from 0 to 1 if there is a calibration' }]
  return calibration.flatMap(([score, probability], index) => {
    const before = calibration[index - 1]
    const isSound = isWithin(score) && isShare(probability) && (before === undefined || before[0] < score)
    const message = 'must be a score above the previous one, and a probability from 0 to 1'
    return isSound ? [] : [{ path: path(`decision.calibration[${index}]`), message }]
  })
}

const soundIssues = ({ input, soundExcerpt }: Partial<Static<typeof JudgeDefinition>>): Issue[] => {
  if (!soundExcerpt) return []
  const at = 'definition.soundExcerpt'
  if (input !== 'sound') return [{ path: at, message: 'requires "input": "sound"' }]
  const issues = checkRule({ expression: soundExcerpt.expression })
  return issues.map(({ message }) => ({ path: `${at}.expression`, message }))
}

/** Returns all errors in a definition: first according to its schema, then according to its content. */
export const checkDefinition = (kind: MonitorKind, definition: unknown): Issue[] => {
  const validate = validators[kind]
  if (validate && !validate({ definition })) return toIssues(validate.errors ?? [])
  // The schema has just validated which kind it is.
  if (kind === 'scorecard') return scorecardIssues(definition as GivenScorecard)
  const { output, expression, score, categories, fields, ...heard } = definition as Partial<
    Static<typeof JudgeDefinition> & Static<typeof RuleDefinition>
  >
  if (expression !== undefined) return checkRule({ expression, score, categories, fields })
  return output ? [...outputIssues(output), ...soundIssues(heard)] : []
}

/** Returns the stored form of a valid definition. */
export const completeDefinition = (kind: MonitorKind, definition: MonitorDefinition): MonitorDefinition =>
  // The definition was validated for its kind.
  kind === 'scorecard' ? completeScorecard(definition as GivenScorecard) : definition

/** Returns the definition of a scorecard, or undefined for other monitors. */
export const scorecardOf = ({ kind, definition }: { kind: string; definition: object }): Scorecard | undefined =>
  // The definition was completed when it was stored.
  kind === 'scorecard' ? (definition as Scorecard) : undefined
