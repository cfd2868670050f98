import { toIssues } from '../../platform/http/validation.ts'
import { compileStrict } from '../../platform/json-schema.ts'
import type { Turn } from '../../transcripts/turn.ts'
import { judgeCategories } from './categories.ts'
import {
  type CategoryOutput,
  type ExtractOutput,
  type FieldValue,
  type FieldValues,
  isAffectedScore,
  type JudgeDefinition,
  type JudgeOutput,
} from './definition.ts'
import { type Evidence, validEvidence } from './evidence.ts'
import { readFields } from './fields.ts'
import { categoryKeys } from './keys.ts'
import { storable } from './text.ts'

export const longestReasoning = 1_500
const longestReason = 300

/** The values that a judge returns in addition to its result. */
export type Outputs = { categories?: string[]; fields?: FieldValues; unsupportedFields?: string[] }

/** The result of one monitor for one window of a transcript. */
export type JudgeVerdict = Outputs &
  (
    | {
        status: 'scored'
        result: 'affected' | 'not_affected'
        score: number | null
        reasoning: string
        evidence: Evidence[]
      }
    | { status: 'unscored'; reason: string; reasoning: string | null; evidence: Evidence[] }
  )

type JudgeAnswer = {
  result: 'affected' | 'not_affected' | 'unscored'
  score: number | null
  reasoning: string
  evidence: Evidence[]
}

const object = (properties: Record<string, object>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
})

const optional = (schema: object, description?: string) => ({
  anyOf: [schema, { type: 'null' }],
  ...(description !== undefined && { description }),
})

const fieldSchema = ({ type, options }: { type: string; options?: string[] | undefined }): object => {
  if (type === 'enum') return { type: 'string', enum: options }
  if (type === 'list') return { type: 'array', items: { type: 'string' } }
  return { type: type === 'date' ? 'string' : type }
}

/** Returns the properties that are specific to this type of output. */
const ownSchema = (output: JudgeOutput): Record<string, object> => {
  if (output.type === 'category') {
    return { categories: { type: 'array', items: { type: 'string', enum: categoryKeys(output) } } }
  }
  if (output.type !== 'extract') return {}
  return { fields: object(Object.fromEntries(output.fields.map((field) => [field.key, optional(fieldSchema(field))]))) }
}

/**
 * Returns the schema of the model's answer. Only uses JSON Schema keywords that all endpoints support. Lengths and
 * ranges are in the prompt and checked afterwards. The result comes last, so that the model writes its reasoning first.
 */
const answerSchema = (output: JudgeOutput) =>
  object({
    evidence: {
      type: 'array',
      items: object({
        ...(output.type === 'extract' && {
          field: { type: 'string', enum: output.fields.map(({ key }) => key), description: 'What the quote says.' },
        }),
        turn: { type: 'integer', description: 'The number of the turn.' },
        quote: { type: 'string', description: 'Copied from that turn word by word.' },
      }),
    },
    reasoning: { type: 'string', description: `At most ${longestReasoning} characters.` },
    ...ownSchema(output),
    score:
      output.type === 'score'
        ? optional({ type: 'number' }, `From ${output.min} to ${output.max}; null when unscored.`)
        : { type: 'null' },
    result: { type: 'string', enum: ['affected', 'not_affected', 'unscored'] },
  })

/** Returns the name for a monitor in a shared request. */
export const nameInRequest = (at: number): string => `monitor_${at + 1}`

/**
 * Returns the schema of the response. The answer of a single monitor is the whole response. Several monitors have one
 * property each.
 */
export const requestSchema = (definitions: readonly JudgeDefinition[]): object => {
  const [first, ...others] = definitions.map(({ output }) => answerSchema(output))
  if (first && others.length === 0) return first
  return object(Object.fromEntries(definitions.map(({ output }, at) => [nameInRequest(at), answerSchema(output)])))
}

/** Checks the properties with names and values that don't depend on the monitor. */
const compileAnswer = <T>(own: Record<string, object>, ofEvidence: Record<string, object> = {}) =>
  compileStrict<JudgeAnswer & T>(
    object({
      evidence: {
        type: 'array',
        items: object({ ...ofEvidence, turn: { type: 'integer' }, quote: { type: 'string' } }),
      },
      reasoning: { type: 'string' },
      ...own,
      score: { type: ['number', 'null'] },
      result: { type: 'string', enum: ['affected', 'not_affected', 'unscored'] },
    }),
  )

const isAnswer = compileAnswer<object>({})
const isCategoryAnswer = compileAnswer<{ categories: string[] }>({
  categories: { type: 'array', items: { type: 'string' } },
})
const isFieldAnswer = compileAnswer<{ fields: Record<string, FieldValue> }>(
  {
    fields: {
      type: 'object',
      additionalProperties: { type: ['string', 'number', 'boolean', 'array', 'null'], items: { type: 'string' } },
    },
  },
  { field: { type: 'string' } },
)

/** Removes the Markdown code block that some endpoints put around JSON. */
const unfenced = (text: string): string => /^\s*```(?:json)?\s*\n(.*)\n\s*```\s*$/s.exec(text)?.[1] ?? text

/** Returns the unchecked answer of each monitor, or undefined if the text is not JSON. */
const separate = (text: string, count: number): unknown[] | undefined => {
  try {
    const value: unknown = JSON.parse(unfenced(text))
    if (count === 1) return [value]
    // If the value is not an object, there are no answers.
    const named = Object(value) as Record<string, unknown>
    return Array.from({ length: count }, (_, at) => named[nameInRequest(at)])
  } catch {
    return undefined
  }
}

export type Reading = { verdict: JudgeVerdict } | { fault: string }

const fault = (text: string): Reading => ({
  fault: `the model's response is invalid: ${storable(text, longestReason)}`,
})

const undecided = 'the model could not decide from the transcript'

/** Returns the reason why the result affected does not count. */
const unquoted = (evidence: Evidence[]): string =>
  `the model answered affected but ${
    evidence.length === 0 ? 'did not quote the transcript' : 'did not quote the turn that it refers to'
  }`

/**
 * Determines the result. If there is a score, its threshold decides, not the model, and nothing is affected without
 * evidence.
 */
const judge = (output: JudgeOutput, answer: JudgeAnswer, turns: readonly Turn[]): Reading => {
  const reasoning = storable(answer.reasoning, longestReasoning)
  const evidence = validEvidence(answer.evidence, turns)
  const unscored = (reason: string): Reading => ({ verdict: { status: 'unscored', reason, reasoning, evidence } })
  if (answer.result === 'unscored') return unscored(undecided)
  let { result } = answer
  if (output.type === 'score') {
    const { score } = answer
    if (score === null) return fault('score must be a number unless the result is unscored')
    if (score < output.min || score > output.max) return fault(`score must be from ${output.min} to ${output.max}`)
    result = isAffectedScore(output, score) ? 'affected' : 'not_affected'
  }
  if (result === 'affected' && evidence.length === 0) return unscored(unquoted(answer.evidence))
  return {
    verdict: { status: 'scored', result, score: output.type === 'score' ? answer.score : null, reasoning, evidence },
  }
}

/** Determines the result from the categories instead of the model's own result. */
const judgeByCategories = (
  output: CategoryOutput,
  answer: JudgeAnswer & { categories: string[] },
  turns: readonly Turn[],
): Reading => {
  const reasoning = storable(answer.reasoning, longestReasoning)
  const evidence = validEvidence(answer.evidence, turns)
  const unscored = (reason: string): Reading => ({ verdict: { status: 'unscored', reason, reasoning, evidence } })
  if (answer.result === 'unscored') return unscored(undecided)
  const judged = judgeCategories(output, answer.categories)
  if ('fault' in judged) return fault(judged.fault)
  if (judged.status === 'unscored') return { verdict: { ...judged, reasoning, evidence } }
  if (judged.result === 'affected' && evidence.length === 0) return unscored(unquoted(answer.evidence))
  return { verdict: { ...judged, score: null, reasoning, evidence } }
}

/** Reads the fields. Later, a condition on the fields of all windows decides whether the conversation is affected. */
const extract = (
  output: ExtractOutput,
  answer: JudgeAnswer & { fields: Record<string, FieldValue> },
  turns: readonly Turn[],
): Reading => {
  const reasoning = storable(answer.reasoning, longestReasoning)
  const read = readFields(output, answer, turns)
  if ('fault' in read) return fault(read.fault)
  if (answer.result === 'unscored') {
    return { verdict: { status: 'unscored', reason: undecided, reasoning, evidence: read.evidence } }
  }
  return { verdict: { status: 'scored', result: 'not_affected', score: null, reasoning, ...read } }
}

/** Reads one answer, according to the monitor's output. Returns undefined if it does not have the format. */
const read = (output: JudgeOutput, answer: unknown, turns: readonly Turn[]): Reading | undefined => {
  if (output.type === 'category') return isCategoryAnswer(answer) ? judgeByCategories(output, answer, turns) : undefined
  if (output.type === 'extract') return isFieldAnswer(answer) ? extract(output, answer, turns) : undefined
  return isAnswer(answer) ? judge(output, answer, turns) : undefined
}

const errorsOf = ({ type }: JudgeOutput) =>
  (type === 'category' ? isCategoryAnswer : type === 'extract' ? isFieldAnswer : isAnswer).errors ?? []

/** Reads the model's response. Returns each monitor's result, or the error in its answer. */
export const readAnswers = (
  text: string,
  definitions: readonly JudgeDefinition[],
  turns: readonly Turn[],
): Reading[] => {
  const answers = separate(text, definitions.length)
  return definitions.map(({ output }, at) => {
    if (!answers) return fault('it is not JSON')
    const answer = answers[at]
    if (answer === undefined) return fault(`${nameInRequest(at)} is missing`)
    const reading = read(output, answer, turns)
    if (reading) return reading
    const [first] = toIssues(errorsOf(output))
    return fault(`${first?.path ?? ''} ${first?.message ?? ''}`.trim())
  })
}
