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
  /** In the words of the model. */
  reasoning: string | null
  evidence: Evidence[]
  /** Such as `anthropic:claude-sonnet-5`. */
  evaluator: string
  /** For all paid requests; null if the endpoint reports none. */
  tokens: Tokens | null
  /** In US dollars; null if the tokens or the price of the model are unknown. */
  cost: number | null
  /** In our words: why it is unscored or failed. */
  reason?: string
  /** Only for `failed`: a retry after this time may succeed. If unset, a retry won't help. */
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
