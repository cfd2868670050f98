// Stores some results of a batch together with their cost, so that each result is stored and paid for only once.
import type { BatchAnswer } from '../../../model-providers/batches/open-batches.ts'
import { storeResults } from '../../../monitor-results/store-results.ts'
import type { BatchJudge } from '../../../monitors/judges/batch.ts'
import type { JudgeDefinition } from '../../../monitors/judges/definition.ts'
import type { StoredMonitor } from '../../../monitors/queries.ts'
import { monthOf } from '../../../organizations/spending/month.ts'
import { addReservation, addSpending, type Spent } from '../../../organizations/spending/queries.ts'
import type { OrgId } from '../../../platform/db/database.ts'
import type { Attempt } from '../../../platform/jobs/define-job.ts'
import { decideByFields } from '../../decide-by-fields.ts'
import type { EvaluationDeps } from '../../deps.ts'
import { rowOf } from '../../judge-conversation.ts'
import { type Batch, lockBatch, updateBatch } from './queries.ts'
import { readConversations } from './read-conversations.ts'
import { conversationOf } from './request-id.ts'

type Storing = {
  batch: Batch
  monitor: StoredMonitor
  judging: BatchJudge
  attempt: Attempt
  /** The position of the first of these answers among all results of the batch. */
  from: number
  answers: BatchAnswer[]
}

type Row = ReturnType<typeof rowOf>

/** Checks the answers. A conversation without a valid answer gets no result, so an ordinary request follows. */
const readAnswers = async (
  deps: EvaluationDeps,
  org: OrgId,
  { batch, monitor, judging, attempt, answers }: Storing,
) => {
  // Definitions were validated for their kind when they were stored.
  const definition = monitor.definition as JudgeDefinition
  const spent: Spent = { judgements: 0, input: 0, output: 0, cost: 0 }
  const rows: Row[] = []
  const own = new Set(batch.conversationIds)
  const replies = new Map(
    answers.flatMap(({ id, reply }) => {
      const conversationId = conversationOf(batch.id, id)
      return conversationId !== undefined && own.has(conversationId) && reply ? [[conversationId, reply] as const] : []
    }),
  )
  const turnsById = new Map((await readConversations(deps, org, [...replies.keys()])).map((one) => [one.id, one.turns]))
  for (const [conversationId, reply] of replies) {
    // An erased conversation has no turns, but its answer still had to be paid for.
    const { tokens, cost, result } = judging.read(turnsById.get(conversationId) ?? [], reply)
    spent.judgements += tokens === null ? 0 : 1
    spent.input += tokens?.input ?? 0
    spent.output += tokens?.output ?? 0
    spent.cost += cost ?? 0
    if (!result || !turnsById.has(conversationId)) continue
    const decided = await decideByFields(deps, { owner: org, definition, signal: attempt.signal }, result)
    rows.push(rowOf(monitor, conversationId, decided))
  }
  return { rows, spent }
}

/** Stores the answers, unless they are stored already. */
export const storeAnswers = async (deps: EvaluationDeps, org: OrgId, storing: Storing): Promise<void> => {
  const { batch, judging, attempt, from, answers } = storing
  const { rows, spent } = await readAnswers(deps, org, storing)
  await attempt.transaction(async (trx) => {
    const present = await lockBatch(trx, org, batch.id)
    if (present?.status !== 'submitted' || present.readResults !== from) return
    const evaluation = { evaluator: judging.evaluator, evaluatedAt: batch.readAt, rows }
    if (rows.length > 0) await storeResults(deps, trx, org, evaluation)
    await addSpending(trx, org, monthOf(deps.clock.now()), spent)
    const unread = Math.max(answers.length, batch.requests - from)
    const released = (present.reservedCost / unread) * answers.length
    if (released > 0) await addReservation(trx, org, present.reservedMonth, -released)
    const reservedCost = present.reservedCost - released
    await updateBatch(trx, org, batch.id, { readResults: from + answers.length, reservedCost })
  })
}
