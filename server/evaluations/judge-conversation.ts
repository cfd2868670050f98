// Evaluates one conversation with several judges, and returns the total cost.

import { noResult } from '../monitor-results/no-result.ts'
import type { Evaluation } from '../monitor-results/queries.ts'
import { type JudgeDefinition, type JudgeResult, listens } from '../monitors/judges/definition.ts'
import type { Paid } from '../monitors/judges/judge.ts'
import type { StoredMonitor } from '../monitors/queries.ts'
import { monthOf } from '../organizations/spending/month.ts'
import { addSpending, getSpending, type Spent } from '../organizations/spending/queries.ts'
import type { OrgId } from '../platform/db/database.ts'
import { openTurns } from '../platform/turns.ts'
import { readTranscript } from '../transcripts/read-transcript.ts'
import type { Turn } from '../transcripts/turn.ts'
import { decideByFields } from './decide-by-fields.ts'
import type { EvaluationDeps } from './deps.ts'
import { hearConversation } from './hear-conversation.ts'
import { listContents } from './queries.ts'

type JudgeDeps = Pick<EvaluationDeps, 'db' | 'blobs' | 'judge' | 'rules' | 'clock'>

export type JudgeSubject = {
  id: string
  startedAt: Date
  length: number | null
  format: string | null
  unreadable: string | null
}

export type JudgeTask = {
  monitors: StoredMonitor[]
  subject: JudgeSubject
  /** The time when the subject was read. */
  readAt: Date
  /** Set for a run, so that evaluations of new conversations come first. */
  background?: boolean
  /** Whether somebody is waiting for the result. */
  isAwaited?: boolean
  signal?: AbortSignal
}

/** A monitor that has no response yet but may get one later. */
export type Postponed = {
  monitor: StoredMonitor
  afterSeconds: number
  /** Whether nothing has failed. If so, this does not count as an attempt. */
  isNotSentYet: boolean
  /** The failure to store if it is not retried. */
  evaluation: Evaluation
}

export type Judgement = {
  /** The results to store, one list for each model request. */
  evaluations: Evaluation[]
  postponed: Postponed[]
  spent: Spent
  isOutOfBudget: boolean
}

const never = new AbortController().signal

/**
 * The sound of a conversation takes up to 13 MB, and a request takes as much again, so each process only holds a few at
 * once.
 */
const listening = openTurns(8, { perOwner: 6 })

export const outOfBudget = 'the monthly judge budget is used up'

/** Returns a function that groups monitors that can share a model request. */
export const openGroups = async (
  { judge }: Pick<EvaluationDeps, 'judge'>,
  org: OrgId,
  monitors: StoredMonitor[],
): Promise<(some: StoredMonitor[]) => StoredMonitor[][]> => {
  // Definitions were validated for their kind when they were stored.
  const definitionOf = (monitor: StoredMonitor) => monitor.definition as JudgeDefinition
  const group = await judge.grouping(org, monitors.map(definitionOf))
  return (some) =>
    group(some.map((monitor) => ({ monitor, definition: definitionOf(monitor) }))).map((one) =>
      one.map(({ monitor }) => monitor),
    )
}

type Row = Evaluation['rows'][number]

/** Returns the reasoning. If the model was not called or returned no reasoning, returns the reason for the result. */
const reasoningOf = ({ reason, reasoning }: JudgeResult): string | null =>
  reason === undefined ? reasoning : reasoning === null ? reason : `${reason}\n${reasoning}`

/** Returns a judge's result in its stored form. */
export const rowOf = ({ id, number }: StoredMonitor, conversationId: string, result: JudgeResult): Row => {
  const { evaluator: _, retryAfterSeconds: __, isNotSentYet: ___, reason: ____, ...found } = result
  return { conversationId, monitorId: id, monitorVersion: number, ...found, reasoning: reasoningOf(result) }
}

/** Returns the turns of a stored transcript, or the reason why it can't be read. */
export const turnsOf = (
  { format, startedAt }: Pick<JudgeSubject, 'format' | 'startedAt'>,
  content: string,
): Turn[] | { why: string } => {
  const reading = readTranscript(JSON.parse(content), { startedAt, ...(format !== null && { provider: format }) })
  return 'turns' in reading ? reading.turns : { why: `the transcript cannot be read: ${reading.unreadable}` }
}

const readTurns = async ({ db }: JudgeDeps, org: OrgId, subject: JudgeSubject): Promise<Turn[] | { why: string }> => {
  if (subject.unreadable !== null) return { why: `the transcript cannot be read: ${subject.unreadable}` }
  const [transcript] = subject.length === null ? [] : await listContents(db, org, [subject.id])
  return transcript ? turnsOf(subject, transcript.content) : { why: 'there is no transcript' }
}

/** Evaluates judges without storing results, and returns the cost. If it is aborted, stores the cost immediately. */
export const judgeConversation = async (deps: JudgeDeps, org: OrgId, task: JudgeTask): Promise<Judgement> => {
  const { monitors, subject, readAt: evaluatedAt, background = false, isAwaited = false, signal } = task
  const judgement: Judgement = {
    evaluations: [],
    postponed: [],
    spent: { judgements: 0, input: 0, output: 0, cost: 0 },
    isOutOfBudget: false,
  }
  const placeOf = ({ id, number }: StoredMonitor) => ({
    conversationId: subject.id,
    monitorId: id,
    monitorVersion: number,
  })
  const withoutAsking = (of: StoredMonitor[], status: 'unscored' | 'failed', reasoning: string) => {
    const rows = of.map((monitor): Row => ({ ...placeOf(monitor), ...noResult, status, reasoning }))
    judgement.evaluations.push({ evaluator: 'judge', evaluatedAt, rows })
  }

  const turns = await readTurns(deps, org, subject)
  if (!Array.isArray(turns)) {
    withoutAsking(monitors, 'unscored', turns.why)
    return judgement
  }
  const count = ({ tokens, cost }: Paid) => {
    const { spent } = judgement
    spent.judgements += tokens === null ? 0 : 1
    spent.input += tokens?.input ?? 0
    spent.output += tokens?.output ?? 0
    spent.cost += cost ?? 0
  }
  const onLost = (paid: Paid[]) => paid.forEach(count)

  const keep = (monitor: StoredMonitor, result: JudgeResult) => {
    const { evaluator, retryAfterSeconds: afterSeconds, isNotSentYet = false } = result
    const evaluation = { evaluator, evaluatedAt, rows: [rowOf(monitor, subject.id, result)] }
    if (afterSeconds === undefined) judgement.evaluations.push(evaluation)
    else judgement.postponed.push({ monitor, afterSeconds, isNotSentYet, evaluation })
  }

  /** Returns the sound for the only judge of a group, if it listens. */
  const hear = async ([definition]: JudgeDefinition[], read: Turn[]) => {
    if (!definition || !listens(definition)) return []
    const hearing = { definition, conversationId: subject.id, turns: read, signal: signal ?? never }
    return hearConversation(deps, org, hearing)
  }

  const askModel = async (definitions: JudgeDefinition[]) => {
    const sounds = await hear(definitions, turns)
    if ('why' in sounds) return sounds
    const heard = sounds.length > 0 && { sounds }
    const request = { definitions, turns, ...heard, owner: org, background, isAwaited, onLost }
    return deps.judge.evaluate({ ...request, ...(signal && { signal }) })
  }

  /** Limits the amount of sound in memory. */
  const askHearing = async (definitions: JudgeDefinition[]) => {
    if (!definitions.some(listens)) return askModel(definitions)
    const leave = await listening.enter(org, { signal, background })
    try {
      return await askModel(definitions)
    } finally {
      leave()
    }
  }

  const askGroup = async (group: StoredMonitor[]) => {
    const { budgetLeft } = await getSpending(deps.db, org, monthOf(deps.clock.now()))
    if (budgetLeft === 0) {
      judgement.isOutOfBudget = true
      return withoutAsking(group, 'failed', outOfBudget)
    }
    const definitions = group.map(({ definition }) => definition as JudgeDefinition)
    const results = await askHearing(definitions)
    if ('why' in results) return withoutAsking(group, 'unscored', results.why)
    for (const paid of results) count(paid)
    for (const [at, result] of results.entries()) {
      const [monitor, definition] = [group[at], definitions[at]]
      if (!monitor || !definition) continue
      keep(monitor, await decideByFields(deps, { owner: org, definition, ...(signal && { signal }) }, result))
    }
  }

  try {
    const groupsOf = await openGroups(deps, org, monitors)
    for (const group of groupsOf(monitors)) await askGroup(group)
  } catch (error) {
    // The responses are lost, but the provider charges for them.
    await addSpending(deps.db, org, monthOf(deps.clock.now()), judgement.spent)
    throw error
  }
  return judgement
}
