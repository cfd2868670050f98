import { availableParallelism } from 'node:os'
import { type Note, outcomes } from './outcome.ts'
import type { RuleSource } from './source.ts'
import { openPool, type PoolOptions } from './threads/pool.ts'
import { type Ends, evaluatePart, partsOf } from './threads/work-parts.ts'

/** Runs rules on many conversations at once, in separate threads. */

/** A conversation as the database returns it. The evaluating thread parses the JSON. */
export type RuleSubject = {
  /** JSON text: {conversation: {...}, metadata, signals, sound, metrics}, or {fields} for a rule over fields. */
  facts: string
  transcript: { content: string; format: string | null } | null
  /** The reason why the transcript is unreadable. In that case, every rule is unscored. */
  unreadable: string | null
}

export type RuleBatch = {
  rules: RuleSource[]
  subjects: RuleSubject[]
  /** The organization. Organizations take turns at the threads. */
  owner?: string
  /**
   * The value at `subject * rules.length + rule` is 1 if the rule runs on the subject. If omitted, all rules run on all
   * subjects.
   */
  asked?: Uint8Array
}

export type RuleAnswers = {
  /**
   * The value at `subject * rules.length + rule` is -1 if it was skipped, 0 for not affected, 1 for affected, 2 for
   * unscored, or 3 for failed.
   */
  results: Int8Array
  /** NaN if there is no score. */
  scores: Float64Array
  /** Evidence, categories, fields, and the reasons for unscored or failed results. Most results have no entry. */
  notes: Map<number, Note>
}

export type Rules = {
  /** Rejects if the signal aborts or the rules are closed in the meantime. */
  evaluate: (batch: RuleBatch, signal?: AbortSignal) => Promise<RuleAnswers>
  close: () => Promise<void>
}

/** Waits until the signal aborts, and then rejects. `stop` removes the listener. */
const untilAborted = (signal: AbortSignal | undefined) => {
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal?.reason)
  signal?.addEventListener('abort', abort)
  return { promise, stop: () => signal?.removeEventListener('abort', abort) }
}

export const openRules = ({
  threads = Math.max(1, Math.min(4, availableParallelism() - 1)),
  deadlineMs = 1_000,
  idleMs = 30_000,
  memoryMb = 1_024,
  turnMs = 10,
}: Partial<PoolOptions & { turnMs: number }> = {}): Rules => {
  const pool = openPool({ threads, deadlineMs, idleMs, memoryMb })

  const evaluateAll = async (batch: RuleBatch, signal: AbortSignal | undefined): Promise<RuleAnswers> => {
    const count = batch.rules.length * batch.subjects.length
    const answers: RuleAnswers = {
      results: new Int8Array(count).fill(outcomes.notAsked),
      scores: new Float64Array(count).fill(Number.NaN),
      notes: new Map(),
    }
    const ends: Ends = batch.rules.map(() => 0)
    await Promise.all(
      partsOf(batch, threads).map(async (part) => {
        const { results, scores, notes } = await evaluatePart(part, {
          pool,
          deadlineMs,
          turnMs,
          ends,
          signal,
          owner: batch.owner ?? '',
        })
        const first = part.from * batch.rules.length
        answers.results.set(results, first)
        answers.scores.set(scores, first)
        for (const [at, note] of notes) answers.notes.set(first + at, note)
      }),
    )
    return answers
  }

  return {
    evaluate: async (batch, signal) => {
      signal?.throwIfAborted()
      const aborted = untilAborted(signal)
      try {
        return await Promise.race([evaluateAll(batch, signal), aborted.promise])
      } finally {
        aborted.stop()
      }
    },
    close: pool.close,
  }
}
