import { sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'

export type Spent = { judgements: number; input: number; output: number; cost: number; audioSeconds?: number }

/** Adds spending in the transaction that stores the paid results. If the results are lost, there is no transaction. */
export const addSpending = async (trx: Db, org: OrgId, month: string, spent: Spent): Promise<void> => {
  const { audioSeconds = 0 } = spent
  if (spent.judgements + spent.input + spent.output + audioSeconds === 0) return
  await sql`
    INSERT INTO judge_spending AS s
      (organization_id, month, judgements, input_tokens, output_tokens, cost, audio_seconds)
    VALUES (${org}, ${month}::date, ${spent.judgements}, ${spent.input}, ${spent.output}, ${spent.cost}, ${audioSeconds})
    ON CONFLICT ON CONSTRAINT judge_spending_pkey DO UPDATE SET
      judgements = s.judgements + excluded.judgements, input_tokens = s.input_tokens + excluded.input_tokens,
      output_tokens = s.output_tokens + excluded.output_tokens, cost = s.cost + excluded.cost,
      audio_seconds = s.audio_seconds + excluded.audio_seconds`.execute(trx)
}

/**
 * Changes the reserved cost of requests that were sent but not answered yet. Locks the month until the transaction
 * ends, so that reservations are made one after the other.
 */
export const addReservation = (trx: Db, org: OrgId, month: string, cost: number) =>
  sql`
    INSERT INTO judge_spending AS s (organization_id, month, judgements, input_tokens, output_tokens, cost, reserved_cost)
    VALUES (${org}, ${month}::date, 0, 0, 0, 0, ${cost})
    ON CONFLICT ON CONSTRAINT judge_spending_pkey DO UPDATE SET
      reserved_cost = greatest(s.reserved_cost + excluded.reserved_cost, 0)`.execute(trx)

export const getSpending = async (db: Db, org: OrgId, month: string) => {
  const row = await db
    .selectFrom('organizations as o')
    .leftJoin('judge_spending as s', (join) =>
      join.onRef('s.organization_id', '=', 'o.id').on('s.month', '=', sql<Date>`${month}::date`),
    )
    .select([
      sql<number>`coalesce(s.judgements, 0)::float8`.as('judgements'),
      sql<number>`coalesce(s.input_tokens, 0)::float8`.as('inputTokens'),
      sql<number>`coalesce(s.output_tokens, 0)::float8`.as('outputTokens'),
      sql<number>`coalesce(s.cost, 0)`.as('cost'),
      sql<number>`coalesce(s.audio_seconds, 0)`.as('audioSeconds'),
      // greatest() ignores null, so a missing budget would become 0.
      sql<number | null>`CASE WHEN o.monthly_judge_budget IS NOT NULL
        THEN greatest(o.monthly_judge_budget::float8 - coalesce(s.cost, 0) - coalesce(s.reserved_cost, 0), 0) END`.as(
        'budgetLeft',
      ),
    ])
    .where('o.id', '=', org)
    .executeTakeFirst()
  return row ?? { judgements: 0, inputTokens: 0, outputTokens: 0, cost: 0, audioSeconds: 0, budgetLeft: null }
}
