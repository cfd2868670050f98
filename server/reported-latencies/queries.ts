import { sql } from 'kysely'
import { measureAt } from '../filters/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Page } from '../platform/http/paging.ts'

type Range = { since: Date; until: Date }

const difference = measureAt('sound', ['reportedLatencyDifferenceMs'])

export const listOrganizationsWithSoundAllOrgs = (db: Db) =>
  db.selectFrom('recording_sounds').select(sql<OrgId>`organization_id`.as('id')).distinct().execute()

/** Lists the agents that have calls in this period with both reported and measured response times. */
export const listComparedAgents = (db: Db, org: OrgId, { since, until }: Range, { limit, after }: Page) =>
  db
    .selectFrom('conversations')
    .select('conversations.agent_id as id')
    .distinct()
    .where('conversations.organization_id', '=', org)
    .where('conversations.started_at', '>=', since)
    .where('conversations.started_at', '<', until)
    .where(difference, 'is not', null)
    .$if(after !== undefined, (query) => query.where('conversations.agent_id', '>', after as string))
    .orderBy('conversations.agent_id')
    .limit(limit)
    .execute()

/** Lists an agent's newest differences, with the day on which each call started. */
export const listDifferences = (db: Db, org: OrgId, agentId: string, { since, until }: Range, limit: number) =>
  db
    .selectFrom('conversations')
    .select([
      sql<number>`floor(extract(epoch FROM conversations.started_at) / 86400)::integer`.as('day'),
      sql<number>`${difference}`.as('ms'),
    ])
    .where('conversations.organization_id', '=', org)
    .where('conversations.agent_id', '=', agentId)
    .where('conversations.started_at', '>=', since)
    .where('conversations.started_at', '<', until)
    .where(difference, 'is not', null)
    .orderBy('conversations.started_at', 'desc')
    .limit(limit)
    .execute()

/** Lists an agent's newest calls with a difference at least this large, in the same direction. */
export const listExamples = async (
  db: Db,
  org: OrgId,
  agentId: string,
  { since, until, leastMs, limit }: Range & { leastMs: number; limit: number },
): Promise<string[]> => {
  const rows = await db
    .selectFrom('conversations')
    .select('conversations.id')
    .where('conversations.organization_id', '=', org)
    .where('conversations.agent_id', '=', agentId)
    .where('conversations.started_at', '>=', since)
    .where('conversations.started_at', '<', until)
    .where(leastMs > 0 ? sql<boolean>`${difference} >= ${leastMs}` : sql<boolean>`${difference} <= ${leastMs}`)
    .orderBy('conversations.started_at', 'desc')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}
