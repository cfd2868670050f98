// Creates a random history of conversations: inserts, changes, results, metrics, and erasures, through the product's
// own code.

import { eraseConversations } from '../../../server/conversations/erasure/erase.ts'
import { noResult } from '../../../server/monitor-results/no-result.ts'
import { storeResults } from '../../../server/monitor-results/store-results.ts'
import { orgIdOf } from '../../../server/platform/ids.ts'
import { makeAgent, makeCompany, makeMonitor, makeOrganization } from '../../make.ts'
import type { SeededRandom } from '../../malformed.ts'
import type { TestServer } from '../../server.ts'

export const firstHour = new Date('2026-03-27T00:00:00Z')
export const historyDays = 4
export const historyHours = historyDays * 24
const batchSize = 40
/** With fewer conversations, days have no stored sums. */
const enough = 1_400

type ConversationInput = { externalId: string; startedAt: string; agent: string }

export const openHistory = async (server: TestServer, random: SeededRandom) => {
  const { key, id } = await makeOrganization(server)
  const org = orgIdOf(id)
  const companies = [(await makeCompany(server, key, 'A')).id, (await makeCompany(server, key, 'B')).id, undefined]
  const monitors: string[] = [(await makeMonitor(server, key)).id, (await makeMonitor(server, key)).id]
  const agents = ['leo', 'mia', 'noa']
  for (const externalId of agents) {
    const { id: agentId } = await makeAgent(server, key, { externalId })
    for (const label of ['one', 'two']) {
      const body = { systemPrompt: label, label }
      const { status, text } = await server.call('POST', `/v1/agents/${agentId}/versions`, { key, body })
      if (status !== 201) throw new Error(text)
    }
  }
  const stored: (ConversationInput & { id: string })[] = []
  let made = 0

  /** Returns a random start. Few conversations start on the second day. */
  const randomStart = () => {
    const minute = random.below(historyHours * 60)
    const day = Math.floor(minute / 1_440)
    const moved = day === 1 && random.chance(0.95) ? minute + 1_440 : minute
    return new Date(firstHour.getTime() + moved * 60_000 + random.below(60_000)).toISOString()
  }

  /** Returns the body of a conversation. The start and the agent of a stored conversation never change. */
  const conversation = ({ externalId, startedAt, agent }: ConversationInput) => ({
    externalId,
    startedAt,
    agent: { externalId: agent, name: 'Agent', channel: 'voice' },
    ...(random.chance(0.5) && { agentVersionLabel: random.pick(['one', 'two']) }),
    channel: random.pick(['call', 'chat']),
    companyId: random.pick(companies),
    ...(random.chance(0.7) && { direction: random.pick(['inbound', 'outbound']) }),
    ...(random.chance(0.9) && { durationSeconds: random.below(2_000) }),
    metadata: { plan: random.pick(['gold', 'free']) },
    ...(random.chance(0.3) && { metrics: [{ key: 'csat', value: random.pick([1, 2.5, 4, true, 'text']) }] }),
  })

  const send = async (conversations: object[]): Promise<{ id?: string; status: string }[]> => {
    const { status, text, body } = await server.call('POST', '/v1/conversations/batch', {
      key,
      body: { conversations },
    })
    if (status !== 200 || text.includes('"rejected"')) throw new Error(text)
    return body.data
  }

  const insert = async (): Promise<number> => {
    const given = Array.from({ length: batchSize }, () => ({
      externalId: `c${++made}`,
      startedAt: randomStart(),
      agent: random.pick(agents),
    }))
    const answers = await send(given.map(conversation))
    for (const [at, { id: conversationId }] of answers.entries()) {
      const one = given[at]
      if (one && conversationId) stored.push({ id: conversationId, ...one })
    }
    return batchSize
  }

  const some = (count: number) => [...new Set(Array.from({ length: count }, () => random.pick(stored)))]

  const change = async (): Promise<number> => {
    const changed = some(batchSize)
    await send(changed.map(conversation))
    return changed.length
  }

  const judge = async (): Promise<number> => {
    const results = some(batchSize).map(({ id: conversationId }) => ({
      conversationId,
      monitorId: random.pick(monitors),
      result: random.pick(['affected', 'not_affected', 'not_affected', 'unscored']),
      ...(random.chance(0.7) && { score: random.below(100) / 10 }),
    }))
    const { status, text } = await server.call('POST', '/v1/monitor-results', { key, body: { results } })
    if (status !== 200) throw new Error(text)
    return results.length
  }

  /** Stores results like judges do, with costs and response times. */
  const judgeByModel = async (): Promise<number> => {
    const monitorId = random.pick(monitors)
    const rows = some(batchSize).map(({ id: conversationId }) => {
      const isScored = random.chance(0.9)
      return {
        ...noResult,
        conversationId,
        monitorId,
        monitorVersion: 1,
        status: isScored ? ('scored' as const) : ('failed' as const),
        result: isScored ? random.pick(['affected', 'not_affected'] as const) : null,
        score: isScored && random.chance(0.5) ? random.below(10) : null,
        tokens: { input: 100, output: 10 },
        cost: random.chance(0.9) ? random.below(1_000) / 1_000_000 : null,
        responseMs: 200 + random.below(9_000),
      }
    })
    const { db, clock } = server.deps
    const evaluation = { evaluator: 'model', evaluatedAt: clock.now(), rows }
    await db.transaction().execute((trx) => storeResults(server.deps, trx, org, evaluation))
    return rows.length
  }

  const measure = async (): Promise<number> => {
    const [one] = some(1)
    const body = { value: random.below(5) }
    await server.call('PUT', `/v1/conversations/${one?.id}/metrics/csat`, { key, body })
    return 1
  }

  const erase = async (): Promise<number> => {
    const erased = some(batchSize / 4)
    const { db } = server.deps
    await db.transaction().execute((trx) =>
      eraseConversations(
        server.deps,
        trx,
        org,
        erased.map(({ id: conversationId }) => conversationId),
      ),
    )
    const gone = new Set(erased.map(({ id: conversationId }) => conversationId))
    stored.splice(0, stored.length, ...stored.filter((one) => !gone.has(one.id)))
    return erased.length
  }

  return {
    key,
    org,
    monitors,
    companies,
    /** Does something random, and returns the number of conversations that it affected. */
    step: (): Promise<number> => {
      if (stored.length < enough) return insert()
      return random.pick([insert, insert, change, judge, judge, judgeByModel, measure, erase])()
    },
  }
}

export type History = Awaited<ReturnType<typeof openHistory>>
