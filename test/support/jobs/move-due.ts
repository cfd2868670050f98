import type { Db } from '../../../server/platform/db/database.ts'

/**
 * Shifts the due time of delayed jobs with this name, or only of those with this many attempts so far. The instants are
 * computed here: on a cluster, an UPDATE of jobs can't add an interval to a column.
 */
export const moveDue = async (db: Db, name: string, byMs: number, attempt?: number): Promise<void> => {
  const delayed = await db
    .selectFrom('jobs')
    .select(['organization_id', 'id', 'due_at'])
    .where('name', '=', name)
    .where('state', '=', 'delayed')
    .$if(attempt !== undefined, (query) => query.where('attempt', '=', attempt as number))
    .execute()
  for (const job of delayed) {
    await db
      .updateTable('jobs')
      .set({ due_at: new Date(job.due_at.getTime() + byMs) })
      .where('organization_id', '=', job.organization_id)
      .where('id', '=', job.id)
      .execute()
  }
}
