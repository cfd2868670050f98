import { beforeEach, expect, it } from 'vitest'
import {
  makeConversation,
  makeConversations,
  makeModelProvider,
  makeMonitor,
  makeOrganization,
} from '../../../test/make.ts'
import { testServer } from '../../../test/server.ts'
import { answerCounting } from '../../../test/support/model-providers/counted-model.ts'
import { type Answering, serveProvider, standInModel } from '../../../test/support/model-providers/stand-ins.ts'
import { makeConversation as makeDemoConversation } from '../../demo/conversation.ts'
import { boundSample } from './estimate.ts'

const server = await testServer({ EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.0/8' })
const { call } = server

let key: string
beforeEach(async () => {
  key = (await makeOrganization(server)).key
})

/** Many models have about these price ratios. */
const prices = { [standInModel]: { input: 1, output: 8, cachedInput: 0.1, cacheWrite: 1.25 } }

const makeProvider = async (answering: Answering, limits: object = {}) => {
  const { settings } = await serveProvider('anthropic', answering)
  return makeModelProvider(server, key, { kind: 'anthropic', settings, prices, limits, isDefault: true })
}

const criteria = 'The agent was impolite: it interrupts, blames the customer, or refuses to help without a reason.'
const makeJudge = (output: object = { type: 'boolean' }) =>
  makeMonitor(server, key, { kind: 'judge', enabled: false, definition: { criteria, output } })

const maker = { seed: 7, anchor: new Date('2026-11-21T12:00:00.000Z'), days: 30, companies: [] }

/** Stores conversations from the demo: calls and chats of very different lengths, many of them with tool calls. */
const storeConversations = (count: number, { repeat = 1 } = {}): Promise<string[]> => {
  const transcripts = Array.from({ length: count }, (_, number) => makeDemoConversation(maker, number).transcript)
  const repeated = transcripts.map((turns) => Array.from({ length: repeat }, () => turns).flat())
  return makeConversations(
    server,
    key,
    repeated.map((transcript) => ({ transcript })),
  )
}

const period = { since: '2024-01-01T00:00:00Z', until: '2030-01-01T00:00:00Z' }

const start = (monitorId: string, body: object) => call('POST', `/v1/monitors/${monitorId}/evaluations`, { key, body })

type Result = { cost: number | null; tokens: { input: number; output: number } | null }

/** Runs a judge, and returns the cost. */
const run = async (monitorId: string, body: object = period) => {
  expect((await start(monitorId, body)).status).toBe(202)
  await server.drain()
  const { data } = (await call('GET', `/v1/monitors/${monitorId}/results?limit=200`, { key })).body
  const results = data as Result[]
  return {
    results: results.length,
    cost: results.reduce((sum, { cost }) => sum + (cost ?? 0), 0),
    input: results.reduce((sum, { tokens }) => sum + (tokens?.input ?? 0), 0),
    output: results.reduce((sum, { tokens }) => sum + (tokens?.output ?? 0), 0),
  }
}

/** Estimates and then runs a judge. Expects the cost to be within 20% of the estimate. */
const expectGoodEstimate = async (monitorId: string, basis: 'lengths' | 'results') => {
  const { body: estimate } = await start(monitorId, { ...period, dryRun: true })
  expect(estimate.basis).toBe(basis)
  const paid = await run(monitorId)
  const told = JSON.stringify({ estimate, paid })
  expect(paid.results, told).toBeGreaterThanOrEqual(estimate.conversations - estimate.answered)
  expect(paid.cost / estimate.cost, told).toBeGreaterThan(0.8)
  expect(paid.cost / estimate.cost, told).toBeLessThan(1.2)
}

/** Tests a judge on a few conversations, as people do before they save it. The test stores only its cost. */
const preview = (monitorId: string) => call('POST', `/v1/monitors/${monitorId}/test`, { key, body: { limit: 10 } })

it('knows the input of a model that was never asked, but not how long its answers are', async () => {
  await makeProvider(answerCounting())
  await storeConversations(60)
  const { id } = await makeJudge()
  const { body: estimate } = await start(id, { ...period, dryRun: true })
  expect(estimate).toMatchObject({ conversations: 60, basis: 'lengths', tokens: { output: 60 * 200 } })
  const paid = await run(id)
  expect(paid.input / estimate.tokens.input).toBeGreaterThan(0.8)
  expect(paid.input / estimate.tokens.input).toBeLessThan(1.2)
})

it('is close to the actual cost after a preview', async () => {
  await makeProvider(answerCounting())
  await storeConversations(60)
  const { id } = await makeJudge()
  expect((await preview(id)).status).toBe(200)
  await expectGoodEstimate(id, 'lengths')
})

it('learns from other judges how a model counts tokens, and how much it reasons', async () => {
  await makeProvider(answerCounting({ inputFactor: 1.35, thoughts: 900 }))
  const ids = await storeConversations(60)
  await run((await makeJudge()).id, { conversationIds: ids.slice(0, 8) })
  await expectGoodEstimate((await makeJudge({ type: 'boolean' })).id, 'lengths')
})

it('learns from other judges how much comes from the cache', async () => {
  await makeProvider(answerCounting({ caches: true }))
  const ids = await storeConversations(60)
  await run((await makeJudge()).id, { conversationIds: ids.slice(0, 10) })
  await expectGoodEstimate((await makeJudge()).id, 'lengths')
})

it('counts the windows of long transcripts', async () => {
  await makeProvider(answerCounting(), { contextTokens: 8_000 })
  await storeConversations(24, { repeat: 12 })
  const { id } = await makeJudge()
  await preview(id)
  await expectGoodEstimate(id, 'lengths')
})

it.each([
  ['German', 'Ich möchte meinen Termin vom Dienstag auf den Donnerstagnachmittag verschieben, falls das möglich ist. '],
  ['Japanese', '火曜日の予約を木曜日の午後に変更したいのですが、空いている時間はありますか。'],
  ['Russian', 'Я хотел бы перенести запись со вторника на четверг после обеда, если это возможно. '],
])('is close for %s', async (_, sentence) => {
  await makeProvider(answerCounting())
  const conversations = Array.from({ length: 20 }, (_one, number) => ({
    transcript: Array.from({ length: 4 + (number % 9) }, (_turn, at) => ({
      role: at % 2 === 0 ? 'agent' : 'customer',
      text: sentence.repeat(1 + ((number + at) % 4)),
    })),
  }))
  await makeConversations(server, key, conversations)
  const { id } = await makeJudge()
  await preview(id)
  await expectGoodEstimate(id, 'lengths')
})

it('uses earlier results of the same version', async () => {
  await makeProvider(answerCounting({ inputFactor: 0.8, thoughts: 300 }))
  const ids = await storeConversations(60)
  const { id } = await makeJudge()
  await run(id, { conversationIds: ids.slice(0, 25) })
  const { body: estimate } = await start(id, { ...period, dryRun: true })
  expect(estimate).toMatchObject({ conversations: 60, answered: 25, basis: 'results' })
  const before = (await call('GET', '/v1/organization', { key })).body.judgeSpending.cost
  await run(id)
  const after = (await call('GET', '/v1/organization', { key })).body.judgeSpending.cost
  expect((after - before) / estimate.cost).toBeGreaterThan(0.8)
  expect((after - before) / estimate.cost).toBeLessThan(1.2)
})

it('reads a few megabytes of transcripts at most, but at least one transcript', () => {
  const sizes = (...megabytes: number[]) => megabytes.map((size) => ({ characters: size * 1024 * 1024 }))
  expect(boundSample(sizes(3, 4, 1, 1, 1))).toEqual(sizes(3, 4, 1))
  // The transcripts after a long one are also omitted, so that short transcripts are not overrepresented.
  expect(boundSample(sizes(3, 6, 1))).toEqual(sizes(3))
  expect(boundSample(sizes(9, 1))).toEqual(sizes(9))
  expect(boundSample([])).toEqual([])
})

it('costs nothing for conversations that the model is not asked about', async () => {
  await makeProvider(answerCounting())
  await makeConversation(server, key, { transcript: undefined })
  const { body } = await start((await makeJudge()).id, { ...period, dryRun: true })
  expect(body).toMatchObject({ conversations: 1, tokens: { input: 0, output: 0 }, cost: 0 })
})
