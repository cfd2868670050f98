import { type Note, outcomes } from '../outcome.ts'
import type { RuleBatch } from '../rules.ts'
import type { Pool } from './pool.ts'
import type { End } from './start-thread.ts'
import type { Answers, Work } from './thread.ts'

/** Parts of a batch, each done by one thread; when that is ended, another does the part without what ended it. */

/** A part is done again when its thread is ended, so it is kept small. */
const mostSubjects = 100
/** A rule that ended so many threads in a batch is not asked any further in it: each time costs a deadline. */
const mostEnds = 3

export type Part = Work & {
  /** The first of its subjects, in the batch. */
  from: number
}

export const partsOf = ({ rules, subjects, asked }: RuleBatch, threads: number): Part[] => {
  const size = Math.min(mostSubjects, Math.ceil(subjects.length / threads))
  const parts: Part[] = []
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

const mentionsTurns = ({ expression, score = '' }: Work['rules'][number]) => /\bturns\b/.test(`${expression} ${score}`)

/** Which pairs are not asked any more, and why. */
type Failures = Map<number, string>

/** How often each rule of a batch ended a thread. */
export type Ends = number[]

export type PartOptions = { pool: Pool; deadlineMs: number; ends: Ends; signal: AbortSignal | undefined }

const elsewhere = 'this takes too long, or too much memory, in other conversations'

/** Of a rule: all that comes after a pair. */
const failAfter = (failures: Failures, { rules, subjects }: Part, rule: number, pair: number): void => {
  subjects.forEach(({ unreadable }, row) => {
    const at = row * rules.length + rule
    if (at > pair && unreadable === null && !failures.has(at)) failures.set(at, elsewhere)
  })
}

const reasonOf = ({ why, isReading }: End, deadlineMs: number): string => {
  if (why === 'error') return 'this cannot be evaluated'
  if (isReading) return `the transcript ${why === 'memory' ? 'is too large' : 'takes too long'} to read`
  return why === 'memory' ? 'this takes more memory than a rule may' : `this takes longer than ${deadlineMs / 1_000} s`
}

/** Takes out of a part what ended its thread. */
const learn = (part: Part, end: End, failures: Failures, { deadlineMs, ends }: PartOptions): void => {
  const { pair, isReading } = end
  const reason = reasonOf(end, deadlineMs)
  const rule = pair % part.rules.length
  if (isReading) {
    part.rules.forEach((one, at) => {
      if (mentionsTurns(one)) failures.set(pair - rule + at, reason)
    })
    return
  }
  failures.set(pair, reason)
  ends[rule] = (ends[rule] ?? 0) + 1
}

type PartAnswers = Omit<Answers, 'notes'> & { notes: [number, Note][] }

const withFailures = (
  { results, scores, notes: text }: Answers,
  failures: Failures,
  asked: Uint8Array,
): PartAnswers => {
  // The thread wrote it.
  const notes = JSON.parse(text) as PartAnswers['notes']
  for (const [at, reason] of failures) {
    if (asked[at] !== 1) continue
    results[at] = outcomes.failed
    notes.push([at, { reason }])
  }
  return { results, scores, notes }
}

export const evaluatePart = async (part: Part, options: PartOptions): Promise<PartAnswers> => {
  const { pool, ends, signal } = options
  const failures: Failures = new Map()
  // What fills a thread may be what was left by others before. Only in a fresh one is it this pair.
  const triedAgain = new Set<number>()
  let reached = -1
  for (;;) {
    const thread = await pool.take()
    const giveUp = () => thread.giveUp()
    signal?.addEventListener('abort', giveUp)
    let ended: Answers | End | undefined
    try {
      signal?.throwIfAborted()
      // Other parts of the batch end threads too.
      ends.forEach((count, rule) => {
        if (count >= mostEnds) failAfter(failures, part, rule, reached)
      })
      const asked = part.asked.map((one, at) => (failures.has(at) ? 0 : one))
      ended = await thread.run({ rules: part.rules, subjects: part.subjects, asked })
      signal?.throwIfAborted()
      if (!('why' in ended)) return withFailures(ended, failures, part.asked)
      if (!ended.hasBegun) throw ended.error
      reached = ended.pair
      if (ended.why === 'memory' && !triedAgain.has(ended.pair)) triedAgain.add(ended.pair)
      else learn(part, ended, failures, options)
    } finally {
      signal?.removeEventListener('abort', giveUp)
      await pool.giveBack(thread, ended === undefined || !('why' in ended))
    }
  }
}
