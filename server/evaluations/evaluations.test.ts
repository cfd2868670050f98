import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { makeConversation, makeConversations, makeMonitor, makeOrganization } from '../../test/make.ts'
import { impolite, serverWithModel, turns } from '../../test/support/evaluations/evaluations.ts'
import { answer, Refusal } from '../../test/support/monitors/model-server.ts'
import { jobList } from '../worker.ts'

const { server, resultsOf, asked, answerBy, makeRule, makeJudge } = await serverWithModel()

/** Adds a later part to an existing conversation's transcript. */
const makeMore = (key: string, externalId: string, fields: object) =>
  server.call('POST', '/v1/conversations', {
    key,
    body: {
      externalId,
      agent: { externalId: 'leo', name: 'Leo', channel: 'voice' },
      channel: 'call',
      startedAt: '2026-11-20T09:00:00.000Z',
      ...fields,
    },
  })

describe('a completed conversation', () => {
  it('is evaluated by every monitor that applies, with attributed and explained results', async () => {
    answerBy(() => impolite())
    const { key } = await makeOrganization(server)
    const refund = await makeRule(key, "turns.exists(t, t.text.contains('money back'))")
    const gold = await makeRule(key, "metadata.plan == 'gold'")
    const judge = await makeJudge(key)
    await makeRule(key, 'true', { scope: { channels: ['chat'] } })
    await makeRule(key, 'true', { samplePercent: 0 })
    await makeRule(key, 'true', { enabled: false })
    await makeMonitor(server, key)
    const { id } = await makeConversation(server, key, { transcript: turns, metadata: { plan: 'silver' } })
    await server.drain()
    const results = await resultsOf(key, id)
    expect(Object.fromEntries(results.map((row: { monitorId: string }) => [row.monitorId, row]))).toMatchObject({
      [refund.id]: { status: 'scored', result: 'affected', monitorVersion: 1, evaluator: 'rule', tokens: null },
      [gold.id]: { status: 'scored', result: 'not_affected' },
      [judge.id]: {
        status: 'scored',
        result: 'affected',
        evidence: [{ turn: 2, quote: 'none of my business' }],
        evaluator: 'openai-compatible:model-1',
        tokens: { input: 1_000, output: 100 },
        cost: 2,
      },
    })
    expect(results).toHaveLength(3)
    const { body } = await server.call('GET', '/v1/organization', { key })
    expect(body.judgeSpending).toMatchObject({
      judgements: 1,
      inputTokens: 1_000,
      outputTokens: 100,
      cost: 2,
      budgetLeft: null,
    })
  })

  it('has the categories and fields of rules, which follow its metrics', async () => {
    const { key } = await makeOrganization(server)
    const definition = {
      expression: 'false',
      categories: "{'refund': turns.mentions('money back'), 'unhappy': has(metrics.csat) && metrics.csat < 3}",
      fields: "{'plan': metadata.plan, 'csat': metrics.csat, 'turns': turns.size()}",
    }
    const monitor = await makeMonitor(server, key, { kind: 'rule', definition })
    const { id } = await makeConversation(server, key, { transcript: turns, metadata: { plan: 'gold' } })
    await server.drain()
    const stored = {
      monitorId: monitor.id,
      status: 'scored',
      result: 'not_affected',
      evidence: [{ turn: 1, quote: 'money back' }],
      categories: ['refund'],
      fields: { plan: 'gold', csat: null, turns: 3 },
      unsupportedFields: [],
      notApplicable: false,
    }
    expect(await resultsOf(key, id)).toMatchObject([stored])
    await server.call('PUT', `/v1/conversations/${id}/metrics/csat`, { key, body: { value: 1 } })
    await server.drain()
    expect(await resultsOf(key, id)).toMatchObject([
      { ...stored, categories: ['refund', 'unhappy'], fields: { plan: 'gold', csat: 1, turns: 3 } },
    ])
  })

  it('without a readable transcript is unscored and costs nothing', async () => {
    answerBy(() => impolite())
    const { key } = await makeOrganization(server)
    await makeRule(key, "turns.exists(t, t.text.contains('x'))")
    await makeJudge(key)
    const none = await makeConversation(server, key)
    const odd = await makeConversation(server, key, { transcript: { what: 'is this' } })
    await server.drain()
    for (const { id } of [none, odd]) {
      const results = await resultsOf(key, id)
      expect(results.map((row: { status: string }) => row.status)).toEqual(['unscored', 'unscored'])
      for (const { reasoning } of results) expect(reasoning).toMatch(/transcript/)
    }
    expect(asked).toHaveLength(0)
  })

  it('is evaluated when it completes, and again when its transcript changes', async () => {
    const { key } = await makeOrganization(server)
    const monitor = await makeRule(key, 'turns.size() > 2')
    const externalId = randomUUID()
    const { id } = await makeConversation(server, key, {
      externalId,
      status: 'in_progress',
      transcript: turns.slice(0, 2),
    })
    await server.drain()
    expect(await resultsOf(key, id)).toEqual([])
    await makeMore(key, externalId, { status: 'completed' })
    await server.drain()
    expect(await resultsOf(key, id)).toMatchObject([{ monitorId: monitor.id, result: 'not_affected' }])
    await makeMore(key, externalId, { status: 'completed', transcript: turns })
    await server.drain()
    expect(await resultsOf(key, id)).toMatchObject([{ monitorId: monitor.id, result: 'affected' }])
  })

  it('is evaluated by the current version, and results of older ones stay', async () => {
    const { key } = await makeOrganization(server)
    const { id: monitorId } = await makeRule(key, 'turns.size() > 2')
    const first = await makeConversation(server, key, { transcript: turns })
    await server.drain()
    await server.call('PATCH', `/v1/monitors/${monitorId}`, {
      key,
      body: { definition: { expression: 'turns.size() > 9' } },
    })
    const second = await makeConversation(server, key, { transcript: turns })
    await server.drain()
    expect(await resultsOf(key, first.id)).toMatchObject([{ monitorVersion: 1, result: 'affected' }])
    expect(await resultsOf(key, second.id)).toMatchObject([{ monitorVersion: 2, result: 'not_affected' }])
  })

  it('is paid for once, however many jobs wait for the endpoint to recover', async () => {
    answerBy(() => new Refusal(503))
    const { key } = await makeOrganization(server)
    const judge = await makeJudge(key)
    const externalId = randomUUID()
    const { id } = await makeConversation(server, key, { externalId, transcript: turns.slice(0, 2) })
    await server.drain()
    server.clock.advance(1_000)
    await makeMore(key, externalId, { transcript: turns })
    await server.drain()
    server.clock.advance(3_600_000)
    answerBy(() => impolite())
    const body = { since: '2026-11-01T00:00:00Z', until: '2026-12-01T00:00:00Z' }
    expect((await server.call('POST', `/v1/monitors/${judge.id}/evaluations`, { key, body })).status).toBe(202)
    await server.deps.jobs.drain(jobList, server.deps, { delayed: true })
    expect(asked).toHaveLength(1)
    expect(await resultsOf(key, id)).toMatchObject([{ status: 'scored', result: 'affected' }])
    // If the conversation changes later, the judge evaluates it again.
    server.clock.advance(1_000)
    await makeMore(key, externalId, { transcript: [...turns, { role: 'customer', text: 'Goodbye.' }] })
    await server.drain()
    expect(asked).toHaveLength(2)
  })

  it('is sampled by a rate and by every higher one', async () => {
    const { key } = await makeOrganization(server)
    const shares = [10, 40, 100]
    const monitors: { id: string }[] = []
    for (const samplePercent of shares) monitors.push(await makeRule(key, 'true', { samplePercent }))
    const each = Array.from({ length: 200 }, (_, at) => ({ externalId: `sampled-${at}` }))
    await makeConversations(server, key, each)
    await server.drain()
    const taken: string[][] = []
    for (const { id } of monitors) {
      const { body } = await server.call('GET', `/v1/monitors/${id}/results?limit=200`, { key })
      taken.push(body.data.map((row: { conversationId: string }) => row.conversationId) as string[])
    }
    const [tenth = [], more = [], all = []] = taken
    expect(all).toHaveLength(200)
    expect(more).toEqual(expect.arrayContaining(tenth))
    // The bound exceeds six standard deviations from the expected share.
    expect(Math.abs(more.length - 80)).toBeLessThan(42)
    expect(Math.abs(tenth.length - 20)).toBeLessThan(26)
  })

  it('of an organization without monitors, or a suspended one, is skipped', async () => {
    const without = await makeOrganization(server)
    await makeRule(without.key, 'true')
    const { id } = await makeConversation(server, without.key)
    const serviceKey = 'service-key-of-the-tests-0123456789'
    const body = { entitlements: { monitors: false } }
    await server.call('PATCH', `/v1/organizations/${without.id}`, { key: serviceKey, body })
    await server.drain()
    await server.call('PATCH', `/v1/organizations/${without.id}`, {
      key: serviceKey,
      body: { entitlements: { monitors: true } },
    })
    expect(await resultsOf(without.key, id)).toEqual([])
  })
})

describe('a monitor that fails', () => {
  it('does not block the others', async () => {
    answerBy(() => new Refusal(400))
    const { key } = await makeOrganization(server)
    const sound = await makeRule(key, 'turns.size() == 3')
    const judge = await makeJudge(key)
    const { id } = await makeConversation(server, key, { transcript: turns })
    await server.drain()
    const results = await resultsOf(key, id)
    expect(results.find((row: { monitorId: string }) => row.monitorId === sound.id)).toMatchObject({
      result: 'affected',
    })
    expect(results.find((row: { monitorId: string }) => row.monitorId === judge.id)).toMatchObject({
      status: 'failed',
      result: null,
      reasoning: expect.stringContaining('400'),
    })
  })
})

describe('judges with the same model', () => {
  it('share a request if the operator enables it, each with its result and share of the cost', async () => {
    const sharing = await serverWithModel({ EARSHOT_JUDGE_LIMITS: 'attempts=1,concurrency=4,monitorsPerRequest=5' })
    const answers = { monitor_1: impolite(), monitor_2: answer() }
    sharing.answerBy(() => answers)
    const { key } = await makeOrganization(sharing.server)
    const monitors = [await sharing.makeJudge(key), await sharing.makeJudge(key)]
    const { id } = await makeConversation(sharing.server, key, { transcript: turns })
    await sharing.server.drain()
    expect(sharing.asked).toHaveLength(1)
    const results = await sharing.resultsOf(key, id)
    expect(results.map((row: { monitorId: string }) => row.monitorId).sort()).toEqual(
      monitors.map((one) => one.id).sort(),
    )
    expect(results.map((row: { result: string }) => row.result).sort()).toEqual(['affected', 'not_affected'])
    const part = { tokens: { input: 500, output: 50 }, cost: 1 }
    expect(results).toMatchObject([part, part])
  })
})
