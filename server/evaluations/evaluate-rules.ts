// Evaluates all rules of a batch in one thread.

import { noResult } from '../monitor-results/no-result.ts'
import type { Evaluation } from '../monitor-results/queries.ts'
import { type JudgeDefinition, listens } from '../monitors/judges/definition.ts'
import type { StoredMonitor } from '../monitors/queries.ts'
import type { RuleAnswers, RuleSubject } from '../monitors/rules/rules.ts'
import { type RuleSource, readsVariable } from '../monitors/rules/source.ts'
import type { OrgId } from '../platform/db/database.ts'
import type { EvaluationDeps } from './deps.ts'
import type { Subject } from './monitors-in-scope.ts'
import { listContents } from './queries.ts'

type RuleDeps = Pick<EvaluationDeps, 'db' | 'rules'>

export type RuleTask = {
  monitors: StoredMonitor[]
  subjects: Subject[]
  asked: (subject: Subject, monitor: StoredMonitor) => boolean
  /** The time when the subjects were read. */
  readAt: Date
  signal?: AbortSignal
}

const ruleEvaluator = 'rule'

/** The maximum number of characters in one part: a few long transcripts or many short ones. */
const mostCharacters = 16_000_000
const mostSubjects = 500

/** Splits a list so that the transcripts in each part are not too long in total. A single transcript can be longer. */
const partsOf = (subjects: Subject[]): Subject[][] => {
  const parts: Subject[][] = []
  let characters = 0
  for (const subject of subjects) {
    const part = parts.at(-1)
    characters += subject.length ?? 0
    if (part && part.length < mostSubjects && characters <= mostCharacters) part.push(subject)
    else {
      parts.push([subject])
      characters = subject.length ?? 0
    }
  }
  return parts
}

// Definitions were validated for their kind when they were stored.
const definitionOf = ({ definition }: StoredMonitor) => definition as RuleSource

/** Returns whether a monitor is a rule that reads this data, or a judge that listens to the recording. */
export const isReading = (monitor: StoredMonitor, variable: 'metrics' | 'sound'): boolean => {
  if (monitor.kind === 'rule') return readsVariable(definitionOf(monitor), variable)
  // Definitions were validated for their kind when they were stored.
  return monitor.kind === 'judge' && variable === 'sound' && listens(monitor.definition as JudgeDefinition)
}

/**
 * Monitors that read sound measures wait until the recording is measured, or until it is known that it can't be. Judges
 * that listen to recordings also wait for its redaction. These monitors run afterwards.
 */
export const canEvaluate = (
  { awaitsSound, awaitsRecording }: Pick<Subject, 'awaitsSound' | 'awaitsRecording'>,
  monitor: StoredMonitor,
): boolean => {
  const awaits = monitor.kind === 'judge' ? awaitsSound || awaitsRecording : awaitsSound
  return !awaits || !isReading(monitor, 'sound')
}

type Row = Evaluation['rows'][number]

type RuleOutcome = Omit<Row, 'conversationId' | 'monitorId' | 'monitorVersion'>

/** Reads a result from the thread. Returns undefined if the rule was not evaluated for the conversation. */
const outcomeAt = ({ results, scores, notes }: RuleAnswers, at: number): RuleOutcome | undefined => {
  const result = results[at] ?? -1
  if (result < 0) return undefined
  const { reason: reasoning = null, evidence = [], categories = null, fields = null } = notes.get(at) ?? {}
  const details = { ...noResult, evidence, categories, fields }
  if (result > 1) return { ...details, status: result === 2 ? 'unscored' : 'failed', reasoning }
  const score = scores[at] ?? Number.NaN
  return {
    ...details,
    status: 'scored',
    result: result === 1 ? 'affected' : 'not_affected',
    score: Number.isFinite(score) ? score : null,
  }
}

const rowsOf = (answers: RuleAnswers, subjects: Subject[], monitors: StoredMonitor[]): Row[] => {
  const rows: Row[] = []
  let at = 0
  for (const { id: conversationId } of subjects) {
    for (const { id: monitorId, number: monitorVersion } of monitors) {
      const outcome = outcomeAt(answers, at++)
      if (outcome) rows.push({ conversationId, monitorId, monitorVersion, ...outcome })
    }
  }
  return rows
}

/** Evaluates rules without storing their results. */
export const evaluateRules = async ({ db, rules }: RuleDeps, org: OrgId, task: RuleTask): Promise<Evaluation> => {
  const { monitors, readAt: evaluatedAt, asked, signal } = task
  const rows: Row[] = []
  if (monitors.length === 0) return { evaluator: ruleEvaluator, evaluatedAt, rows }
  const withTurns = monitors.some((monitor) => readsVariable(definitionOf(monitor), 'turns'))
  for (const subjects of partsOf(task.subjects)) {
    const contents = new Map<string, string>()
    if (withTurns) {
      const readable = subjects.filter(({ length, unreadable }) => length !== null && unreadable === null)
      const ids = readable.map(({ id }) => id)
      for (const { id, content } of await listContents(db, org, ids)) contents.set(id, content)
    }
    const answers = await rules.evaluate(
      {
        owner: org,
        rules: monitors.map(definitionOf),
        subjects: subjects.map(({ id, facts, format, unreadable }): RuleSubject => {
          const content = contents.get(id)
          return { facts, unreadable, transcript: content === undefined ? null : { content, format } }
        }),
        asked: Uint8Array.from(
          subjects.flatMap((subject) => monitors.map((monitor) => Number(asked(subject, monitor)))),
        ),
      },
      signal,
    )
    for (const row of rowsOf(answers, subjects, monitors)) rows.push(row)
  }
  return { evaluator: ruleEvaluator, evaluatedAt, rows }
}
