import { parentPort, workerData } from 'node:worker_threads'
import { ask } from '../evaluate.ts'
import { type Note, outcomes } from '../outcome.ts'
import type { RuleSubject } from '../rules.ts'
import type { RuleSource } from '../source.ts'
import { type Context, openSubject } from '../subject.ts'
import { compiledRule, type KeyedRule, keyed } from './compiled-rules.ts'
import { cells, type SharedPosition } from './position.ts'

/** The thread that evaluates rules. It can be terminated at any time. */

export type RuleWork = {
  rules: RuleSource[]
  subjects: RuleSubject[]
  /** Whether each rule runs on each subject, at `subject * rules.length + rule`. */
  asked: Uint8Array
}

export type WorkAnswers = {
  results: Int8Array<ArrayBuffer>
  scores: Float64Array<ArrayBuffer>
  /** JSON of `[at, note]` pairs, which is faster than many small objects. */
  notes: string
  /** The first position that was not evaluated because the thread stopped early. Otherwise, the number of positions. */
  next: number
}

// The language reports unknown values as errors. Their stack traces are not needed.
Error.stackTraceLimit = 0

const position: SharedPosition = workerData

const step = (pair: number): void => {
  Atomics.store(position, cells.pair, pair)
  Atomics.add(position, cells.steps, 1)
}

const reading = (isReading: boolean): void => {
  Atomics.store(position, cells.isReading, isReading ? 1 : 0)
  Atomics.add(position, cells.steps, 1)
}

const evaluate = ({ rules, subjects, asked }: RuleWork): WorkAnswers => {
  const results = new Int8Array(asked.length).fill(outcomes.notAsked)
  const scores = new Float64Array(asked.length).fill(Number.NaN)
  const notes: [number, Note][] = []
  const evaluatePair = (rule: KeyedRule, at: number, context: Context): void => {
    step(at)
    const { result, score, note } = ask(compiledRule(rule), context)
    results[at] = result
    scores[at] = score
    if (note) notes.push([at, note])
  }
  const asking = rules.map(keyed)
  let next = asked.length
  let hasEvaluated = false
  // The first rule always runs. This guarantees progress even if every turn is stopped early.
  const stops = (at: number) => {
    if (hasEvaluated && Atomics.load(position, cells.isGivenUp) === 1) next = at
    return next < asked.length
  }
  const evaluateRow = (subject: RuleSubject, row: number): void => {
    const context = openSubject(subject, reading)
    for (const [column, rule] of asking.entries()) {
      const at = row * rules.length + column
      if (asked[at] !== 1) continue
      if (stops(at)) return
      hasEvaluated = true
      if (subject.unreadable === null) evaluatePair(rule, at, context)
      else {
        results[at] = outcomes.unscored
        notes.push([at, { reason: subject.unreadable }])
      }
    }
  }
  for (const [row, subject] of subjects.entries()) {
    if (next < asked.length) break
    evaluateRow(subject, row)
  }
  return { results, scores, notes: JSON.stringify(notes), next }
}

parentPort?.on('message', (work: RuleWork) => {
  const answers = evaluate(work)
  parentPort?.postMessage(answers, [answers.results.buffer, answers.scores.buffer])
})
