import { toIssues } from '../../platform/http/validation.ts'
import { compileStrict } from '../../platform/json-schema.ts'
import type { Turn } from '../../transcripts/turn.ts'
import { isAffected, type JudgeDefinition, type JudgeOutput } from './definition.ts'
import { type Evidence, validEvidence } from './evidence.ts'
import { storable } from './text.ts'

export const longestReasoning = 1_500
const longestReason = 300

/** The result of one monitor for one window of a transcript. */
export type JudgeVerdict =
  | {
      status: 'scored'
      result: 'affected' | 'not_affected'
      score: number | null
      reasoning: string
      evidence: Evidence[]
    }
  | { status: 'unscored'; reason: string; reasoning: string | null; evidence: Evidence[] }

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

/**
 * Returns the schema of the model's answer. Only uses the parts of JSON Schema that all endpoints know. Lengths and
 * ranges are in the prompt and checked afterwards. The result comes last, so that the model writes its reasoning first.
 */
const answerSchema = (output: JudgeOutput) =>
  object({
    evidence: {
      type: 'array',
      items: object({
        turn: { type: 'integer', description: 'The number of the turn.' },
        quote: { type: 'string', description: 'Copied from that turn word by word.' },
      }),
    },
    reasoning: { type: 'string', description: `At most ${longestReasoning} characters.` },
    score:
      output.type === 'score'
        ? {
            anyOf: [{ type: 'number' }, { type: 'null' }],
            description: `From ${output.min} to ${output.max}; null when unscored.`,
          }
        : { type: 'null' },
    result: { type: 'string', enum: ['affected', 'not_affected', 'unscored'] },
  })

/** Returns the name of a monitor in a shared request. */
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

const isAnswer = compileStrict<JudgeAnswer>(
  object({
    evidence: { type: 'array', items: object({ turn: { type: 'integer' }, quote: { type: 'string' } }) },
    reasoning: { type: 'string' },
    score: { type: ['number', 'null'] },
    result: { type: 'string', enum: ['affected', 'not_affected', 'unscored'] },
  }),
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

type Reading = { verdict: JudgeVerdict } | { fault: string }

const fault = (text: string): Reading => ({
  fault: `the model's response is invalid: ${storable(text, longestReason)}`,
})

/** Decides the result. The threshold of the score decides, not the model, and nothing is affected without evidence. */
const judge = ({ output }: JudgeDefinition, answer: JudgeAnswer, turns: readonly Turn[]): Reading => {
  const reasoning = storable(answer.reasoning, longestReasoning)
  const evidence = validEvidence(answer.evidence, turns)
  const unscored = (reason: string): Reading => ({ verdict: { status: 'unscored', reason, reasoning, evidence } })
  if (answer.result === 'unscored') return unscored('the model could not decide from the transcript')
  let { result } = answer
  if (output.type === 'score') {
    const { score } = answer
    if (score === null) return fault('score must be a number unless the result is unscored')
    if (score < output.min || score > output.max) return fault(`score must be from ${output.min} to ${output.max}`)
    result = isAffected(output.affectedWhen, score) ? 'affected' : 'not_affected'
  }
  if (result === 'affected' && evidence.length === 0) {
    const quotes =
      answer.evidence.length === 0 ? 'did not quote the transcript' : 'did not quote the turn that it refers to'
    return unscored(`the model answered affected but ${quotes}`)
  }
  return {
    verdict: { status: 'scored', result, score: output.type === 'score' ? answer.score : null, reasoning, evidence },
  }
}

/** Reads the model's response. Returns the result of each monitor, or what is wrong with its answer. */
export const readAnswers = (
  text: string,
  definitions: readonly JudgeDefinition[],
  turns: readonly Turn[],
): Reading[] => {
  const answers = separate(text, definitions.length)
  return definitions.map((definition, at) => {
    if (!answers) return fault('it is not JSON')
    const answer = answers[at]
    if (answer === undefined) return fault(`${nameInRequest(at)} is missing`)
    if (isAnswer(answer)) return judge(definition, answer, turns)
    const [first] = toIssues(isAnswer.errors ?? [])
    return fault(`${first?.path ?? ''} ${first?.message ?? ''}`.trim())
  })
}
