// Creates judged conversations in both halves of an alignment.
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { alignMonitor } from '../../server/alignments/lifecycle.ts'
import { type Half, halfOf } from '../../server/alignments/split.ts'
import { insertMonitor, insertMonitorVersion } from '../../server/monitors/queries.ts'
import { newId, orgIdOf } from '../../server/platform/ids.ts'
import { makeConversations } from '../make.ts'
import type { TestServer } from '../server.ts'

type Verdict = 'affected' | 'not_affected'

export type Judged = { id: string; half: Half; verdict: Verdict; reviewId: string }

/** Returns customers with conversations in a half. */
export const customersIn = (org: string, half: Half, count: number): string[] => {
  const found: string[] = []
  for (let at = 0; found.length < count; at++) {
    const customerId = `customer-${at}`
    if (halfOf(org, { id: org, customerId }) === half) found.push(customerId)
  }
  return found
}

export type TurnContext = { half: Half; verdict: Verdict; at: number }

type JudgedOptions = {
  monitorId: string
  perHalf?: number
  /** The agent's words. */
  say?: (said: TurnContext) => string
  /** The reviewer's comment on the judgment. */
  comment?: (said: TurnContext) => string | null
}

/** Reviews conversations as the organization's first member. */
export const makeJudgments = async (
  { deps: { db } }: TestServer,
  org: string,
  judged: { id: string; verdict: Verdict; comment: string | null }[],
  { monitorId, userId, completedAt = new Date() }: { monitorId: string; userId?: string; completedAt?: Date },
): Promise<string[]> => {
  const reviewIds = judged.map(() => newId())
  await sql`
    INSERT INTO reviews (organization_id, id, conversation_id, reviewer_user_id, status, completed_at)
    SELECT ${org}, g.id, g.conversation_id,
      coalesce(${userId ?? null}::uuid, (SELECT user_id FROM members WHERE organization_id = ${org} ORDER BY id LIMIT 1)),
      'completed', ${completedAt}::timestamptz
    FROM unnest(${reviewIds}::uuid[], ${judged.map(({ id }) => id)}::uuid[]) AS g(id, conversation_id)`.execute(db)
  await sql`
    INSERT INTO review_judgments (organization_id, review_id, monitor_id, monitor_version, correct_result, comment)
    SELECT ${org}, g.id, ${monitorId}, 1, g.verdict, g.comment
    FROM unnest(${reviewIds}::uuid[], ${judged.map(({ verdict }) => verdict)}::text[],
      ${judged.map(({ comment }) => comment)}::text[]) AS g(id, verdict, comment)`.execute(db)
  return reviewIds
}

/** Creates this many judged conversations in each half, half of them affected. */
export const makeJudged = async (
  server: TestServer,
  { id: org, key }: { id: string; key: string },
  { monitorId, perHalf = 20, say = ({ verdict }) => `It is ${verdict}.`, comment = () => null }: JudgedOptions,
): Promise<Judged[]> => {
  const planned = (['tuning', 'test'] as const).flatMap((half) =>
    customersIn(org, half, perHalf).map((customerId, at) => {
      const verdict: Verdict = at % 2 === 0 ? 'affected' : 'not_affected'
      return { customerId, said: { half, verdict, at } }
    }),
  )
  const ids = await makeConversations(
    server,
    key,
    planned.map(({ customerId, said }) => ({
      customerId,
      transcript: [
        { role: 'agent', text: 'Good morning, this is Leo.' },
        { role: 'customer', text: 'I want my money back.' },
        { role: 'agent', text: say(said) },
      ],
    })),
  )
  const made = planned.map(({ said }, at) => ({ id: ids[at] ?? '', ...said }))
  const reviewIds = await makeJudgments(
    server,
    org,
    made.map(({ id, verdict, ...said }) => ({ id, verdict, comment: comment({ verdict, ...said }) })),
    { monitorId },
  )
  return made.map(({ id, half, verdict }, at) => ({ id, half, verdict, reviewId: reviewIds[at] ?? '' }))
}

const scoring = {
  criteria: 'How rude is the agent?',
  output: { type: 'score', min: 0, max: 10, affectedWhen: { op: 'gte', value: 7 } },
}

/**
 * Creates a disabled judge that is too strict, with results and judgments. It is written to the database, so it needs
 * no model.
 */
export const makeAlignable = async (server: TestServer, key: string) => {
  const { db } = server.deps
  // The service has just returned this ID, so it is valid.
  const org = orgIdOf((await server.call('GET', '/v1/me', { key })).body.organization.id)
  const monitorId = newId()
  const monitor = { id: monitorId, name: `Judge ${randomUUID()}`, description: null, kind: 'judge' as const }
  await db.transaction().execute(async (trx) => {
    await insertMonitor(trx, org, { ...monitor, enabled: false, scope: {}, samplePercent: 100 })
    await insertMonitorVersion(trx, org, monitorId, 1, scoring)
  })
  const judged = await makeJudged(server, { id: org, key }, { monitorId })
  await sql`
    INSERT INTO monitor_results (organization_id, monitor_id, monitor_version, conversation_id, call_started_at, status,
      result, score, evidence, evaluator, evaluated_at)
    SELECT c.organization_id, ${monitorId}, 1, c.id, c.started_at, 0, 0, g.score, '[{"turn": 2, "quote": "It is"}]', 'judge',
      ${new Date()}::timestamptz
    FROM unnest(${judged.map(({ id }) => id)}::uuid[],
      ${judged.map(({ verdict }) => (verdict === 'affected' ? 6 : 2))}::float8[]) AS g(id, score)
    JOIN conversations c ON c.organization_id = ${org} AND c.id = g.id`.execute(db)
  return { monitorId, judged }
}

/** Starts an alignment that needs no model. */
export const makeAlignment = async (server: TestServer, key: string) => {
  const { monitorId } = await makeAlignable(server, key)
  const body = { proposals: ['threshold'] }
  const answer = await server.call('POST', `/v1/monitors/${monitorId}/alignments`, { key, body })
  if (answer.status !== 202) throw new Error(`expected 202, got ${answer.status}: ${answer.text}`)
  return { id: answer.body.id as string, monitorId }
}

export const makeCompletedAlignment = async (server: TestServer, key: string) => {
  const made = await makeAlignment(server, key)
  await server.deps.jobs.drain([alignMonitor], server.deps)
  return made
}
