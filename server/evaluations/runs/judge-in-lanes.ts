// Evaluates many conversations with a judge, as many in parallel as the endpoint allows. The caller processes the
// answers.

import type { StoredMonitor } from '../../monitors/queries.ts'
import type { OrgId } from '../../platform/db/database.ts'
import type { Attempt } from '../../platform/jobs/define-job.ts'
import type { EvaluationDeps } from '../deps.ts'
import { type Judgement, outOfBudget } from '../judge-conversation.ts'
import type { Subject } from '../monitors-in-scope.ts'

/** The reason why not all conversations were evaluated. */
export type Stop =
  | { kind: 'over'; failure: string }
  /** The endpoint is currently not responding. */
  | { kind: 'wait'; afterSeconds: number; failure: string }
  /** Nothing has failed, but requests can't be sent yet. */
  | { kind: 'later'; afterSeconds: number }

/** If the endpoint rejects this many requests and answers none, its key or model must be wrong. */
const enoughRefusals = 4

/** After a job has failed this often, conversations with a failing evaluation are skipped one by one. */
export const patientAttempts = 3

export const overBudget: Stop = {
  kind: 'over',
  failure: `${outOfBudget.charAt(0).toUpperCase()}${outOfBudget.slice(1)}.`,
}

/** Returns the reason to stop all evaluations after this answer, if there is one. */
export const stopOf = ({ isOutOfBudget, postponed }: Judgement): Stop | undefined => {
  if (isOutOfBudget) return overBudget
  const [unanswered] = postponed
  if (!unanswered) return undefined
  const { afterSeconds, isNotSentYet, evaluation } = unanswered
  if (isNotSentYet) return { kind: 'later', afterSeconds }
  const failure = `The model endpoint is not responding: ${evaluation.rows[0]?.reasoning}.`
  return { kind: 'wait', afterSeconds, failure }
}

/** Returns a stop if the endpoint has refused every request. `reasons` contains the reason for each refusal. */
export const stopIfRefused = (reasons: (string | null | undefined)[], asked: number): Stop | undefined => {
  if (reasons.length < enoughRefusals || reasons.length !== asked) return undefined
  return { kind: 'over', failure: `The model endpoint rejects every request: ${reasons[0]}.` }
}

type Lanes = {
  subjects: Subject[]
  definition: StoredMonitor['definition']
  attempt: Attempt
  /** Called before each conversation. `ended` means that the results are no longer needed. */
  check: () => Promise<Stop | 'ended' | undefined>
  judgeOne: (subject: Subject) => Promise<Stop | undefined>
  giveUp: (subject: Subject) => Promise<void>
}

/** Evaluates the conversations until an answer is a reason to stop. */
export const judgeInLanes = async (
  { judge }: Pick<EvaluationDeps, 'judge'>,
  org: OrgId,
  { subjects, definition, attempt, check, judgeOne, giveUp }: Lanes,
): Promise<Stop | 'ended' | undefined> => {
  const { signal } = attempt
  const judgeOrGiveUp = async (subject: Subject): Promise<Stop | undefined> => {
    try {
      return await judgeOne(subject)
    } catch (error) {
      if (signal.aborted || attempt.number <= patientAttempts) throw error
      await giveUp(subject)
      return undefined
    }
  }
  const queue = subjects.values()
  let halt: Stop | 'ended' | undefined
  const work = async () => {
    for (const subject of queue) {
      if (halt) return
      signal.throwIfAborted()
      const found = await check()
      halt ??= found
      if (halt) return
      halt = (await judgeOrGiveUp(subject)) ?? halt
    }
  }
  const concurrency = await judge.concurrencyOf(org, definition)
  const lanes = await Promise.allSettled(Array.from({ length: concurrency }, work))
  for (const lane of lanes) if (lane.status === 'rejected') throw lane.reason
  return halt
}
