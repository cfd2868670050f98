import { describe, expect, it } from 'vitest'
import { makeOrganization } from '../../../test/make.ts'
import { affectedBy, definition, type HumanJudgment, serverOfTrials } from '../../../test/support/evaluations/trials.ts'
import { answer, Refusal } from '../../../test/support/monitors/model-server.ts'

const trials = await serverOfTrials()
const { server, call, testSaved, makeCall, makeReview, makeJudge, asked, answerBy } = trials

describe('a monitor', () => {
  it('with another definition shows which stored results would change, and changes nothing', async () => {
    const { key } = await makeOrganization(server)
    const unjudged = await makeCall(key, 'gamma')
    await server.drain()
    const { id } = await makeJudge(key)
    answerBy(affectedBy('alpha', 'beta'))
    const alpha = await makeCall(key, 'alpha')
    const beta = await makeCall(key, 'beta')
    const gamma = await makeCall(key, 'gamma')
    const delta = await makeCall(key, 'delta')
    await server.drain()
    // The new version has no results, so the results of the previous version count.
    await call('PATCH', `/v1/monitors/${id}`, { key, body: { definition } })
    const before = (await call('GET', `/v1/monitors/${id}/results`, { key })).body
    expect(before.data).toHaveLength(4)

    answerBy(({ transcript }) =>
      transcript.includes('delta') ? answer({ result: 'unscored' }) : affectedBy('alpha', 'gamma')({ transcript }),
    )
    const { body } = await testSaved(key, id, { definition: { ...definition, criteria: 'Another one.' } })
    expect(asked[0]?.body.messages[0]?.content).toContain('Another one.')
    const stored = { monitorVersion: 1, status: 'scored', score: null }
    expect(body.data).toMatchObject([
      { conversationId: delta, status: 'unscored', stored: { ...stored, result: 'not_affected' }, flips: true },
      { conversationId: gamma, result: 'affected', stored: { ...stored, result: 'not_affected' }, flips: true },
      { conversationId: beta, result: 'not_affected', stored: { ...stored, result: 'affected' }, flips: true },
      { conversationId: alpha, result: 'affected', stored: { ...stored, result: 'affected' }, flips: false },
      { conversationId: unjudged, result: 'affected', stored: null, flips: false },
    ])
    expect(body.summary).toMatchObject({
      affected: 3,
      notAffected: 1,
      unscored: 1,
      failed: 0,
      flips: { toAffected: 1, toNotAffected: 1, toUnscored: 1 },
    })
    await server.drain()
    expect((await call('GET', `/v1/monitors/${id}/results`, { key })).body).toEqual(before)
    expect((await call('GET', `/v1/monitors/${id}`, { key })).body.currentVersion).toMatchObject({
      number: 2,
      definition,
    })

    const window = {
      since: new Date(server.clock.now().getTime() - 3_600_000),
      until: new Date(server.clock.now().getTime() + 1_000),
    }
    await call('POST', `/v1/monitors/${id}/evaluations`, { key, body: window })
    await server.drain()
    const after = await testSaved(key, id, { conversationIds: [gamma] })
    expect(after.body.data).toMatchObject([
      { result: 'affected', stored: { monitorVersion: 2, result: 'affected' }, flips: false },
    ])
  })

  it('is tested as it is by default, even if it is disabled, and whatever its sampling rate', async () => {
    const { key } = await makeOrganization(server)
    const { id } = await makeJudge(key, { enabled: false, samplePercent: 0, scope: { channels: ['call'] } })
    const phone = await makeCall(key, 'Hello.')
    const chat = await makeCall(key, 'Hello.', { channel: 'chat' })
    answerBy(affectedBy('Hello'))
    const whole = await testSaved(key, id, {})
    expect(whole.body.data).toMatchObject([
      { conversationId: chat, asked: false },
      { conversationId: phone, asked: true, result: 'affected', stored: null },
    ])
    expect(asked[0]?.body.messages[0]?.content).toContain('impolite')
    expect((await testSaved(key, id, { scope: {} })).body.summary).toMatchObject({ affected: 2, notAsked: 0 })
  })

  it("is compared with people's latest sure judgments", async () => {
    const { id: org, key } = await makeOrganization(server)
    const { id } = await makeJudge(key)
    const { id: another } = await makeJudge(key)
    const scope = { metadata: [{ key: 'away', op: 'is_not_set' }] }
    const [alpha, beta, gamma, delta] = [
      await makeCall(key, 'alpha'),
      await makeCall(key, 'beta'),
      await makeCall(key, 'gamma'),
      await makeCall(key, 'delta', { metadata: { away: 'yes' } }),
    ]
    answerBy(affectedBy('alpha', 'delta'))
    await server.drain()
    const judge = (
      conversationId: string,
      correctResult: HumanJudgment['correctResult'],
      other: Partial<HumanJudgment> = {},
    ) => makeReview(org, conversationId, { monitorId: id, correctResult, ...other })
    await judge(alpha, 'affected')
    await judge(alpha, 'not_affected')
    await judge(alpha, 'unsure')
    await judge(beta, 'not_affected')
    await judge(beta, 'affected', { isOpen: true })
    await judge(gamma, 'unsure')
    await judge(gamma, 'affected', { monitorId: another })
    await judge(delta, 'affected')
    answerBy(affectedBy('delta'))
    const { body } = await testSaved(key, id, { scope })
    expect(body.data).toMatchObject([
      { conversationId: delta, asked: false, judgment: 'affected' },
      { conversationId: gamma, judgment: null },
      { conversationId: beta, judgment: 'not_affected', result: 'not_affected' },
      { conversationId: alpha, judgment: 'not_affected', result: 'not_affected' },
    ])
    expect(body.data[3].stored).toEqual({ monitorVersion: 1, status: 'scored', result: 'affected', score: null })
    expect(body.summary.people).toEqual({ judged: 2, agreeBefore: 1, agreeNow: 2 })
  })

  it('that fails says why, and changes no result', async () => {
    const { key } = await makeOrganization(server)
    const { id } = await makeJudge(key)
    answerBy(affectedBy('Hello'))
    await makeCall(key, 'Hello.')
    await server.drain()
    // The second failure is temporary, but a test does not retry it either.
    for (const status of [400, 429]) {
      answerBy(() => new Refusal(status))
      const { body } = await testSaved(key, id, {})
      expect(body.data).toMatchObject([
        { status: 'failed', result: null, reasoning: expect.stringContaining(String(status)), flips: false },
      ])
      expect(body.summary).toMatchObject({ failed: 1, tokens: null, cost: null })
    }
  })
})
