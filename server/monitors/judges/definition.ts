import type { Evidence } from './evidence.ts'

export type ScoreRule = { op: 'gte' | 'gt' | 'lte' | 'lt'; value: number }

export type JudgeOutput = { type: 'boolean' } | { type: 'score'; min: number; max: number; affectedWhen: ScoreRule }

/** What a version of a judge says, as it is stored. */
export type JudgeDefinition = { criteria: string; output: JudgeOutput; model?: string }

export type Tokens = { input: number; output: number }

/** What the judging of one conversation by one monitor came to. */
export type JudgeResult = {
  status: 'scored' | 'unscored' | 'failed'
  result: 'affected' | 'not_affected' | null
  score: number | null
  /** In the words of the model. */
  reasoning: string | null
  evidence: Evidence[]
  /** Such as `anthropic:claude-sonnet-5`. */
  evaluator: string
  /** Of all paid requests; null when the endpoint tells none. */
  tokens: Tokens | null
  /** In US dollars; null when the tokens or the price of the model are not known. */
  cost: number | null
  /** In our words: why it is unscored or failed. */
  reason?: string
  /** With `failed`: nothing speaks against asking again after so long. Without it, asking again changes nothing. */
  retryAfterSeconds?: number
}

const holds: Record<ScoreRule['op'], (score: number, value: number) => boolean> = {
  gte: (score, value) => score >= value,
  gt: (score, value) => score > value,
  lte: (score, value) => score <= value,
  lt: (score, value) => score < value,
}

export const isAffected = ({ op, value }: ScoreRule, score: number): boolean => holds[op](score, value)

/** Of several scores the one that speaks most for affected. */
export const mostAffected = ({ op }: ScoreRule, scores: number[]): number =>
  op === 'gte' || op === 'gt' ? Math.max(...scores) : Math.min(...scores)
