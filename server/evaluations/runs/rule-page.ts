import type { OrgId } from '../../platform/db/database.ts'
import type { Subject } from '../asked.ts'
import type { EvaluationDeps } from '../deps.ts'
import { storeFailures } from '../failures.ts'
import { listSubjects } from '../queries.ts'
import { evaluateRules } from '../rules.ts'
import { storeResults } from '../store.ts'
import { type PageTask, patientAttempts } from './judge-page.ts'

/** A rule costs nothing, so it is asked anew also where it was answered: metrics and metadata may have come since. */
export const rulePage = async (
  deps: EvaluationDeps,
  org: OrgId,
  { monitor, ids, attempt }: PageTask,
): Promise<undefined> => {
  const readAt = deps.clock.now()
  const found = await listSubjects(deps.db, org, ids)
  const { signal } = attempt
  const evaluate = async (subjects: Subject[]) => {
    const task = { monitors: [monitor], subjects, asked: () => true, readAt, signal }
    const evaluation = await evaluateRules(deps, org, task)
    await attempt.transaction((trx) => storeResults(deps, trx, org, evaluation))
  }
  if (attempt.number <= patientAttempts) return void (await evaluate(found))
  for (const subject of found) {
    try {
      await evaluate([subject])
    } catch (error) {
      if (signal.aborted) throw error
      const failed = { monitors: [monitor], conversationId: subject.id }
      await attempt.transaction((trx) => storeFailures(deps, trx, org, failed))
    }
  }
}
