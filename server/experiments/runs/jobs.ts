import type { EvaluationDeps } from '../../evaluations/deps.ts'
import { eachOfPages } from '../../platform/jobs/attempt-each.ts'
import { currentTime, defineSweep } from '../../platform/jobs/define-sweep.ts'
import { noteChanges } from '../observations/note-changes.ts'
import { lockExperiment } from '../queries.ts'
import { endLaunchRun } from './lifecycle.ts'
import { listAwaited, listOpen, listOrganizationsWithOpenAllOrgs } from './queries.ts'

const pageSize = 200
const patienceMs = 24 * 60 * 60 * 1_000

/** Recounts conversations with overdue results, and ends the period in which finished experiments accept results. */
export const sweepExperiments = defineSweep({
  name: 'experiment.sweep',
  schedule: '35 * * * *',
  time: currentTime,
  listOrganizations: ({ db }: EvaluationDeps) => listOrganizationsWithOpenAllOrgs(db),
  listItems: ({ db }, { org, after }) => eachOfPages(pageSize, (page) => listOpen(db, org, page), after),
  sweepItem: (deps, { id, finishedAt }, { org, now, attempt }) =>
    attempt.transaction(async (trx) => {
      const addedBefore = new Date(now.getTime() - patienceMs)
      const awaited = await listAwaited(trx, org, id, { addedBefore })
      await noteChanges(deps, trx, org, { conversationIds: awaited.map((conversation) => conversation.id) })
      if (finishedAt === null || awaited.length > 0) return
      await endLaunchRun(trx, org, await lockExperiment(trx, org, id), now)
    }),
})
