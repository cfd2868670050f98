// Evaluates a definition on an alignment's conversations. Each result is stored immediately, with its cost, so that no
// request is paid for twice.

import { judgeConversation } from '../evaluations/judge-conversation.ts'
import type { Subject } from '../evaluations/monitors-in-scope.ts'
import { listSubjects } from '../evaluations/queries.ts'
import { judgeInLanes, type Stop, stopIfRefused, stopOf } from '../evaluations/runs/judge-in-lanes.ts'
import type { StoredMonitor } from '../monitors/queries.ts'
import { monthOf } from '../organizations/spending/month.ts'
import { addSpending } from '../organizations/spending/queries.ts'
import type { OrgId } from '../platform/db/database.ts'
import type { Attempt } from '../platform/jobs/define-job.ts'
import type { AlignmentDeps } from './deps.ts'
import { type AlignmentResult, addPaid, findAlignment, insertResult, type StoredAlignment } from './queries.ts'

export type CaseTask = {
  alignment: Pick<StoredAlignment, 'id' | 'resumes'>
  /** The monitor with the definition to evaluate. */
  monitor: StoredMonitor
  /** The proposal, or `baseline` for the current version. */
  kind: AlignmentResult['kind']
  ids: string[]
  attempt: Attempt
}

type Going = 'ended' | 'paid' | 'open'

/** Returns whether an alignment has ended, has reached its maximum cost, or can continue. */
export const goingOf = async (
  { db }: Pick<AlignmentDeps, 'db'>,
  org: OrgId,
  { id, resumes }: CaseTask['alignment'],
): Promise<Going> => {
  const present = await findAlignment(db, org, id)
  if (present?.status !== 'running' || present.resumes !== resumes) return 'ended'
  return present.maxCost !== null && present.cost >= present.maxCost ? 'paid' : 'open'
}

export const reachedMaximum: Stop = {
  kind: 'over',
  failure: 'The alignment reached its maximum cost. Resume it with a higher one to continue where it stopped.',
}

type Row = { status: AlignmentResult['status']; tokens: unknown; reasoning: string | null }

const isRefusal = ({ status, tokens }: Row): boolean => status === 'failed' && tokens === null

const unfit = { status: 'unscored', result: null, score: null, isQuoted: false, quotedTurn: null } as const
const broken = { ...unfit, status: 'failed' } as const

/** Evaluates conversations, as many at a time as the endpoint allows. If it stops early, returns the reason. */
export const evaluateCases = async (deps: AlignmentDeps, org: OrgId, task: CaseTask): Promise<Stop | undefined> => {
  const { db, clock } = deps
  const { alignment, monitor, kind, ids, attempt } = task
  const subjects = await listSubjects(db, org, ids)
  const store = (conversationId: string, found: Omit<AlignmentResult, 'kind' | 'conversationId'>) =>
    attempt.transaction((trx) => insertResult(trx, org, alignment.id, { kind, conversationId, ...found }))

  // A conversation that is no longer completed has no result.
  const present = new Set(subjects.map(({ id }) => id))
  for (const id of ids) if (!present.has(id)) await store(id, unfit)

  const refused: { id: string; reasoning: string | null }[] = []

  const judgeOne = async (subject: Subject): Promise<Stop | undefined> => {
    const readAt = clock.now()
    const judging = { monitors: [monitor], subject, readAt, background: true, signal: attempt.signal }
    const judgement = await judgeConversation(deps, org, judging)
    const { evaluations, spent, isOutOfBudget } = judgement
    if (isOutOfBudget) return stopOf(judgement)
    const row = evaluations[0]?.rows[0]
    await attempt.transaction(async (trx) => {
      const isCostUnknown = row?.tokens != null && row.cost === null
      await addSpending(trx, org, monthOf(clock.now()), spent)
      await addPaid(trx, org, { alignmentId: alignment.id, kind }, { ...spent, isCostUnknown })
      if (!row || isRefusal(row)) return
      const quotedTurn = row.evidence[0]?.turn ?? null
      const { status, result, score } = row
      const isQuoted = row.evidence.length > 0
      await insertResult(trx, org, alignment.id, {
        kind,
        conversationId: subject.id,
        status,
        result,
        score,
        isQuoted,
        quotedTurn,
      })
    })
    if (row && isRefusal(row)) refused.push({ id: subject.id, reasoning: row.reasoning })
    return stopOf(judgement)
  }

  const check = async () => {
    const going = await goingOf(deps, org, alignment)
    if (going === 'ended') return going
    return going === 'paid' ? reachedMaximum : undefined
  }
  const giveUp = ({ id }: Subject) => store(id, broken)
  const lanes = { subjects, definition: monitor.definition, attempt, check, judgeOne, giveUp }
  const halt = await judgeInLanes(deps, org, lanes)
  const reasons = refused.map(({ reasoning }) => reasoning)
  const refusal = stopIfRefused(reasons, subjects.length)
  if (refusal) return refusal
  // If the evaluation stopped early, the refused conversations are sent again later.
  if (halt) return halt === 'ended' ? undefined : halt
  for (const { id } of refused) await store(id, broken)
  return undefined
}
