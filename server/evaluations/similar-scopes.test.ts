// Tests monitors with scopes that compare meanings, using a model that does not respond.

import { expect, it } from 'vitest'
import { makeConversation, makeModelProvider, makeMonitor, makeOrganization } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { serveEmbeddings } from '../../test/support/model-providers/embedding-stand-in.ts'
import { Failure } from '../../test/support/model-providers/stand-ins.ts'
import { evaluateConversations } from './lifecycle.ts'
import { scoreConversations } from './scorecards/jobs.ts'

const server = await testServer({
  EARSHOT_EMBEDDINGS: 'on',
  EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.0/8',
  EARSHOT_JUDGE_LIMITS: 'attempts=1,concurrency=4',
})
const { call, deps } = server
const { jobs } = deps

const lost = 'I lost my credit card'
const scope = { similarTo: { text: lost, minimumSimilarity: 0.5 } }

/**
 * Creates an organization with a model that can fail as configured, and two rules. One of them has `similarTo` in its
 * scope.
 */
const setUp = async (prices: object) => {
  const { key } = await makeOrganization(server)
  let isDown = false
  const standIn = await serveEmbeddings('openai-compatible', {
    answering: () => (isDown ? new Failure(500) : undefined),
  })
  const { id } = await makeModelProvider(server, key, { kind: 'openai-compatible', settings: standIn.settings, prices })
  await call('PATCH', '/v1/organization', { key, body: { embeddingModel: `${id}/embed-1` } })
  const rule = { kind: 'rule', definition: { expression: 'true' } }
  const plain = await makeMonitor(server, key, { ...rule, name: 'Plain' })
  const similar = await makeMonitor(server, key, { ...rule, name: 'Similar', scope })
  const resultsOf = async (monitor: { id: string }) =>
    (await call('GET', `/v1/monitors/${monitor.id}/results`, { key })).body.data.map(
      ({ conversationId, status }: { conversationId: string; status: string }) => ({ conversationId, status }),
    )
  return {
    key,
    plain,
    results: async () => ({ plain: await resultsOf(plain), similar: await resultsOf(similar) }),
    setDown: (value: boolean) => {
      isDown = value
    },
  }
}

const said = (text: string) => ({ transcript: [{ role: 'customer', text }] })
const evaluate = (delayed = false) => jobs.drain([evaluateConversations, scoreConversations], deps, { delayed })
const priced = { 'embed-1': { input: 2, output: 0 } }

it('other monitors run while the model is down, and those that compare meanings run later', async () => {
  const { key, plain, results, setDown } = await setUp(priced)
  const definition = { sections: [{ name: 'All', items: [{ monitorId: plain.id, points: 1 }] }], affectedBelow: 80 }
  const scorecard = await makeMonitor(server, key, { kind: 'scorecard', name: 'Score', definition, scope })
  const scores = async () => (await call('GET', `/v1/monitors/${scorecard.id}/results`, { key })).body.data.length
  setDown(true)
  const { id } = await makeConversation(server, key, said(lost))
  await evaluate()
  const found = { conversationId: id, status: 'scored' }
  expect(await results()).toEqual({ plain: [found], similar: [] })
  expect(await scores()).toBe(0)
  const health = async () =>
    (await call('GET', '/v1/health', { key })).body.checks.find(({ name }: { name: string }) => name === 'evaluations')
  const retried = expect.stringContaining('monitors with similarTo in their scope will be retried, the next time at')
  expect(await health()).toMatchObject({ status: 'degraded', message: retried })
  setDown(false)
  server.clock.advance(60 * 60_000)
  await evaluate(true)
  expect(await results()).toEqual({ plain: [found], similar: [found] })
  expect(await scores()).toBe(1)
  expect(await health()).toMatchObject({ status: 'ok', message: 'No evaluation failed in the last day.' })
})

it('only models with a price wait for the budget', async () => {
  for (const [prices, isCompared] of [
    [priced, false],
    [{}, true],
  ] as const) {
    const { key, results } = await setUp(prices)
    await call('PATCH', '/v1/organization', { key, body: { monthlyJudgeBudget: 0 } })
    const { id } = await makeConversation(server, key, said(lost))
    await evaluate()
    const found = [{ conversationId: id, status: 'scored' }]
    expect(await results()).toEqual({ plain: found, similar: isCompared ? found : [] })
  }
})
