// Manages the lifecycle of an evaluation. Conversations are queued when they are stored. Rules run on a whole batch,
// and each judge request is its own job. Evaluations that keep failing are stored as failed.

import Type from 'typebox'
import type { Evaluation } from '../monitor-results/queries.ts'
import { storeResults } from '../monitor-results/store-results.ts'
import { findMonitorsAtVersions, hasRulesReading, listActiveMonitors } from '../monitors/queries.ts'
import { monthOf } from '../organizations/spending/month.ts'
import { addSpending } from '../organizations/spending/queries.ts'
import { batchesOf } from '../platform/batches.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { defineJob, OrganizationId } from '../platform/jobs/define-job.ts'
import { pauseSecondsAfter } from './compare-later.ts'
import type { EvaluationDeps } from './deps.ts'
import { evaluateRules } from './evaluate-rules.ts'
import { judgeConversation, openGroups, type Postponed } from './judge-conversation.ts'
import { type EvaluationBatch, findQuestions } from './monitors-in-scope.ts'
import { listAnswered, listInputTimes, listSubjects } from './queries.ts'
import { storeFailures } from './store-failures.ts'

/** The number of conversations in a job. */
export const evaluationBatch = 250

type EnqueueDeps = Pick<EvaluationDeps, 'jobs'>

/**
 * Queues conversations for evaluation. `only` limits the evaluation to rules that read metrics or sound measures, or to
 * pinned versions without a result.
 */
export const enqueueEvaluation = async (
  { jobs }: EnqueueDeps,
  trx: Db,
  org: OrgId,
  ids: string[],
  only: Pick<EvaluationBatch, 'reads' | 'lacks'> = {},
): Promise<void> => {
  const payloads = batchesOf(ids, evaluationBatch).map((conversationIds) => {
    return { organizationId: org, conversationIds, ...only }
  })
  await jobs.enqueueMany(trx, evaluateConversations, payloads)
}

/** Queues the evaluation of conversations in the transaction that completes them or changes their transcripts. */
export const evaluateStored = (
  deps: EnqueueDeps,
  trx: Db,
  org: OrgId,
  { toEvaluate }: { toEvaluate: string[] },
): Promise<void> => enqueueEvaluation(deps, trx, org, toEvaluate)

/** Queues the rules that read metrics, in the transaction that changes the metrics. */
export const evaluateMetricRules = async (
  deps: EnqueueDeps,
  trx: Db,
  org: OrgId,
  { measured }: { measured: string[] },
): Promise<void> => {
  if (measured.length === 0 || !(await hasRulesReading(trx, org, 'metrics'))) return
  await enqueueEvaluation(deps, trx, org, measured, { reads: 'metrics' })
}

/**
 * Queues the rules that read sound measures and the judges that listen, in the transaction that stores the measures or
 * records that there are none.
 */
export const evaluateSoundRules = async (
  deps: EnqueueDeps,
  trx: Db,
  org: OrgId,
  { conversationIds }: { conversationIds: string[] },
): Promise<void> => {
  if (!(await hasRulesReading(trx, org, 'sound'))) return
  await enqueueEvaluation(deps, trx, org, conversationIds, { reads: 'sound' })
}

/** The number of retries for an unresponsive endpoint. The pauses add up to two hours. */
const mostRounds = 8
const longestPauseSeconds = 3_600
/** The minimum wait after a request could not be sent. */
const shortestPauseSeconds = 30

type Waiting = { conversationId: string; monitorIds: string[]; versions?: number[]; since: string }

/** Returns the judges that are still active or pinned and that no other job has run in the meantime. */
const listUnanswered = async (db: Db, org: OrgId, { conversationId, monitorIds, versions, since }: Waiting) => {
  const monitors = versions
    ? await findMonitorsAtVersions(
        db,
        org,
        monitorIds.map((id, at) => ({ id, number: versions[at] ?? 0 })),
      )
    : (await listActiveMonitors(db, org)).filter(({ id }) => monitorIds.includes(id))
  const pairs = monitors.map(({ id, number }) => ({ conversationId, monitorId: id, monitorVersion: number }))
  const answered = await listAnswered(db, org, pairs, { answeredAfter: new Date(since) })
  return monitors.filter(({ id }) => !answered.some(({ monitorId }) => monitorId === id))
}

/**
 * Runs judges on one conversation. The transaction that stores the responses, which cost money, also completes the job.
 * Monitors without a response are retried later.
 */
export const judge = defineJob({
  name: 'conversation.judge',
  payload: Type.Object({
    organizationId: OrganizationId,
    conversationId: Type.String(),
    monitorIds: Type.Array(Type.String()),
    /** The versions that experiments pinned. Otherwise, the job uses the version that is current when it runs. */
    versions: Type.Optional(Type.Array(Type.Integer())),
    /**
     * The time when the conversation was read. If a stored result is based on a later reading, the model is not called
     * again.
     */
    since: Type.String(),
    /** The number of the attempt, starting at 1. */
    round: Type.Integer(),
  }),
  // The operator limits the concurrency of the endpoint, and the jobs mostly wait for it.
  concurrency: 128,
  // The limit exceeds the worst case: twenty windows, each requested about twice, two minutes for each request, and
  // waits. If a job reaches its timeout, its responses are lost, but the provider charges for them.
  timeoutSeconds: 2 * 60 * 60,
  run: async (deps: EvaluationDeps, { organizationId, round, ...waiting }, attempt) => {
    const org = organizationId
    const { db, jobs, clock } = deps
    const { conversationId, versions } = waiting
    const monitors = await listUnanswered(db, org, waiting)
    const readAt = clock.now()
    const [subject] = monitors.length > 0 ? await listSubjects(db, org, [conversationId]) : []
    if (!subject) return attempt.finish(async () => {})
    const { signal } = attempt
    const { evaluations, postponed, spent } = await judgeConversation(deps, org, { monitors, subject, readAt, signal })
    const notSent = postponed.filter(({ isNotSentYet }) => isNotSentYet)
    const failed = postponed.filter(({ isNotSentYet }) => !isNotSentYet)
    const isLastRound = round >= mostRounds
    const again = async (trx: Db, some: Postponed[], next: { round: number; pauseSeconds: number }) => {
      if (some.length === 0) return
      const longest = Math.max(next.pauseSeconds, ...some.map((one) => one.afterSeconds))
      const payload = {
        organizationId,
        ...waiting,
        monitorIds: some.map(({ monitor }) => monitor.id),
        ...(versions && { versions: some.map(({ monitor }) => monitor.number) }),
        round: next.round,
      }
      await jobs.enqueue(trx, judge, payload, { afterSeconds: Math.min(longestPauseSeconds, longest) })
    }
    await attempt.finish(async (trx) => {
      const givenUp = isLastRound ? failed.map(({ evaluation }) => evaluation) : []
      for (const evaluation of [...evaluations, ...givenUp]) await storeResults(deps, trx, org, evaluation)
      await addSpending(trx, org, monthOf(clock.now()), spent)
      // Waiting for the limits that people set is not a failure, however long it takes.
      await again(trx, notSent, { round, pauseSeconds: shortestPauseSeconds })
      if (!isLastRound) await again(trx, failed, { round: round + 1, pauseSeconds: 30 * 2 ** round })
    })
  },
  onFailed: async (deps, { organizationId, ...waiting }, trx) => {
    const org = organizationId
    const monitors = await listUnanswered(trx, org, waiting)
    await storeFailures(deps, trx, org, { monitors, conversationId: waiting.conversationId })
  },
})

/** Queues the monitors that were left out because meanings could not be compared. */
const compareLater = async (
  { jobs }: EnqueueDeps,
  trx: Db,
  batch: EvaluationBatch & { organizationId: OrgId },
  readAt: Date,
) => {
  const { since, round } = batch.postponed ?? { since: readAt.toISOString(), round: 0 }
  const postponed = { since, round: round + 1 }
  const afterSeconds = pauseSecondsAfter(postponed.round)
  if (afterSeconds === undefined) return
  await jobs.enqueue(trx, evaluateConversations, { ...batch, postponed }, { afterSeconds })
}

/**
 * Evaluates conversations that were completed, or that have a changed transcript, metrics, or sound. The job is queued
 * in the transaction that stores the change. All rule results are stored with one statement. Judges take time, so each
 * model request is its own job.
 */
export const evaluateConversations = defineJob({
  name: 'conversation.evaluate',
  payload: Type.Object({
    organizationId: OrganizationId,
    conversationIds: Type.Array(Type.String(), { maxItems: evaluationBatch }),
    /** Limits the evaluation to rules that read metrics, or to monitors that read the sound. */
    reads: Type.Optional(Type.Union([Type.Literal('metrics'), Type.Literal('sound')])),
    /** Limits the evaluation to pinned versions without a result. */
    lacks: Type.Optional(Type.Literal('pinned')),
    /** Limits the evaluation to monitors that were left out because meanings could not be compared. */
    postponed: Type.Optional(Type.Object({ since: Type.String(), round: Type.Integer() })),
  }),
  concurrency: 4,
  run: async (deps: EvaluationDeps, batch, attempt) => {
    const { organizationId } = batch
    const org = organizationId
    const readAt = deps.clock.now()
    const db = deps.database.dbOf(org)
    const { subjects, questions, isIncomplete } = await findQuestions(deps, db, org, batch, { comparesMeanings: true })
    if (subjects.length === 0) return
    const { signal } = attempt
    const evaluations: Evaluation[] = []
    for (const { monitors, asked } of questions) {
      const ofRules = monitors.filter(({ kind }) => kind === 'rule')
      const task = { monitors: ofRules, subjects, asked, readAt, signal }
      evaluations.push(await evaluateRules({ ...deps, db }, org, task))
    }
    const judgesOf = ({ monitors }: (typeof questions)[number]) => monitors.filter(({ kind }) => kind === 'judge')
    const groupsOf = await openGroups(deps, org, questions.flatMap(judgesOf))
    // Measures can change while the sound and the transcript stay the same. A judge that has already listened is not
    // called again.
    const hears = batch.reads === 'sound' && questions.flatMap(judgesOf).length > 0
    const newest = batch.postponed ? new Date(batch.postponed.since) : readAt
    const inputTimes = hears ? await listInputTimes(db, org, batch.conversationIds) : new Map<string, Date>()
    await attempt.finish(async (trx) => {
      for (const evaluation of evaluations) await storeResults(deps, trx, org, evaluation)
      const judgings = questions.flatMap((question) => {
        const { isPinned, asked } = question
        const judges = judgesOf(question)
        return subjects.flatMap((subject) =>
          groupsOf(judges.filter((monitor) => asked(subject, monitor))).map((group) => ({
            organizationId,
            conversationId: subject.id,
            monitorIds: group.map(({ id }) => id),
            ...(isPinned && { versions: group.map(({ number }) => number) }),
            // For a missing result, any stored one is sufficient, however old it is.
            since: (batch.lacks === 'pinned' ? new Date(0) : (inputTimes.get(subject.id) ?? newest)).toISOString(),
            round: 1,
          })),
        )
      })
      await deps.jobs.enqueueMany(trx, judge, judgings)
      if (isIncomplete) await compareLater(deps, trx, batch, readAt)
    })
  },
  onFailed: async (deps, batch, trx) => {
    const { organizationId, conversationIds } = batch
    const org = organizationId
    const [only, ...others] = conversationIds
    if (only !== undefined && others.length === 0) {
      // A transaction must not wait for a model.
      const { subjects, questions } = await findQuestions(deps, trx, org, batch, { comparesMeanings: false })
      for (const { monitors, asked } of questions) {
        const failed = monitors.filter((monitor) => subjects.some((subject) => asked(subject, monitor)))
        await storeFailures(deps, trx, org, { monitors: failed, conversationId: only })
      }
      return
    }
    // One of the conversations may be the cause, so each is evaluated separately.
    await deps.jobs.enqueueMany(
      trx,
      evaluateConversations,
      conversationIds.map((id) => ({ ...batch, conversationIds: [id] })),
    )
  },
})
