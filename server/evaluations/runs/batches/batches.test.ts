import { beforeEach, describe, expect, it } from 'vitest'
import { makeConversations, makeModelProvider, makeMonitor, makeOrganization } from '../../../../test/make.ts'
import { testServer } from '../../../../test/server.ts'
import { impolite, turns } from '../../../../test/support/evaluations/evaluations.ts'
import { type Answering, serveProvider, standInModel } from '../../../../test/support/model-providers/stand-ins.ts'
import type { ProviderKind } from '../../../model-providers/settings.ts'
import { jobList } from '../../../worker.ts'

const server = await testServer({
  EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.0/8',
  EARSHOT_JUDGE_LIMITS: 'attempts=1,concurrency=4',
})
const { call } = server

let key: string
beforeEach(async () => {
  key = (await makeOrganization(server)).key
})

const kinds = ['openai-compatible', 'azure-openai', 'anthropic'] as const
const prices = { [standInModel]: { input: 1_000, output: 10_000 } }
/** The cost of the stand-in's usual request without a batch. */
const price = (1_000 * 1_000 + 100 * 10_000) / 1_000_000
const verdict = () => ({ text: JSON.stringify(impolite()) })

const makeProvider = async (kind: ProviderKind, answering: Answering = verdict, fields: object = {}) => {
  const standIn = await serveProvider(kind, answering)
  standIn.batches.now = () => server.clock.now()
  const provider = await makeModelProvider(server, key, { kind, settings: standIn.settings, prices, ...fields })
  return { ...standIn, id: provider.id as string }
}

const makeJudge = (fields: object = {}) =>
  makeMonitor(server, key, {
    kind: 'judge',
    enabled: false,
    definition: { criteria: 'The agent was impolite.', output: { type: 'boolean' } },
    ...fields,
  })

const makeCalls = async (count: number, transcript: object[] = turns) => {
  const ids = await makeConversations(
    server,
    key,
    Array.from({ length: count }, () => ({ transcript })),
  )
  await server.drain()
  return ids
}

const period = { since: '2024-01-01T00:00:00Z', until: '2030-01-01T00:00:00Z' }

const start = (monitorId: string, body: object = {}) =>
  call('POST', `/v1/monitors/${monitorId}/evaluations`, { key, body: { ...period, mode: 'batch', ...body } })

type Run = { monitorId: string; id: string }

const read = async ({ monitorId, id }: Run) =>
  (await call('GET', `/v1/monitors/${monitorId}/evaluations/${id}`, { key })).body

const move = ({ monitorId, id }: Run, verb: 'cancel' | 'resume') =>
  call('POST', `/v1/monitors/${monitorId}/evaluations/${id}/${verb}`, { key })

const resultsOf = async ({ monitorId }: Run) =>
  (await call('GET', `/v1/monitors/${monitorId}/results?limit=200`, { key })).body.data

const spending = async () => (await call('GET', '/v1/organization', { key })).body.judgeSpending

/** Runs all jobs, including those that are due later. Only ends when no batch is in progress. */
const drainAll = () => server.deps.jobs.drain(jobList, server.deps, { delayed: true, allowFailures: true })

describe.each(kinds)('a run in batches at a provider of kind %s', (kind) => {
  it('stores checked results for half the price, and deletes what the provider stores', async () => {
    const { batches, asked } = await makeProvider(kind, (_, number) =>
      number === 2 ? { text: JSON.stringify(impolite({ evidence: [{ turn: 2, quote: 'never said' }] })) } : verdict(),
    )
    await makeCalls(3)
    const judge = await makeJudge()
    const { body: run, status } = await start(judge.id)
    expect([status, run.mode, run.batch]).toEqual([
      202,
      'batch',
      { status: 'submitting', requests: 0, answered: 0, failed: 0, expiresAt: null },
    ])
    await server.drain()
    const expiresAt = new Date(Math.floor(server.clock.now().getTime() / 1_000) * 1_000 + 86_400_000)
    const waiting = await read(run)
    expect(waiting).toMatchObject({
      status: 'running',
      scored: 0,
      batch: { status: 'submitted', requests: 3, answered: 0 },
    })
    expect(Math.abs(Date.parse(waiting.batch.expiresAt) - expiresAt.getTime())).toBeLessThan(1_000)
    expect(asked).toHaveLength(0)
    await batches.end()
    await drainAll()
    expect(await read(run)).toMatchObject({
      status: 'completed',
      scored: 2,
      unscored: 1,
      failed: 0,
      batch: { status: 'ended', requests: 3, answered: 3, failed: 0, expiresAt: null },
    })
    const results = await resultsOf(run)
    expect(results).toHaveLength(3)
    for (const result of results) {
      expect(result).toMatchObject({ evaluator: `${kind}:${standInModel} (batch)`, cost: price / 2 })
    }
    expect(await spending()).toMatchObject({ judgements: 3, cost: (3 * price) / 2 })
    expect([batches.batches.length, asked.length]).toEqual([1, 3])
    expect(batches.removed).toContain(kind === 'anthropic' ? batches.batches[0]?.id : batches.batches[0]?.file)
  })

  it('finds a batch after its submission was interrupted, and does not submit it again', async () => {
    const { batches, asked } = await makeProvider(kind)
    await makeCalls(3)
    const judge = await makeJudge()
    batches.next = 'lost'
    const { body: run } = await start(judge.id)
    await server.drain()
    expect(await read(run)).toMatchObject({ batch: { status: 'submitting', expiresAt: null } })
    // Other programs use the same account.
    const [sent] = batches.batches
    if (!sent) throw new Error('There is no batch.')
    const lines = sent.lines.map((line) => ({ ...line, custom_id: `other-${line.custom_id.slice(-12)}` }))
    for (const id of ['other-1', 'other-2', 'other-3']) {
      batches.batches.push({ ...sent, id, metadata: {}, lines, results: [] })
    }
    batches.endsItself = true
    await drainAll()
    expect(await read(run)).toMatchObject({ status: 'completed', scored: 3 })
    expect(batches.batches.filter(({ id }) => !id.startsWith('other'))).toHaveLength(1)
    expect((await spending()).cost).toBeCloseTo((3 * price) / 2)
    // The stand-in has answered the other programs' batches too.
    expect(asked).toHaveLength(4 * 3)
  })

  it('submits again what the provider never received', async () => {
    const { batches, asked } = await makeProvider(kind)
    await makeCalls(2)
    const judge = await makeJudge()
    batches.next = 'failed'
    const { body: run } = await start(judge.id)
    await server.drain()
    expect(batches.batches).toHaveLength(0)
    server.clock.advance(6 * 60_000)
    batches.endsItself = true
    await drainAll()
    expect(await read(run)).toMatchObject({ status: 'completed', scored: 2 })
    expect([batches.batches.length, asked.length]).toEqual([1, 2])
  })

  it('sends ordinary requests for what expired, failed, or was invalid, and for long transcripts', async () => {
    const { batches, asked } = await makeProvider(
      kind,
      (_, number) => (number === 1 ? { text: 'I cannot say.' } : verdict()),
      { limits: { contextTokens: 8_000 } },
    )
    await makeCalls(4)
    await makeCalls(
      1,
      Array.from({ length: 100 }, () => ({ role: 'agent', text: 'That is none of my business. '.repeat(10) })),
    )
    const judge = await makeJudge()
    const { body: run } = await start(judge.id)
    await server.drain()
    expect((await read(run)).batch).toMatchObject({ requests: 4 })
    const fates = ['answered', 'expired', 'errored', 'answered'] as const
    await batches.end((_, at) => fates[at] ?? 'answered')
    const inBatch = asked.length
    await drainAll()
    expect(inBatch).toBe(2)
    expect(await read(run)).toMatchObject({ status: 'completed', total: 5, scored: 5, failed: 0, batch: { failed: 2 } })
    const results = await resultsOf(run)
    const ofBatch = results.filter(({ evaluator }: { evaluator: string }) => evaluator.endsWith('(batch)'))
    expect([results.length, ofBatch.length]).toEqual([5, 1])
    const { cost } = await spending()
    // The invalid answer also had to be paid for.
    expect(cost).toBeCloseTo((asked.length - inBatch) * price + (inBatch * price) / 2)
  })

  it('is cancelled at the provider, keeps what was answered, and can be resumed', async () => {
    const { batches } = await makeProvider(kind)
    await makeCalls(3)
    const judge = await makeJudge()
    const { body: run } = await start(judge.id)
    await server.drain()
    expect((await move(run, 'cancel')).status).toBe(200)
    batches.endsItself = true
    await drainAll()
    expect(await read(run)).toMatchObject({ status: 'cancelled', batch: { requests: 3, answered: 1, failed: 2 } })
    expect(await resultsOf(run)).toHaveLength(1)
    expect((await move(run, 'resume')).status).toBe(202)
    await drainAll()
    expect(await read(run)).toMatchObject({ status: 'completed', scored: 3, batch: { requests: 5, answered: 3 } })
    expect(batches.batches.map(({ lines }) => lines.length)).toEqual([3, 2])
    expect((await spending()).cost).toBeCloseTo((3 * price) / 2)
  })
})

it('stores each result of a batch once, however often its worker dies', async () => {
  const { batches, asked } = await makeProvider('openai-compatible')
  await makeCalls(50)
  const judge = await makeJudge()
  const { body: run } = await start(judge.id)
  await server.drain()
  await batches.end()
  const { batching } = server.deps.judge
  let reads = 0
  server.deps.judge.batching = async (...args) => {
    const opened = await batching(...args)
    if ('fault' in opened) return opened
    return {
      ...opened,
      read: (...given) => {
        reads++
        if (reads % 30 === 0) throw new Error('the worker dies')
        return opened.read(...given)
      },
    }
  }
  await drainAll()
  server.deps.judge.batching = batching
  expect(await read(run)).toMatchObject({ status: 'completed', total: 50, scored: 50 })
  expect(reads).toBeGreaterThan(50)
  expect(asked).toHaveLength(50)
  expect(await spending()).toMatchObject({ judgements: 50, cost: expect.closeTo((50 * price) / 2) })
})

it('reserves the cost of batches, so that only what the budget allows is sent', async () => {
  const { batches, asked } = await makeProvider('anthropic')
  await makeCalls(6)
  const judge = await makeJudge()
  const limit = (monthlyJudgeBudget: number | null) =>
    call('PATCH', '/v1/organization', { key, body: { monthlyJudgeBudget } })
  await limit(25)
  const { body: run } = await start(judge.id)
  await server.drain()
  const { requests } = (await read(run)).batch
  expect(requests).toBeGreaterThan(0)
  expect(requests).toBeLessThan(6)
  const { cost, budgetLeft } = await spending()
  expect(cost).toBe(0)
  expect(budgetLeft).toBeLessThan(25 / requests)
  batches.endsItself = true
  await drainAll()
  const ended = await read(run)
  expect(ended.batch.requests).toBe(asked.length)
  const after = await spending()
  expect(after.cost).toBeCloseTo((asked.length * price) / 2)
  expect(after.budgetLeft).toBeCloseTo(25 - after.cost)
})

it('fails with the reason if the provider rejects a batch or has none', async () => {
  const { batches } = await makeProvider('openai-compatible')
  await makeCalls(2)
  const judge = await makeJudge()
  batches.rejects = 'model_not_supported'
  const { body: run } = await start(judge.id)
  await drainAll()
  expect(await read(run)).toMatchObject({
    status: 'failed',
    failure: expect.stringMatching(/^The model provider rejected the batch \(model_not_supported\)/),
  })
  expect(await resultsOf(run)).toEqual([])
  batches.rejects = undefined
  batches.endsItself = true
  await move(run, 'resume')
  await drainAll()
  expect(await read(run)).toMatchObject({ status: 'completed', scored: 2, failure: null })
})

it('is estimated together with ordinary requests, and refused where it is not offered', async () => {
  const { id } = await makeProvider('anthropic', verdict, { isDefault: true })
  await makeCalls(2)
  const judge = await makeJudge()
  const { body: estimate } = await start(judge.id, { dryRun: true, mode: 'standard' })
  expect(estimate.batch.cost).toBeCloseTo(estimate.cost / 2)
  const own = { [standInModel]: { input: 1_000, output: 10_000, batchDiscount: 0.2 } }
  expect((await call('PATCH', `/v1/model-providers/${id}`, { key, body: { prices: own } })).status).toBe(200)
  const { body: changed } = await start(judge.id, { dryRun: true })
  expect(changed.batch.cost).toBeCloseTo(changed.cost * 0.8)
  const google = await makeProvider('google')
  const other = await makeJudge({
    definition: { criteria: 'x', output: { type: 'boolean' }, model: `${google.id}/${standInModel}` },
  })
  const refused = await start(other.id)
  expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining('does not support batches')])
  expect((await start(other.id, { dryRun: true, mode: 'standard' })).body.batch).toBeNull()
  const rule = await makeMonitor(server, key, { kind: 'rule', definition: { expression: 'true' } })
  const invalid = await start(rule.id)
  expect([invalid.status, invalid.body.details.issues[0].path]).toEqual([400, 'mode'])
})
