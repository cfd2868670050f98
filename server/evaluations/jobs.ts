import Type from 'typebox'
import type { Deps } from '../deps.ts'
import { storeEvaluation } from '../monitor-results/queries.ts'
import { listActiveMonitors } from '../monitors/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { defineJob } from '../platform/jobs/define-job.ts'
import { findAsked } from './asked.ts'
import { storeFailures } from './failures.ts'
import { groupsOf, judgeConversation } from './judge.ts'
import { listAnswered, listSubjects } from './queries.ts'
import { evaluateRules } from './rules.ts'
import { monthOf } from './spending/month.ts'
import { addSpending } from './spending/queries.ts'

/** How many conversations one job holds. */
export const evaluationBatch = 250

/** How often an endpoint that does not answer is asked, with pauses between that come to two hours. */
const mostRounds = 8
const longestPauseSeconds = 3_600

type Waiting = { conversationId: string; monitorIds: string[]; since: string }

/** Of the judges that are active still, those that nobody else had answer in the meantime. */
const listUnanswered = async (db: Db, org: OrgId, { conversationId, monitorIds, since }: Waiting) => {
  const monitors = (await listActiveMonitors(db, org)).filter(({ id }) => monitorIds.includes(id))
  const pairs = monitors.map(({ id, number }) => ({ conversationId, monitorId: id, monitorVersion: number }))
  const answered = await listAnswered(db, org, pairs, { answeredAfter: new Date(since) })
  return monitors.filter(({ id }) => !answered.some(({ monitorId }) => monitorId === id))
}

/**
 * Asks judges of one conversation, in the versions of their monitors that are current by then. The answer that was paid
 * for is stored, and the job is done, in one transaction. What an endpoint does not answer now is asked again later.
 */
export const judge = defineJob({
  name: 'conversation.judge',
  payload: Type.Object({
    organizationId: Type.String(),
    conversationId: Type.String(),
    monitorIds: Type.Array(Type.String()),
    /** When the conversation was read that is to be judged: an answer of later need not be paid for again. */
    since: Type.String(),
    /** Counted from 1. */
    round: Type.Integer(),
  }),
  // They stand in line at the endpoint, which takes as many at once as the operator says.
  concurrency: 64,
  // Longer than a judging takes at worst: twenty windows, each asked about twice, two minutes a request, and its waits.
  // What was paid for one that runs out of time is lost.
  timeoutSeconds: 2 * 60 * 60,
  run: async (deps: Deps, { organizationId, conversationId, monitorIds, since, round }, attempt) => {
    // The one who enqueued it wrote the id of an organization.
    const org = organizationId as OrgId
    const { db, jobs, clock } = deps
    const monitors = await listUnanswered(db, org, { conversationId, monitorIds, since })
    const readAt = clock.now()
    const [subject] = monitors.length > 0 ? await listSubjects(db, org, [conversationId]) : []
    if (!subject) return attempt.finish(async () => {})
    const { signal } = attempt
    const { evaluations, postponed, spent } = await judgeConversation(deps, org, { monitors, subject, readAt, signal })
    const isLastRound = round >= mostRounds
    await attempt.finish(async (trx) => {
      for (const evaluation of [...evaluations, ...(isLastRound ? postponed.evaluations : [])]) {
        await storeEvaluation(trx, org, evaluation)
      }
      await addSpending(trx, org, monthOf(clock.now()), spent)
      if (isLastRound || postponed.monitorIds.length === 0) return
      const pauseSeconds = Math.min(longestPauseSeconds, Math.max(postponed.afterSeconds, 30 * 2 ** round))
      const payload = { organizationId, conversationId, monitorIds: postponed.monitorIds, since, round: round + 1 }
      await jobs.enqueue(trx, judge, payload, { startAfter: new Date(clock.now().getTime() + pauseSeconds * 1_000) })
    })
  },
  onFailed: async (deps, { organizationId, conversationId, monitorIds, since }, trx) => {
    const org = organizationId as OrgId
    const monitors = await listUnanswered(trx, org, { conversationId, monitorIds, since })
    await storeFailures(deps, trx, org, { monitors, conversationId })
  },
})

/**
 * Where conversations that are completed, or whose transcript changed, come to be judged. It is enqueued in the
 * transaction that stores them. The results of all rules are one statement; judges take their time, so each
 * conversation and request to a model is a job of its own.
 */
export const evaluateConversations = defineJob({
  name: 'conversation.evaluate',
  payload: Type.Object({
    organizationId: Type.String(),
    conversationIds: Type.Array(Type.String(), { maxItems: evaluationBatch }),
  }),
  concurrency: 2,
  run: async (deps: Deps, { organizationId, conversationIds }, attempt) => {
    const org = organizationId as OrgId
    const monitors = await listActiveMonitors(deps.db, org)
    if (monitors.length === 0) return attempt.finish(async () => {})
    const readAt = deps.clock.now()
    const subjects = await listSubjects(deps.db, org, conversationIds)
    const asked = await findAsked(deps.db, org, subjects, monitors)
    const { signal } = attempt
    const ofRules = monitors.filter(({ kind }) => kind === 'rule')
    const evaluation = await evaluateRules(deps, org, { monitors: ofRules, subjects, asked, readAt, signal })
    const judges = monitors.filter(({ kind }) => kind === 'judge')
    await attempt.finish(async (trx) => {
      await storeEvaluation(trx, org, evaluation)
      await deps.jobs.enqueueMany(
        trx,
        judge,
        subjects.flatMap((subject) => {
          const groups = groupsOf(
            deps,
            judges.filter((monitor) => asked(subject, monitor)),
          )
          return groups.map((group) => {
            const place = { organizationId, conversationId: subject.id, monitorIds: group.map(({ id }) => id) }
            return { ...place, since: readAt.toISOString(), round: 1 }
          })
        }),
      )
    })
  },
  onFailed: async (deps, { organizationId, conversationIds }, trx) => {
    const org = organizationId as OrgId
    const [only, ...others] = conversationIds
    if (only !== undefined && others.length === 0) {
      const [monitors, subjects] = [await listActiveMonitors(trx, org), await listSubjects(trx, org, [only])]
      const asked = await findAsked(trx, org, subjects, monitors)
      const failed = monitors.filter((monitor) => subjects.some((subject) => asked(subject, monitor)))
      return storeFailures(deps, trx, org, { monitors: failed, conversationId: only })
    }
    // One of them may be the cause: the others need not suffer from it.
    await deps.jobs.enqueueMany(
      trx,
      evaluateConversations,
      conversationIds.map((id) => ({ organizationId, conversationIds: [id] })),
    )
  },
})
