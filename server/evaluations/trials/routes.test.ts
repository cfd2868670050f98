import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { makeConversations, makeMonitor, makeOrganization } from '../../../test/make.ts'
import { testServer } from '../../../test/server.ts'
import { affectedBy, definition, draft, issuesOf, serverOfTrials } from '../../../test/support/evaluations/trials.ts'
import { answer } from '../../../test/support/monitors/model-server.ts'

const trials = await serverOfTrials()
const { server, call, testDraft, testSaved, makeCall, makeMute, makeRule, makeJudge } = trials
const { asked, answerBy, resultsOf, spendingOf } = trials

describe('a draft', () => {
  it('of a judge runs on the newest completed conversations and only stores its cost', async () => {
    const { key } = await makeOrganization(server)
    const polite = await makeCall(key, 'Gladly.')
    const rude = await makeCall(key, 'That is none of my business.')
    const mute = await makeMute(key)
    await makeCall(key, 'Wait.', { status: 'in_progress' })
    answerBy(affectedBy('none of my business'))
    const { status, body } = await testDraft(key, draft)
    expect(status).toBe(200)
    const unasked = {
      score: null,
      evidence: [],
      categories: null,
      fields: null,
      unsupportedFields: [],
      stored: null,
      judgment: null,
      flips: false,
      asked: true,
    }
    expect(body.data).toEqual([
      {
        ...unasked,
        conversationId: mute,
        status: 'unscored',
        result: null,
        reasoning: 'there is no transcript',
      },
      {
        ...unasked,
        conversationId: rude,
        status: 'scored',
        result: 'affected',
        reasoning: 'It shows.',
        evidence: [{ turn: 2, quote: 'none of my business' }],
      },
      { ...unasked, conversationId: polite, status: 'scored', result: 'not_affected', reasoning: 'It shows.' },
    ])
    expect(body.summary).toEqual({
      affected: 1,
      notAffected: 1,
      unscored: 1,
      failed: 0,
      notAsked: 0,
      flips: { toAffected: 0, toNotAffected: 0, toUnscored: 0 },
      people: { judged: 0, agreeBefore: 0, agreeNow: 0 },
      tokens: { input: 2_000, output: 200 },
      cost: 4,
    })
    expect(asked).toHaveLength(2)
    expect(await spendingOf(key)).toMatchObject({ judgements: 2, inputTokens: 2_000, outputTokens: 200, cost: 4 })
    await server.drain()
    for (const id of [polite, rude, mute]) expect(await resultsOf(key, id)).toEqual([])
    expect((await call('GET', '/v1/monitors', { key })).body.data).toEqual([])
  })

  it('runs on the listed conversations in their order, or on the newest ones that match the filter', async () => {
    const { key } = await makeOrganization(server)
    const [first, second, third] = [
      await makeCall(key, 'One.'),
      await makeCall(key, 'Two.', { metadata: { plan: 'gold' } }),
      await makeCall(key, 'Three.', { metadata: { plan: 'gold' } }),
    ]
    await makeCall(key, 'Four.', { status: 'in_progress' })
    answerBy(() => answer())
    const triedBy = async (body: object) =>
      (await testDraft(key, { ...draft, ...body })).body.data.map(
        (one: { conversationId: string }) => one.conversationId,
      )
    expect(await triedBy({ conversationIds: [second.toUpperCase(), third, first] })).toEqual([second, third, first])
    expect(await triedBy({})).toEqual([third, second, first])
    expect(await triedBy({ limit: 1 })).toEqual([third])
    const filter = { metadata: [{ key: 'plan', op: 'eq', value: 'gold' }] }
    expect(await triedBy({ filter })).toEqual([third, second])
    expect(await triedBy({ filter: { text: 'two' } })).toEqual([second])
    expect(await triedBy({ filter: { statuses: ['in_progress', 'completed'] }, limit: 2 })).toEqual([third, second])
    expect(await triedBy({ filter: { statuses: ['failed'] } })).toEqual([])
  })

  it('does not run, and costs nothing, outside of its scope', async () => {
    const { key } = await makeOrganization(server)
    const chat = await makeCall(key, 'Hello.', { channel: 'chat' })
    const phone = await makeCall(key, 'Hello.')
    answerBy(affectedBy('Hello'))
    const { body } = await testDraft(key, { ...draft, scope: { channels: ['chat'] } })
    expect(body.data).toMatchObject([
      { conversationId: phone, asked: false, status: null, result: null, reasoning: null, evidence: [], flips: false },
      { conversationId: chat, asked: true, status: 'scored', result: 'affected' },
    ])
    expect(body.summary).toMatchObject({ affected: 1, notAsked: 1, cost: 2 })
    expect(asked).toHaveLength(1)
  })
})

describe('a test of a rule', () => {
  const ofRule = (expression: string, score?: string) => ({ kind: 'rule', definition: { expression, score } })

  it('returns evidence, score, and unknown values, costs nothing, and stores nothing', async () => {
    const { key } = await makeOrganization(server)
    const rude = await makeCall(key, 'That is none of my business.', { metadata: { plan: 'gold' } })
    const polite = await makeCall(key, 'Gladly.', { metadata: { plan: 'gold' } })
    const mute = await makeMute(key)
    const expression = "turns.by('agent').mentions('none of my business')"
    const { body } = await testDraft(key, ofRule(expression, 'turns.size()'))
    expect(body.data).toMatchObject([
      { conversationId: mute, status: 'unscored', result: null, reasoning: expect.stringContaining('transcript') },
      { conversationId: polite, status: 'scored', result: 'not_affected', score: 3, evidence: [] },
      { conversationId: rude, status: 'scored', result: 'affected', score: 3, evidence: [{ turn: 2 }] },
    ])
    expect(body.summary).toMatchObject({ affected: 1, notAffected: 1, unscored: 1, tokens: null, cost: null })
    await server.drain()
    expect(await resultsOf(key, rude)).toEqual([])
    expect(await spendingOf(key)).toMatchObject({ judgements: 0 })
  })

  it('runs on up to 200 conversations and shows what would change', async () => {
    const { key } = await makeOrganization(server)
    const { id } = await makeRule(key, 'metadata.number > 150')
    const each = Array.from({ length: 201 }, (_, number) => ({
      startedAt: new Date(Date.parse('2026-11-20T09:00:00Z') + number * 1_000),
      metadata: { number },
    }))
    const ids = await makeConversations(server, key, each)
    await server.drain()
    const { body } = await testSaved(key, id, { definition: { expression: 'metadata.number > 100' }, limit: 200 })
    const newestFirst = ids.reverse()
    expect(body.data.map((one: { conversationId: string }) => one.conversationId)).toEqual(newestFirst.slice(0, 200))
    expect(body.summary).toMatchObject({
      affected: 100,
      notAffected: 100,
      failed: 0,
      flips: { toAffected: 50, toNotAffected: 0, toUnscored: 0 },
    })
    expect(body.data[0]).toMatchObject({ result: 'affected', stored: { monitorVersion: 1, result: 'affected' } })
    const named = await testSaved(key, id, { conversationIds: newestFirst.slice(-21) })
    expect(named.body.summary).toMatchObject({ notAffected: 21, flips: { toAffected: 0 } })
    const stored = await call('GET', `/v1/monitors/${id}/results?result=affected&limit=200`, { key })
    expect(stored.body.data).toHaveLength(50)
  })

  it('is rejected like creating the monitor, with the position of the fault', async () => {
    const { key } = await makeOrganization(server)
    const { id } = await makeRule(key, 'true')
    for (const expression of ['signals.tolFailures > 0', '1 +', 'turns.size()']) {
      const faulty = ofRule(expression)
      const issues = issuesOf(await testDraft(key, faulty))
      expect(issues).toEqual([{ path: 'definition.expression', message: expect.stringMatching(/^line 1, column/) }])
      expect(issuesOf(await call('POST', '/v1/monitors', { key, body: { name: 'One', ...faulty } }))).toEqual(issues)
      expect(issuesOf(await testSaved(key, id, { definition: faulty.definition }))).toEqual(issues)
    }
  })
})

describe('a test', () => {
  it('is rejected with all faults, and calls no model', async () => {
    const { key } = await makeOrganization(server)
    const stranger = await makeOrganization(server)
    const mine = await makeCall(key, 'Hello.')
    const foreign = await makeCall(stranger.key, 'Hello.')
    const open = await makeCall(key, 'Hello.', { status: 'in_progress' })
    const { id } = await makeJudge(key)
    answerBy(() => answer())
    const ids = (count: number) => Array.from({ length: count }, () => randomUUID())
    const absent = 'must be a completed conversation of this organization'
    const cases: [object, { path: string; message: unknown }[]][] = [
      [{ conversationIds: [mine, foreign] }, [{ path: 'conversationIds[1]', message: absent }]],
      [
        { conversationIds: [randomUUID(), open, mine] },
        [
          { path: 'conversationIds[0]', message: absent },
          { path: 'conversationIds[1]', message: absent },
        ],
      ],
      [{ conversationIds: [mine, mine.toUpperCase()] }, [{ path: 'conversationIds[1]', message: 'is listed twice' }]],
      [{ conversationIds: [] }, [{ path: 'conversationIds', message: expect.any(String) }]],
      [{ conversationIds: ids(21) }, [{ path: 'conversationIds', message: expect.stringMatching(/20 for a judge/) }]],
      [{ conversationIds: ids(201) }, [{ path: 'conversationIds', message: expect.stringContaining('200') }]],
      [{ limit: 21 }, [{ path: 'limit', message: 'must be at most 200 for a rule and 20 for a judge' }]],
      [{ limit: 201 }, [{ path: 'limit', message: 'must be at most 200' }]],
      [{ limit: 0 }, [{ path: 'limit', message: 'must be at least 1' }]],
      [
        { conversationIds: [mine], filter: {}, limit: 1 },
        [
          { path: 'filter', message: 'cannot be combined with conversationIds' },
          { path: 'limit', message: 'cannot be combined with conversationIds' },
        ],
      ],
      [{ filter: { text: '?' } }, [{ path: 'filter.text', message: expect.any(String) }]],
      [
        { scope: { metadata: [{ key: 'plan', op: 'eq' }] } },
        [{ path: 'scope.metadata[0].value', message: 'is required for eq' }],
      ],
      [
        {
          definition: {
            ...definition,
            output: { type: 'score', min: 1, max: 1, affectedWhen: { op: 'gt', value: 1 } },
          },
        },
        [{ path: 'definition.output.max', message: 'must be greater than min' }],
      ],
      [{ definition: { output: { type: 'boolean' } } }, [{ path: 'definition.criteria', message: 'is required' }]],
    ]
    for (const [fields, issues] of cases) {
      expect(issuesOf(await testDraft(key, { ...draft, ...fields })), JSON.stringify(fields)).toEqual(issues)
      expect(issuesOf(await testSaved(key, id, fields)), JSON.stringify(fields)).toEqual(issues)
    }
    const external = await testDraft(key, { kind: 'external', definition: {} })
    expect(issuesOf(external)).toEqual([{ path: 'kind', message: 'must be one of rule, judge' }])
    expect(asked).toHaveLength(0)
    expect((await testSaved(stranger.key, id, {})).status).toBe(404)
  })

  it('of an external monitor, or of a judge without a model, is rejected with what to do', async () => {
    const { key } = await makeOrganization(server)
    const { id } = await makeMonitor(server, key)
    const external = await testSaved(key, id, {})
    expect(external).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('does not evaluate external monitors') },
    })
    const without = await testServer()
    const { key: other } = await makeOrganization(without)
    const answered = await without.call('POST', '/v1/monitors/test', { key: other, body: draft })
    const created = await without.call('POST', '/v1/monitors', { key: other, body: { name: 'One', ...draft } })
    expect(answered).toMatchObject({ status: 409, body: created.body })
  })

  it('is in the audit log', async () => {
    const { key } = await makeOrganization(server)
    const { id } = await makeJudge(key)
    await testDraft(key, draft)
    await testSaved(key, id, {})
    const { body } = await call('GET', '/v1/audit-events?limit=2', { key })
    expect(body.data).toMatchObject([
      { action: 'monitor.test', targets: [{ type: 'monitor', id }] },
      { action: 'monitor.test', targets: [] },
    ])
  })
})
