import { describe, expect, it } from 'vitest'
import { makeConversation, makeOrganization } from '../../../test/make.ts'
import { serverWithModel } from '../../../test/support/evaluations/evaluations.ts'
import { draft, serverOfTrials } from '../../../test/support/evaluations/trials.ts'
import { answer } from '../../../test/support/monitors/model-server.ts'
import { getMonitor } from '../../monitors/queries.ts'
import { orgIdOf } from '../../platform/ids.ts'
import { listSubjects } from '../queries.ts'
import { askMonitor } from './run-trial.ts'

const { server, call, testDraft, makeCall, makeJudge, asked, answerBy, spendingOf } = await serverOfTrials()

/** Tests a monitor on an organization's conversations until the signal aborts. */
const askUntil = async (signal: AbortSignal, organization: string, monitorId: string, ids: string[]) => {
  // The service assigned the ID, so it is valid.
  const org = orgIdOf(organization)
  const { db, clock } = server.deps
  return askMonitor(server.deps, org, {
    monitor: await getMonitor(db, org, monitorId),
    subjects: await listSubjects(db, org, ids),
    readAt: clock.now(),
    signal,
  })
}

describe('a test of a judge', () => {
  it('is limited by the monthly budget, which it uses up', async () => {
    const { key } = await makeOrganization(server)
    await call('PATCH', '/v1/organization', { key, body: { monthlyJudgeBudget: 3 } })
    for (const word of ['One.', 'Two.', 'Three.']) await makeCall(key, word)
    answerBy(() => answer())
    const { status, body } = await testDraft(key, draft)
    expect(status).toBe(200)
    // Each request costs 2, so the second one starts while some budget is left.
    expect(body.data).toMatchObject([
      { status: 'scored' },
      { status: 'scored' },
      { status: 'failed', asked: true, reasoning: 'the monthly judge budget is used up' },
    ])
    expect(body.summary).toMatchObject({ notAffected: 2, failed: 1, cost: 4 })
    expect(await spendingOf(key)).toMatchObject({ judgements: 2, cost: 4, budgetLeft: 0 })
    const again = await testDraft(key, draft)
    expect(again.body.summary).toMatchObject({ failed: 3, tokens: null, cost: null })
    expect(asked).toHaveLength(2)
  })

  it('ends when its caller disconnects', async () => {
    const { key } = await makeOrganization(server)
    for (const word of ['One.', 'Two.', 'Three.']) await makeCall(key, word)
    const caller = new AbortController()
    const release = Promise.withResolvers<void>()
    answerBy(async ({ transcript }) => {
      if (!transcript.includes('Two')) return answer()
      caller.abort()
      await release.promise
      return answer()
    })
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const body = JSON.stringify(draft)
    const url = `${server.origin}/v1/monitors/test`
    await expect(fetch(url, { method: 'POST', headers, body, signal: caller.signal })).rejects.toThrow('aborted')
    // The endpoint handles one request at a time, so this response shows that the test has released the endpoint.
    const { key: other } = await makeOrganization(server)
    await makeCall(other, 'Four.')
    expect((await testDraft(other, draft)).body.summary).toMatchObject({ notAffected: 1 })
    release.resolve()
    const said = asked.map(({ transcript }) =>
      ['One', 'Two', 'Three', 'Four'].find((word) => transcript.includes(word)),
    )
    expect(said).toEqual(['Three', 'Two', 'Four'])
    expect(await spendingOf(key)).toMatchObject({ judgements: 1, cost: 2 })
  })

  it('keeps results that arrived in time, and says so about the others', async () => {
    const { id: org, key } = await makeOrganization(server)
    const ids = [await makeCall(key, 'One.'), await makeCall(key, 'Two.'), await makeCall(key, 'Three.')]
    const { id } = await makeJudge(key, { enabled: false })
    const time = new AbortController()
    answerBy(({ transcript }) => {
      if (!transcript.includes('Two')) return answer()
      time.abort()
      return new Promise(() => {})
    })
    const answers = await askUntil(time.signal, org, id, ids)
    const late = { status: 'failed', result: null, reasoning: expect.stringContaining('60 seconds') }
    expect(answers).toMatchObject([
      { conversationId: ids[0], status: 'scored' },
      { conversationId: ids[1], ...late },
      { conversationId: ids[2], ...late },
    ])
    expect(await spendingOf(key)).toMatchObject({ judgements: 1 })
  })

  it('counts the cost of responses before the end, even if some are missing', async () => {
    const { id: org, key } = await makeOrganization(server)
    const ids = [await makeCall(key, 'One.')]
    const { id } = await makeJudge(key, { enabled: false })
    const time = new AbortController()
    answerBy((_asked, number) => {
      // The response is invalid, so the judge requests another one.
      if (number === 1) return 'Hm.'
      time.abort()
      return new Promise(() => {})
    })
    const answers = await askUntil(time.signal, org, id, ids)
    expect(answers).toMatchObject([{ status: 'failed', reasoning: expect.stringContaining('60 seconds') }])
    expect(await spendingOf(key)).toMatchObject({ judgements: 1, inputTokens: 1_000, outputTokens: 100, cost: 2 })
  })

  it('sends as many requests at once as the endpoint allows', async () => {
    const three = await serverWithModel({ EARSHOT_JUDGE_LIMITS: 'attempts=1,concurrency=3' })
    const { key } = await makeOrganization(three.server)
    const transcript = [{ role: 'agent', text: 'Hello.' }]
    for (let count = 0; count < 4; count++) await makeConversation(three.server, key, { transcript })
    const all = Promise.withResolvers<void>()
    let present = 0
    let most = 0
    three.answerBy(async () => {
      present++
      most = Math.max(most, present)
      if (present === 3) all.resolve()
      await all.promise
      present--
      return answer()
    })
    const { body } = await three.server.call('POST', '/v1/monitors/test', { key, body: draft })
    expect(body.summary).toMatchObject({ notAffected: 4, cost: 8 })
    expect(most).toBe(3)
  })
})
