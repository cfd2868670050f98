import { type Point, probabilityAt } from '../../statistics/isotonic.ts'
import type { Evidence } from './evidence.ts'

export type ScoreRule = { op: 'gte' | 'gt' | 'lte' | 'lt'; value: number }

export type Category = { key: string; label: string; description?: string; affected?: boolean }

export type CategoryOutput = {
  type: 'category'
  categories: Category[]
  /** Whether several categories can apply. */
  multiple?: boolean
  allowOther?: boolean
  allowNotApplicable?: boolean
}

export type Field = {
  key: string
  type: (typeof fieldTypes)[number]
  description?: string
  /** The allowed values of an enum. */
  options?: string[]
  /** If there is no value, the result is unscored. */
  required?: boolean
}

export const fieldTypes = ['string', 'number', 'date', 'boolean', 'enum', 'list'] as const

export type FieldValue = string | number | boolean | string[] | null
export type FieldValues = Record<string, FieldValue>

export type ExtractOutput = {
  type: 'extract'
  fields: Field[]
  /** A CEL condition on the fields. */
  affectedWhen?: string
}

/**
 * How Earshot decides based on a score. The model still receives `affectedWhen`, so that its scores keep their meaning.
 * With a calibration, the threshold is a probability.
 */
export type ScoreDecision = { threshold: number; calibration?: Point[] }

export type ScoreOutput = {
  type: 'score'
  min: number
  max: number
  affectedWhen: ScoreRule
  decision?: ScoreDecision
}

export type JudgeOutput = { type: 'boolean' } | ScoreOutput | CategoryOutput | ExtractOutput

/** A short rule for applying the criteria. */
export type Guideline = {
  text: string
  /** The alignment that distilled it from reviewers' notes. If missing, a person wrote it. */
  alignmentId?: string
}

/** A conversation judged by people. */
export type Example = {
  conversationId: string
  /** The review that determines the correct result. */
  reviewId: string
  correctResult: 'affected' | 'not_affected'
  /** An excerpt of the transcript, without personal numbers and addresses. */
  excerpt: string
  /** The reviewer's comment on the excerpt. */
  note?: string
  /** Whether it is part of every request. Other examples are only part of requests about similar conversations. */
  isDisputed: boolean
}

/** The excerpts of a recording that a judge hears: the sound around the turns that a rule quotes. */
export type SoundExcerpt = { expression: string; beforeMs: number; afterMs: number }

/** The stored definition of a judge. */
export type JudgeDefinition = {
  criteria: string
  output: JudgeOutput
  model?: string
  /** The model's input: by default, the transcript only, or the sound as well. */
  input?: 'transcript' | 'sound'
  /** Without it, a listening judge hears the whole call. */
  soundExcerpt?: SoundExcerpt
  guidelines?: Guideline[]
  examples?: Example[]
}

export type Tokens = { input: number; output: number }

/** The result of one monitor for one conversation. */
export type JudgeResult = {
  status: 'scored' | 'unscored' | 'failed'
  result: 'affected' | 'not_affected' | null
  score: number | null
  /** The model's explanation. */
  reasoning: string | null
  evidence: Evidence[]
  /**
   * The values that the judge returned in addition to its result. Null if it has no categories or fields, or could not
   * decide.
   */
  categories: string[] | null
  fields: FieldValues | null
  /** Fields that are null because no quoted turn supports the model's value. */
  unsupportedFields: string[]
  /** The provider and model, such as `anthropic:claude-sonnet-5`. */
  evaluator: string
  /** The tokens of all paid requests. Null if the endpoint reports none. */
  tokens: Tokens | null
  /** The cost in US dollars. Null if the tokens or the price of the model are unknown. */
  cost: number | null
  /** The model's total response time for all requests, or null if it was not asked. */
  responseMs: number | null
  /** The reason why it is unscored or failed. Written by Earshot, not by the model. */
  reason?: string
  /** Only set for `failed`. Retrying after this time may succeed. If it is not set, retrying won't help. */
  retryAfterSeconds?: number
  /**
   * Whether nothing failed: a request was not sent yet because of the provider's limits, or because the provider
   * changed. It can be retried any number of times.
   */
  isNotSentYet?: boolean
}

/** Returns whether a judge listens to recordings. */
export const listens = ({ input }: Pick<JudgeDefinition, 'input'>): boolean => input === 'sound'

const holds: Record<ScoreRule['op'], (score: number, value: number) => boolean> = {
  gte: (score, value) => score >= value,
  gt: (score, value) => score > value,
  lte: (score, value) => score <= value,
  lt: (score, value) => score < value,
}

const isAffected = ({ op, value }: ScoreRule, score: number): boolean => holds[op](score, value)

/** Returns whether a score means affected. */
export const isAffectedScore = ({ affectedWhen, decision }: ScoreOutput, score: number): boolean => {
  if (!decision) return isAffected(affectedWhen, score)
  const { threshold, calibration } = decision
  if (calibration) return probabilityAt(calibration, score) >= threshold
  return isAffected({ op: affectedWhen.op, value: threshold }, score)
}

/** Returns the score that is closest to being affected. */
export const mostAffected = ({ op }: ScoreRule, scores: number[]): number =>
  op === 'gte' || op === 'gt' ? Math.max(...scores) : Math.min(...scores)
