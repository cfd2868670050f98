import type { Evidence } from './evidence.ts'

export type ScoreRule = { op: 'gte' | 'gt' | 'lte' | 'lt'; value: number }

export type JudgeOutput = { type: 'boolean' } | { type: 'score'; min: number; max: number; affectedWhen: ScoreRule }

/** The stored definition of a judge. */
export type JudgeDefinition = { criteria: string; output: JudgeOutput; model?: string }

export type Tokens = { input: number; output: number }

/** The result of one monitor for one conversation. */
export type JudgeResult = {
  status: 'scored' | 'unscored' | 'failed'
  result: 'affected' | 'not_affected' | null
  score: number | null
  /** The model's explanation. */
  reasoning: string | null
  evidence: Evidence[]
  /** The provider and model, such as `anthropic:claude-sonnet-5`. */
  evaluator: string
  /** The tokens of all paid requests. Null if the endpoint reports none. */
  tokens: Tokens | null
  /** The cost in US dollars. Null if the tokens or the price of the model are unknown. */
  cost: number | null
  /** The reason why it is unscored or failed. Earshot writes it, not the model. */
  reason?: string
  /** This is only set for `failed`. Retrying after this time may succeed. If it is not set, retrying won't help. */
  retryAfterSeconds?: number
}

const holds: Record<ScoreRule['op'], (score: number, value: number) => boolean> = {
  gte: (score, value) => score >= value,
  gt: (score, value) => score > value,
  lte: (score, value) => score <= value,
  lt: (score, value) => score < value,
}

export const isAffected = ({ op, value }: ScoreRule, score: number): boolean => holds[op](score, value)

/** Returns the score that is closest to affected. */
export const mostAffected = ({ op }: ScoreRule, scores: number[]): number =>
  op === 'gte' || op === 'gt' ? Math.max(...scores) : Math.min(...scores)
