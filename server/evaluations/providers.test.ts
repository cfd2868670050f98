import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { makeConversation, makeModelProvider, makeMonitor, makeOrganization } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { impolite, turns } from '../../test/support/evaluations/evaluations.ts'
import { type Answering, Failure, serveProvider, standInModel } from '../../test/support/model-providers/stand-ins.ts'
import { openModels } from '../model-providers/models.ts'
import type { ProviderKind } from '../model-providers/settings.ts'
import { openJudge } from '../monitors/judges/judge.ts'
import { jobList } from '../worker.ts'

const server = await testServer({
  EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.0/8',
  EARSHOT_JUDGE_LIMITS: 'attempts=1,concurrency=4',
})
const { call } = server

let owner: string
let key: string
beforeEach(async () => {
  const made = await makeOrganization(server)
  owner = made.id
  key = made.key
})

const prices = { [standInModel]: { input: 1_000, output: 10_000, cachedInput: 100, cacheWrite: 2_000 } }
const verdict = () => ({ text: JSON.stringify(impolite()) })

const makeProvider = async (kind: ProviderKind, answering: Answering = verdict, fields: object = {}) => {
  const standIn = await serveProvider(kind, answering)
  const provider = await makeModelProvider(server, key, { kind, settings: standIn.settings, prices, ...fields })
  return { ...standIn, id: provider.id as string }
}

const makeJudge = (model?: string) =>
  makeMonitor(server, key, {
    kind: 'judge',
    definition: { criteria: 'The agent was impolite.', output: { type: 'boolean' }, ...(model && { model }) },
  })

/** Returns the result of the only monitor. */
const resultOf = async (id: string) => (await call('GET', `/v1/conversations/${id}/results`, { key })).body.data[0]

/** Evaluates a new conversation, and returns the result of the only monitor. */
const evaluate = async () => {
  const { id } = await makeConversation(server, key, { transcript: turns })
  await server.drain()
  return resultOf(id)
}

/** A transcript that needs several windows for a model with a context of 8,000 tokens. */
const longTranscript = Array.from({ length: 200 }, (_, at) => ({
  role: at % 2 ? 'customer' : 'agent',
  text: 'word '.repeat(40),
}))

describe('a judge', () => {
  it.each(['openai-compatible', 'anthropic', 'google', 'azure-openai', 'bedrock', 'ollama'] as const)(
    'asks the default provider of kind %s, and its result has the cost',
    async (kind) => {
      const usage = { input: 2_000, output: 100, cachedInput: 1_000, cacheWrite: 0 }
      const provider = await makeProvider(kind, () => ({ ...verdict(), usage }))
      await makeJudge()
      const cached = kind === 'ollama' ? 0 : 1_000
      expect(await evaluate()).toMatchObject({
        status: 'scored',
        result: 'affected',
        evaluator: `${kind}:${standInModel}`,
        tokens: { input: 2_000, output: 100 },
        cost: ((2_000 - cached) * 1_000 + cached * 100 + 100 * 10_000) / 1_000_000,
      })
      expect(provider.asked).toHaveLength(1)
      expect(provider.asked[0]?.system).toContain('The agent was impolite.')
    },
  )

  it('asks the provider and model that it names', async () => {
    const first = await makeProvider('anthropic')
    const second = await makeProvider('openai-compatible')
    await makeJudge(`${second.id}/${standInModel}`)
    expect(await evaluate()).toMatchObject({ evaluator: `openai-compatible:${standInModel}` })
    expect([first.asked.length, second.asked.length]).toEqual([0, 1])
  })

  it('uses changed settings for the next request', async () => {
    const provider = await makeProvider('anthropic')
    await call('PATCH', `/v1/model-providers/${provider.id}`, {
      key,
      body: { settings: { ...provider.settings, apiKey: 'wrong' } },
    })
    await makeJudge()
    expect(await evaluate()).toBeUndefined()
    const { id } = provider
    const failing = await call('GET', `/v1/model-providers/${id}`, { key })
    expect(failing.body).toMatchObject({
      failingSince: expect.any(String),
      lastFault: 'the endpoint returned status 401 (authentication_error)',
    })
    const repaired = await call('PATCH', `/v1/model-providers/${id}`, { key, body: { settings: provider.settings } })
    expect(repaired.body).toMatchObject({ failingSince: null, lastFault: null })
    expect(await evaluate()).toMatchObject({ status: 'scored' })
  })

  it('fails if its provider is disabled', async () => {
    const { id } = await makeProvider('anthropic')
    await makeJudge()
    await call('PATCH', `/v1/model-providers/${id}`, { key, body: { status: 'disabled' } })
    expect(await evaluate()).toMatchObject({ status: 'failed', reasoning: expect.stringContaining('is disabled') })
  })

  it('counts requests in the health of judges by model and provider', async () => {
    await makeProvider('anthropic', verdict, { name: 'Claude' })
    await makeJudge()
    await evaluate()
    await expect
      .poll(
        async () => {
          const { body } = await call('GET', '/v1/health', { key })
          return body.checks.find(({ name }: { name: string }) => name === 'judges').details
        },
        { timeout: 10_000 },
      )
      .toMatchObject([{ name: `${standInModel} (Claude)`, requests: 1, failed: 0 }])
  })
})

describe('a judgment in progress', () => {
  const politely = () => ({ text: JSON.stringify(impolite({ result: 'not_affected', evidence: [] })) })
  const limits = { contextTokens: 8_000 }
  const drainDelayed = () => server.deps.jobs.drain(jobList, server.deps, { delayed: true })

  it('sends nothing more to a provider that was disabled, and starts again once it is enabled', async () => {
    const setStatus = (status: string) => call('PATCH', `/v1/model-providers/${provider.id}`, { key, body: { status } })
    const provider = await makeProvider(
      'anthropic',
      async (_, number) => {
        if (number === 1) await setStatus('disabled')
        return politely()
      },
      { limits },
    )
    await makeJudge()
    const { id } = await makeConversation(server, key, { transcript: longTranscript })
    await server.drain()
    expect(await resultOf(id)).toBeUndefined()
    expect(provider.asked).toHaveLength(1)
    await setStatus('active')
    await drainDelayed()
    expect(await resultOf(id)).toMatchObject({ status: 'scored', result: 'not_affected' })
  })

  it('continues with the new default after its provider was deleted', async () => {
    const kind = 'openai-compatible'
    const next = await serveProvider(kind, politely)
    const first = await makeProvider(
      'anthropic',
      async () => {
        await makeModelProvider(server, key, { kind, settings: next.settings, limits, isDefault: true })
        expect((await call('DELETE', `/v1/model-providers/${first.id}`, { key })).status).toBe(204)
        return politely()
      },
      { limits },
    )
    await makeJudge()
    const { id } = await makeConversation(server, key, { transcript: longTranscript })
    await server.drain()
    expect(await resultOf(id)).toBeUndefined()
    await drainDelayed()
    expect(await resultOf(id)).toMatchObject({ status: 'scored', evaluator: `${kind}:${standInModel}` })
    expect(first.asked).toHaveLength(1)
  })

  it('waits for the limits of its provider any number of times', async () => {
    await makeProvider('anthropic', verdict, { limits: { requestsPerMinute: 1 } })
    await makeJudge()
    const { db, secrets, outbound, log, config, jobs } = server.deps
    const open = (wait: (ms: number) => Promise<unknown>) => {
      const tenants = { db, secrets, outbound, log }
      const models = openModels({ config: config.judge, clock: server.clock, tenants, wait })
      onTestFinished(models.close)
      return models
    }
    const chain = await open(async () => {}).find(owner, undefined)
    if ('fault' in chain) throw new Error(chain.fault)
    const terms = { signal: new AbortController().signal, deadline: 0, owner }
    // Another process takes the only request of each minute.
    const askElsewhere = () => chain.links[0].ask({ system: '', user: '', schema: {} }, terms)
    let waits = 0
    const models = open(async (ms) => {
      server.clock.advance(ms)
      waits++
      // Each round waits for ten minutes, so this takes more rounds than a failing request would get.
      if (waits < 95) await askElsewhere()
    })
    const deps = { ...server.deps, judge: openJudge(models, config.judge.limits, server.clock) }
    await askElsewhere()
    const { id } = await makeConversation(server, key, { transcript: turns })
    await jobs.drain(jobList, deps, { delayed: true })
    expect(await resultOf(id)).toMatchObject({ status: 'scored' })
    expect(waits).toBe(95)
  })
})

it('results do not show the address of a provider, which admins see', async () => {
  const settings = { baseUrl: 'https://10.0.0.1', model: standInModel }
  const { id } = await makeModelProvider(server, key, { kind: 'ollama', settings })
  const judge = await makeJudge()
  await makeConversation(server, key, { transcript: turns })
  const trial = await call('POST', `/v1/monitors/${judge.id}/test`, { key, body: { limit: 1 } })
  expect(trial.body.data[0]).toMatchObject({
    status: 'failed',
    reasoning: 'the address of the endpoint is not allowed',
  })
  const tested = await call('POST', `/v1/model-providers/${id}/test`, { key, body: {} })
  expect(tested.body.message).toContain('10.0.0.1')
  await expect
    .poll(async () => (await call('GET', `/v1/model-providers/${id}`, { key })).body.lastFault)
    .toBe('10.0.0.1 does not have a public address.')
})

describe('a fallback', () => {
  const makePair = async (answering: Answering) => {
    const fallback = await makeProvider('openai-compatible')
    const first = await makeProvider('anthropic', answering, { fallbackProviderIds: [fallback.id], isDefault: true })
    await makeJudge()
    return { first, fallback }
  }

  it.each([
    ['is down', new Failure(503)],
    ['is busy', new Failure(429, {}, { 'retry-after': '600' })],
    ['rejects its key', new Failure(401)],
    ['has no such model', new Failure(404)],
  ])('answers if the first provider %s, and the result says so', async (_, failure) => {
    const { first, fallback } = await makePair(() => failure)
    expect(await evaluate()).toMatchObject({ status: 'scored', evaluator: `openai-compatible:${standInModel}` })
    expect([first.asked.length, fallback.asked.length]).toEqual([1, 1])
  })

  it('answers without asking a provider that keeps failing, until that one works again', async () => {
    let isUp = false
    const { first, fallback } = await makePair(() => (isUp ? verdict() : new Failure(503)))
    for (let time = 0; time < 5; time++) await evaluate()
    expect(first.asked).toHaveLength(5)
    expect(await evaluate()).toMatchObject({ evaluator: `openai-compatible:${standInModel}` })
    expect([first.asked.length, fallback.asked.length]).toEqual([5, 6])
    isUp = true
    server.clock.advance(31_000)
    expect(await evaluate()).toMatchObject({ evaluator: `anthropic:${standInModel}` })
  })

  it('is not asked if the first provider rejects the request itself', async () => {
    const { fallback } = await makePair(() => new Failure(400, { error: { type: 'invalid_request_error' } }))
    expect(await evaluate()).toMatchObject({ status: 'failed', reasoning: expect.stringContaining('status 400') })
    expect(fallback.asked).toEqual([])
  })

  it('judges all later parts of a transcript, and each model has its own price', async () => {
    const fallback = await makeProvider('openai-compatible', () => ({
      text: JSON.stringify(impolite({ result: 'not_affected', evidence: [] })),
      usage: { input: 1_000, output: 0 },
    }))
    const first = await makeProvider(
      'anthropic',
      (_, number) =>
        number === 1
          ? {
              text: JSON.stringify(impolite({ result: 'not_affected', evidence: [] })),
              usage: { input: 1_000, output: 0 },
            }
          : new Failure(503),
      {
        fallbackProviderIds: [fallback.id],
        isDefault: true,
        limits: { contextTokens: 8_000 },
        prices: { [standInModel]: { input: 5_000, output: 0 } },
      },
    )
    await makeJudge()
    const { id } = await makeConversation(server, key, { transcript: longTranscript })
    await server.drain()
    const result = await resultOf(id)
    const windows = fallback.asked.length + 1
    expect(windows).toBeGreaterThan(3)
    expect(first.asked).toHaveLength(2)
    expect(result).toMatchObject({
      status: 'scored',
      evaluator: `anthropic:${standInModel}, openai-compatible:${standInModel}`,
      tokens: { input: windows * 1_000 },
      cost: 5 + (windows - 1),
    })
  })

  it('that fails as well leaves the result for later', async () => {
    const fallback = await makeProvider('openai-compatible', () => new Failure(503))
    await makeProvider('anthropic', () => new Failure(401), { fallbackProviderIds: [fallback.id], isDefault: true })
    const { id } = await makeJudge()
    expect(await evaluate()).toBeUndefined()
    const body = { limit: 1 }
    const trial = await call('POST', `/v1/monitors/${id}/test`, { key, body })
    expect(trial.body.data[0]).toMatchObject({
      status: 'failed',
      reasoning: 'the endpoint returned status 401; fallback 1: the endpoint returned status 503',
    })
  })
})
