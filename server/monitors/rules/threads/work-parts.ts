import { type Note, outcomes } from '../outcome.ts'
import type { RuleBatch } from '../rules.ts'
import { readsVariable } from '../source.ts'
import type { Pool } from './pool.ts'
import type { End } from './start-thread.ts'
import type { RuleWork, WorkAnswers } from './thread.ts'

/**
 * Evaluates a batch in parts, each on one thread. If a thread is terminated, another one continues without the rule
 * that caused it.
 */

/** The number of subjects in a part. A part is small, because it is repeated if its thread is terminated. */
const mostSubjects = 100
/**
 * A rule that has terminated this many threads is skipped for the rest of the batch, because each termination costs a
 * timeout.
 */
const mostEnds = 3

export type WorkPart = RuleWork & {
  /** The position of the part's first subject in the batch. */
  from: number
}

export const partsOf = ({ rules, subjects, asked }: RuleBatch, threads: number): WorkPart[] => {
  const size = Math.min(mostSubjects, Math.ceil(subjects.length / threads))
  const parts: WorkPart[] = []
  for (let from = 0; from < subjects.length; from += size) {
    const some = subjects.slice(from, from + size)
    const first = from * rules.length
    const count = some.length * rules.length
    parts.push({
      rules,
      subjects: some,
      asked: asked ? asked.slice(first, first + count) : new Uint8Array(count).fill(1),
      from,
    })
  }
  return parts.filter((part) => part.asked.includes(1))
}

/** The positions to skip, with the reasons. */
type Failures = Map<number, string>

/** The number of times per turn that the thread checks whether others are waiting. */
const looksInTurn = 5

/** The number of threads that each rule in a batch has terminated. */
export type Ends = number[]

export type PartOptions = {
  pool: Pool
  owner: string
  deadlineMs: number
  /** After this time, a part yields to another owner. */
  turnMs: number
  ends: Ends
  signal: AbortSignal | undefined
}

const elsewhere = 'this took too long or too much memory in other conversations'

/** Marks a rule as failed for all subjects after a position. */
const failAfter = (failures: Failures, { rules, subjects }: WorkPart, rule: number, pair: number): void => {
  subjects.forEach(({ unreadable }, row) => {
    const at = row * rules.length + rule
    if (at > pair && unreadable === null && !failures.has(at)) failures.set(at, elsewhere)
  })
}

const reasonOf = ({ why, isReading }: End, deadlineMs: number): string => {
  if (why === 'error') return 'this cannot be evaluated'
  if (isReading) return `the transcript ${why === 'memory' ? 'is too large' : 'takes too long'} to read`
  return why === 'memory'
    ? 'this exceeds the memory limit of rules'
    : `this takes longer than ${deadlineMs / 1_000} seconds`
}

/** Removes the rule that caused a thread's termination from a part. */
const learn = (part: WorkPart, end: End, failures: Failures, { deadlineMs, ends }: PartOptions): void => {
  const { pair, isReading } = end
  const reason = reasonOf(end, deadlineMs)
  const rule = pair % part.rules.length
  if (isReading) {
    part.rules.forEach((one, at) => {
      if (readsVariable(one, 'turns')) failures.set(pair - rule + at, reason)
    })
    return
  }
  failures.set(pair, reason)
  ends[rule] = (ends[rule] ?? 0) + 1
}

type PartAnswers = Omit<WorkAnswers, 'notes' | 'next'> & { notes: [number, Note][] }

/** Adds a thread's results, which start at the position `base`. */
const add = (known: PartAnswers, { results, scores, notes }: WorkAnswers, base: number): void => {
  for (const [at, result] of results.entries()) {
    if (result === outcomes.notAsked) continue
    known.results[base + at] = result
    known.scores[base + at] = scores[at] ?? Number.NaN
  }
  // The thread has written this JSON.
  for (const [at, note] of JSON.parse(notes) as PartAnswers['notes']) known.notes.push([base + at, note])
}

const addFailures = (known: PartAnswers, failures: Failures, asked: Uint8Array): PartAnswers => {
  for (const [at, reason] of failures) {
    if (asked[at] !== 1) continue
    known.results[at] = outcomes.failed
    known.notes.push([at, { reason }])
  }
  return known
}

/** The rest of a part, and the results so far. */
type Progress = {
  /** The first position that was not evaluated. */
  from: number
  /** The position at which a thread was last terminated. */
  reached: number
  failures: Failures
  /**
   * Positions that were retried in a new thread. Only in a new thread is it certain that earlier positions have not
   * filled the memory.
   */
  triedAgain: Set<number>
  known: PartAnswers
}

/** Adds the results of a turn that started at the position `base`. */
const advance = (
  part: WorkPart,
  progress: Progress,
  ended: WorkAnswers | End,
  { base, options }: { base: number; options: PartOptions },
): void => {
  const { failures, triedAgain, known } = progress
  if (!('why' in ended)) {
    add(known, ended, base)
    progress.from = base + ended.next
    return
  }
  if (!ended.hasBegun) throw ended.error
  const pair = base + ended.pair
  progress.reached = pair
  if (ended.why === 'memory' && !triedAgain.has(pair)) triedAgain.add(pair)
  else learn(part, { ...ended, pair }, failures, options)
}

/** Runs a part on a thread for one turn. If others are waiting, the turn ends before everything is done. */
const takeTurn = async (part: WorkPart, progress: Progress, options: PartOptions): Promise<void> => {
  const { pool, owner, turnMs, ends, signal } = options
  const thread = await pool.take(owner, signal)
  const giveUp = () => thread.giveUp()
  signal?.addEventListener('abort', giveUp)
  const endsAt = performance.now() + turnMs
  const timer = setInterval(() => {
    if (performance.now() >= endsAt && pool.isWanted(owner)) giveUp()
  }, turnMs / looksInTurn)
  let ended: WorkAnswers | End | undefined
  try {
    signal?.throwIfAborted()
    const { from, reached, failures } = progress
    // Other parts of the batch can also terminate threads.
    ends.forEach((count, rule) => {
      if (count >= mostEnds) failAfter(failures, part, rule, reached)
    })
    const row = Math.floor(from / part.rules.length)
    const base = row * part.rules.length
    const asked = part.asked.map((one, at) => (at < from || failures.has(at) ? 0 : one)).slice(base)
    ended = await thread.run({ rules: part.rules, subjects: part.subjects.slice(row), asked })
    signal?.throwIfAborted()
    advance(part, progress, ended, { base, options })
  } finally {
    clearInterval(timer)
    signal?.removeEventListener('abort', giveUp)
    await pool.giveBack(thread, ended === undefined || !('why' in ended))
  }
}

export const evaluatePart = async (part: WorkPart, options: PartOptions): Promise<PartAnswers> => {
  const count = part.asked.length
  const known: PartAnswers = {
    results: new Int8Array(count).fill(outcomes.notAsked),
    scores: new Float64Array(count).fill(Number.NaN),
    notes: [],
  }
  const progress: Progress = { from: 0, reached: -1, failures: new Map(), triedAgain: new Set(), known }
  while (progress.from < count) await takeTurn(part, progress, options)
  return addFailures(known, progress.failures, part.asked)
}
