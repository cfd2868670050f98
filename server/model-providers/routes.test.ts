import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { beforeEach, describe, expect, it } from 'vitest'
import { makeKey, makeModelProvider, makeMonitor, makeOrganization } from '../../test/make.ts'
import { serve } from '../../test/outside.ts'
import { testServer } from '../../test/server.ts'
import { Failure, serveProvider, standInKey, standInModel } from '../../test/support/model-providers/stand-ins.ts'
import { orgIdOf } from '../platform/ids.ts'
import { getSealedProvider } from './queries.ts'
import { openKeys, providerKinds } from './settings.ts'

const server = await testServer({ EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.0/8' })
const publicOnly = await testServer({
  EARSHOT_JUDGE_BASE_URL: 'http://127.0.0.1:9/v1',
  EARSHOT_JUDGE_MODEL: 'large',
  EARSHOT_JUDGE_PRICES: 'large=1/2',
})
const { call } = server

let org: string
let key: string
beforeEach(async () => {
  const made = await makeOrganization(server)
  org = made.id
  key = made.key
})

const apiKey = 'sk-0123456789abcdefghij'
const create = (body: object) => call('POST', '/v1/model-providers', { key, body })
const update = (id: string, body: object) => call('PATCH', `/v1/model-providers/${id}`, { key, body })
const read = async (id: string) => (await call('GET', `/v1/model-providers/${id}`, { key })).body
const storedKeys = async (id: string) => {
  const { db, secrets } = server.deps
  return openKeys(secrets, org, await getSealedProvider(db, orgIdOf(org), id))
}

describe('a provider', () => {
  it.each([
    ['openai-compatible', { apiKey, model: 'gpt-5' }, { apiKey: '…ghij', model: 'gpt-5' }],
    ['anthropic', { apiKey, promptCaching: false }, { apiKey: '…ghij', promptCaching: false }],
    ['google', { apiKey }, { apiKey: '…ghij' }],
    [
      'azure-openai',
      { baseUrl: 'https://acme.openai.azure.com', apiKey, apiVersion: '2024-10-21' },
      { baseUrl: 'https://acme.openai.azure.com', apiKey: '…ghij', apiVersion: '2024-10-21' },
    ],
    [
      'bedrock',
      { region: 'eu-central-1', accessKeyId: 'AKIA0123456789', secretAccessKey: apiKey },
      { region: 'eu-central-1', accessKeyId: 'AKIA0123456789', secretAccessKey: '…ghij' },
    ],
    ['ollama', { baseUrl: 'http://127.0.0.1:11434' }, { baseUrl: 'http://127.0.0.1:11434' }],
  ])('of kind %s never shows its key', async (kind, settings, shown) => {
    const { status, body, text, headers } = await create({ name: 'Models', kind, settings })
    expect([status, body]).toEqual([201, expect.objectContaining({ kind, settings: shown, status: 'active' })])
    const again = await call('GET', headers.get('location') as string, { key })
    expect(again.body).toEqual(body)
    const listed = await call('GET', '/v1/model-providers', { key })
    expect(listed.body.data).toEqual([body])
    for (const shownText of [text, again.text, listed.text]) expect(shownText).not.toContain(apiKey)
    const keys = await storedKeys(body.id)
    expect(Object.values(keys)).toEqual(kind === 'ollama' ? [] : [apiKey])
  })

  it('keeps its key when the masked settings are sent back, or none', async () => {
    const { id, settings } = await makeModelProvider(server, key, { settings: { apiKey, model: 'a' } })
    expect((await update(id, { settings })).body.settings).toEqual(settings)
    expect((await update(id, { settings: { model: 'b' } })).body.settings).toEqual({ apiKey: '…ghij', model: 'b' })
    expect(await storedKeys(id)).toEqual({ apiKey })
    const other = 'another-key-0123456789'
    expect((await update(id, { settings: { apiKey: other } })).body.settings).toEqual({ apiKey: '…6789' })
    expect(await storedKeys(id)).toEqual({ apiKey: other })
  })

  it('only sends a stored key where it was sent before', async () => {
    const { id } = await makeModelProvider(server, key, { settings: { apiKey } })
    const baseUrl = 'https://collector.example.com'
    const { status, body } = await update(id, { settings: { baseUrl } })
    expect([status, body.message]).toEqual([400, expect.stringContaining('must be entered again')])
    expect((await update(id, { settings: { baseUrl, apiKey } })).status).toBe(200)
    expect((await update(id, { settings: { baseUrl: `${baseUrl}/`, apiKey: '…ghij' } })).status).toBe(200)
    for (const elsewhere of ['/v1', '?tenant=2', ':8443/']) {
      const changed = await update(id, { settings: { baseUrl: `${baseUrl}${elsewhere}`, apiKey: '…ghij' } })
      expect([changed.status, changed.body.message]).toEqual([400, expect.stringContaining('must be entered again')])
    }
  })

  it('of Bedrock can change from an access key to an API key', async () => {
    const settings = { region: 'us-east-1', accessKeyId: 'AKIA0123456789', secretAccessKey: apiKey }
    const { id } = await makeModelProvider(server, key, { kind: 'bedrock', settings })
    const changed = await update(id, {
      settings: { region: 'us-east-1', secretAccessKey: null, apiKey: 'bedrock-key' },
    })
    expect(changed.body.settings).toEqual({ region: 'us-east-1', apiKey: '…' })
    expect(await storedKeys(id)).toEqual({ apiKey: 'bedrock-key' })
  })

  it.each([
    ['anthropic', {}, 'settings.apiKey', 'is required'],
    ['google', { apiKey: 'with spaces' }, 'settings.apiKey', 'form'],
    ['azure-openai', { apiKey }, 'settings.baseUrl', 'is required'],
    ['azure-openai', { apiKey, baseUrl: 'https://a.example.com', apiVersion: 'v1' }, 'settings.apiVersion', 'form'],
    ['bedrock', { apiKey }, 'settings.region', 'is required'],
    ['bedrock', { region: 'eu-central-1' }, 'settings', 'accessKeyId and secretAccessKey'],
    ['bedrock', { region: 'eu-central-1', accessKeyId: 'A' }, 'settings.secretAccessKey', 'is required'],
    ['bedrock', { region: 'https://evil', apiKey }, 'settings.region', 'form'],
    ['openai-compatible', { baseUrl: 'ftp://models.example.com' }, 'settings.baseUrl', 'https URL'],
    ['openai-compatible', { baseUrl: 'https://ada:secret@models.example.com' }, 'settings.baseUrl', 'credentials'],
    ['openai-compatible', { promptCaching: true }, 'settings.promptCaching', 'is not a known property'],
    ['ollama', {}, 'settings.baseUrl', 'is required'],
    [
      'ollama',
      { baseUrl: 'http://127.0.0.1', structuredOutput: 'maybe' },
      'settings.structuredOutput',
      'schema, prompt',
    ],
  ])('of kind %s with %j is rejected', async (kind, settings, path, message) => {
    const { status, body } = await create({ name: 'Models', kind, settings })
    expect([status, body.details.issues]).toEqual([400, [{ path, message: expect.stringContaining(message) }]])
  })

  it.each(['http://models.example.com', 'https://127.0.0.1', 'https://models.internal', 'http://127.0.0.1:11434'])(
    'at %s is rejected unless the operator allows private addresses',
    async (baseUrl) => {
      const { key: own } = await makeOrganization(publicOnly)
      const body = { name: 'Models', kind: 'openai-compatible', settings: { baseUrl } }
      const { status, text } = await publicOnly.call('POST', '/v1/model-providers', { key: own, body })
      expect([status, text]).toEqual([400, expect.stringContaining('EARSHOT_ALLOWED_PRIVATE_ADDRESSES')])
    },
  )

  it('has a name of its own', async () => {
    await makeModelProvider(server, key, { name: 'Anthropic' })
    const { status, body } = await create({ name: 'Anthropic', kind: 'google', settings: { apiKey } })
    expect([status, body.message]).toEqual([409, 'Another model provider has this name.'])
  })

  it('is only for admins', async () => {
    const { id } = await makeModelProvider(server, key)
    for (const role of ['viewer', 'member'] as const) {
      const { key: lower } = await makeKey(server, key, role)
      for (const path of ['', '/instance', `/${id}`, `/${id}/models`]) {
        expect((await call('GET', `/v1/model-providers${path}`, { key: lower })).status).toBe(403)
      }
    }
  })

  it('has limits, which are the operator’s where they are open', async () => {
    const limits = { concurrency: 3, requestsPerMinute: 60, tokensPerMinute: null, timeoutSeconds: 20 }
    const { id, limits: shown } = await makeModelProvider(server, key, { limits })
    const expected = { concurrency: 3, requestsPerMinute: 60, tokensPerMinute: null, timeoutSeconds: 20 }
    expect(shown).toEqual({ ...expected, contextTokens: 32_000 })
    const changed = await update(id, { limits: {} })
    expect(changed.body.limits).toMatchObject({ concurrency: 8, requestsPerMinute: null, timeoutSeconds: 120 })
  })

  it('is recorded in the audit log', async () => {
    const { id } = await makeModelProvider(server, key)
    await update(id, { name: 'Other' })
    await call('DELETE', `/v1/model-providers/${id}`, { key })
    const { body } = await call('GET', '/v1/audit-events', { key })
    const actions = body.data.map(({ action }: { action: string }) => action)
    expect(actions.slice(0, 3)).toEqual(['modelProvider.delete', 'modelProvider.update', 'modelProvider.create'])
    expect(JSON.stringify(body)).not.toContain('sk-ant')
  })
})

describe('the default', () => {
  it('is the first provider, and moves to another one', async () => {
    const first = await makeModelProvider(server, key)
    const second = await makeModelProvider(server, key)
    expect([first.isDefault, second.isDefault]).toEqual([true, false])
    expect((await update(second.id, { isDefault: true })).body.isDefault).toBe(true)
    expect((await read(first.id)).isDefault).toBe(false)
    const third = await makeModelProvider(server, key, { isDefault: true })
    expect([(await read(second.id)).isDefault, third.isDefault]).toEqual([false, true])
  })

  it('stays with the operator’s endpoint until someone changes it', async () => {
    const { key: own } = await makeOrganization(publicOnly)
    const instance = async () => (await publicOnly.call('GET', '/v1/model-providers/instance', { key: own })).body
    const provider = await makeModelProvider(publicOnly, own)
    expect(provider.isDefault).toBe(false)
    expect(await instance()).toEqual({
      kind: 'openai-compatible',
      model: 'large',
      isConfigured: true,
      isDefault: true,
      limits: expect.objectContaining({ concurrency: 8, contextTokens: 32_000 }),
      prices: { large: { input: 1, output: 2 } },
    })
    await publicOnly.call('PATCH', `/v1/model-providers/${provider.id}`, { key: own, body: { isDefault: true } })
    expect(await instance()).toMatchObject({ isConfigured: true, isDefault: false })
  })
})

describe('fallbacks', () => {
  it('are other providers of the organization', async () => {
    const other = await makeModelProvider(server, key)
    const { id } = await makeModelProvider(server, key, { fallbackProviderIds: [other.id] })
    expect((await read(id)).fallbackProviderIds).toEqual([other.id])
    const foreign = await makeModelProvider(server, (await makeOrganization(server)).key)
    for (const [given, message] of [
      [id, 'is the provider itself'],
      [foreign.id, 'is not a model provider'],
      [randomUUID(), 'is not a model provider'],
    ] as const) {
      const { status, body } = await update(id, { fallbackProviderIds: [given] })
      expect([status, body.message]).toEqual([400, expect.stringContaining(`fallbackProviderIds[0] ${message}`)])
    }
    expect((await call('DELETE', `/v1/model-providers/${other.id}`, { key })).status).toBe(204)
    expect((await read(id)).fallbackProviderIds).toEqual([])
  })
})

describe('deleting', () => {
  const criteria = 'The agent was impolite.'
  const makeJudge = (name: string, model?: string) => {
    const definition = { criteria, output: { type: 'boolean' }, ...(model && { model }) }
    return makeMonitor(server, key, { kind: 'judge', name, definition })
  }
  const remove = (id: string) => call('DELETE', `/v1/model-providers/${id}`, { key })

  it('is refused while monitors use the provider, with their names', async () => {
    await makeModelProvider(server, key)
    const { id, name } = await makeModelProvider(server, key)
    const refund = await makeJudge('Refund promised', `${id}/claude-x`)
    await makeJudge('Greeting', `${id.toUpperCase()}/claude-x`)
    await makeJudge('Other', undefined)
    const { status, body } = await remove(id)
    expect(status).toBe(409)
    expect(body.message).toBe(
      `Monitors use “${name}”: “Greeting”, “Refund promised”. Choose another model for them first.`,
    )
    expect(body.details.monitors).toContainEqual({ id: refund.id, name: 'Refund promised' })
  })

  it('is refused while it is the default of monitors without a model', async () => {
    const { id } = await makeModelProvider(server, key)
    await makeJudge('Greeting')
    await makeJudge('Farewell', 'claude-x')
    const { status, body } = await remove(id)
    expect([status, body.message]).toEqual([
      409,
      expect.stringMatching(/“Farewell”, “Greeting”.*or make another provider the default/),
    ])
    await makeModelProvider(server, key, { isDefault: true })
    expect((await remove(id)).status).toBe(204)
  })

  it('is refused while a scorecard uses an older version of a monitor that names it', async () => {
    await makeModelProvider(server, key)
    const { id, name } = await makeModelProvider(server, key)
    const monitor = await makeJudge('Greeting', `${id}/claude-x`)
    const item = { monitorId: monitor.id, version: 1, points: 1 }
    const scorecard = await makeMonitor(server, key, {
      kind: 'scorecard',
      definition: { sections: [{ name: 'All', items: [item] }], affectedBelow: 80 },
    })
    const change = (monitorId: string, definition: object) =>
      call('PATCH', `/v1/monitors/${monitorId}`, { key, body: { definition } })
    await change(monitor.id, { criteria, output: { type: 'boolean' } })
    const { status, body } = await remove(id)
    expect([status, body.message]).toEqual([
      409,
      `Monitors use “${name}”: “Greeting” (version 1, which a scorecard uses). Choose another model for them first.`,
    ])
    expect(body.details.monitors).toEqual([{ id: monitor.id, name: 'Greeting' }])
    const { version: _, ...following } = item
    await change(scorecard.id, { sections: [{ name: 'All', items: [following] }], affectedBelow: 80 })
    expect((await remove(id)).status).toBe(204)
  })

  it('is possible once no current version of a monitor uses it', async () => {
    await makeModelProvider(server, key)
    const { id } = await makeModelProvider(server, key)
    const monitor = await makeJudge('Greeting', `${id}/claude-x`)
    const definition = { criteria, output: { type: 'boolean' } }
    await call('PATCH', `/v1/monitors/${monitor.id}`, { key, body: { definition } })
    expect((await remove(id)).status).toBe(204)
  })
})

describe('a monitor', () => {
  const post = (model: string) => {
    const definition = { criteria: 'Rude', output: { type: 'boolean' }, model }
    return call('POST', '/v1/monitors', { key, body: { name: randomUUID(), kind: 'judge', definition } })
  }

  it('names a provider of its organization', async () => {
    const { id } = await makeModelProvider(server, key)
    expect((await post(`${id}/claude-x`)).status).toBe(201)
    const foreign = await makeModelProvider(server, (await makeOrganization(server)).key)
    const answers = [await post(`${foreign.id}/claude-x`), await post(`${randomUUID()}/claude-x`)]
    for (const { status, body } of answers) {
      expect([status, body]).toEqual([400, expect.objectContaining(answers[0]?.body)])
      expect(body.message).toBe('definition.model names a model provider that does not exist')
    }
  })

  it('needs a model', async () => {
    const { id, name } = await makeModelProvider(server, key, { settings: { apiKey } })
    expect((await post(`${id}/claude-x`)).status).toBe(201)
    const { status, body } = await post(`${id}/`)
    expect([status, body.message]).toEqual([409, expect.stringContaining(`“${name}” has no default model`)])
    await update(id, { status: 'disabled' })
    const disabled = await post(`${id}/claude-x`)
    expect([disabled.status, disabled.body.message]).toEqual([409, expect.stringContaining('is disabled')])
  })
})

describe('a test', () => {
  const test = async (id: string, body: object = {}) =>
    (await call('POST', `/v1/model-providers/${id}/test`, { key, body })).body
  const ok = () => ({ text: '{"ok":true}', usage: { input: 40, output: 5 } })

  it.each(providerKinds)('of %s sends a tiny request', async (kind) => {
    const provider = await serveProvider(kind, ok)
    const prices = { [standInModel]: { input: 1_000, output: 10_000 } }
    const { id } = await makeModelProvider(server, key, { kind, settings: provider.settings, prices })
    const result = await test(id)
    expect(result).toMatchObject({ ok: true, problem: null, model: standInModel, tokens: { input: 40, output: 5 } })
    expect(result.message).toMatch(/“model-a” answered in \d+ ms\./)
    expect(result.cost).toBeCloseTo(0.09)
    const { judgeSpending } = (await call('GET', '/v1/organization', { key })).body
    expect(judgeSpending).toMatchObject({ judgements: 0, inputTokens: 40, outputTokens: 5 })
  })

  it.each(providerKinds.filter((kind) => kind !== 'ollama'))('of %s says that the key is wrong', async (kind) => {
    const provider = await serveProvider(kind, ok)
    const wrong = kind === 'bedrock' ? { secretAccessKey: 'wrong' } : { apiKey: 'wrong' }
    const { id } = await makeModelProvider(server, key, { kind, settings: { ...provider.settings, ...wrong } })
    expect(await test(id)).toMatchObject({
      ok: false,
      problem: 'wrong_key',
      message: expect.stringContaining('rejected the key'),
    })
  })

  it.each(providerKinds)('of %s says that there is no such model', async (kind) => {
    const provider = await serveProvider(kind, ok)
    const { id } = await makeModelProvider(server, key, { kind, settings: provider.settings })
    expect(await test(id, { model: 'model-x' })).toMatchObject({
      ok: false,
      problem: 'unknown_model',
      model: 'model-x',
      message: 'The provider does not have the model “model-x”. Choose another one.',
    })
  })

  it.each([
    ['openai-compatible', '/v2'],
    ['google', '/elsewhere'],
    ['azure-openai', '/elsewhere'],
    ['ollama', '/elsewhere'],
  ] as const)('of %s says that the address is wrong', async (kind, path) => {
    const provider = await serveProvider(kind, ok)
    const settings = { ...provider.settings, baseUrl: `${provider.url}${path}` }
    const { id } = await makeModelProvider(server, key, { kind, settings })
    expect(await test(id)).toMatchObject({ ok: false, problem: 'wrong_address' })
  })

  it('says that nothing answers', async () => {
    const provider = await serveProvider('ollama', ok)
    await provider.close()
    const { id } = await makeModelProvider(server, key, { kind: 'ollama', settings: provider.settings })
    expect(await test(id)).toMatchObject({
      ok: false,
      problem: 'unreachable',
      message: expect.stringContaining('ECONNREFUSED'),
    })
  })

  it('says that the address is not allowed', async () => {
    const settings = { baseUrl: 'https://10.0.0.1', model: standInModel }
    const { id } = await makeModelProvider(server, key, { kind: 'ollama', settings })
    expect(await test(id)).toMatchObject({
      ok: false,
      problem: 'address_not_allowed',
      message: expect.stringContaining('EARSHOT_ALLOWED_PRIVATE_ADDRESSES'),
    })
  })

  it.each([
    ['too_many_requests', new Failure(429)],
    ['no_credit', new Failure(429, { error: { type: 'insufficient_quota', code: 'insufficient_quota' } })],
    ['no_access', new Failure(403, { error: { type: 'permission_error' } })],
    ['rejected', new Failure(400, { error: { type: 'invalid_request_error' } })],
    ['failing', new Failure(503)],
    ['wrong_address', new Failure(302, '', { location: 'https://login.example.com' })],
    ['wrong_address', new Failure(200, '<html>Sign in</html>')],
    ['invalid_answer', { text: 'It is ok.' }],
    ['invalid_answer', { text: '{"ok":true', end: 'cut' as const }],
  ])('says that there is the problem %s', async (problem, answer) => {
    const provider = await serveProvider('openai-compatible', () => answer)
    const { id } = await makeModelProvider(server, key, { kind: 'openai-compatible', settings: provider.settings })
    const result = await test(id)
    expect(result).toMatchObject({ ok: false, problem })
    expect(result.message).not.toContain(standInKey)
  })

  it('is paid for and recorded although its caller left', async () => {
    const caller = new AbortController()
    const left = Promise.withResolvers<void>()
    const provider = await serveProvider('openai-compatible', async () => {
      caller.abort()
      await left.promise
      return ok()
    })
    const { id } = await makeModelProvider(server, key, { kind: 'openai-compatible', settings: provider.settings })
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const { port } = server.app.server.address() as AddressInfo
    const url = `http://127.0.0.1:${port}/v1/model-providers/${id}/test`
    server.app.server.once('request', (_, response) => response.once('close', left.resolve))
    const request = fetch(url, { method: 'POST', headers, body: '{}', signal: caller.signal })
    await expect(request).rejects.toThrow('aborted')
    await expect
      .poll(async () => (await call('GET', '/v1/organization', { key })).body.judgeSpending)
      .toMatchObject({ inputTokens: 40, outputTokens: 5 })
  })

  it('says that no model is chosen', async () => {
    const { id } = await makeModelProvider(server, key, { settings: { apiKey } })
    expect(await test(id)).toMatchObject({ ok: false, model: null, message: expect.stringContaining('No model') })
  })
})

describe('models', () => {
  const models = async (id: string) => (await call('GET', `/v1/model-providers/${id}/models`, { key })).body

  it.each(providerKinds.filter((kind) => kind !== 'azure-openai'))(
    'of %s are listed, and kept for a while',
    async (kind) => {
      const provider = await serveProvider(kind, () => ({ text: '' }))
      const prices = { [standInModel]: { input: 1, output: 2 } }
      const { id } = await makeModelProvider(server, key, { kind, settings: provider.settings, prices })
      const first = await models(id)
      expect(first).toMatchObject({ message: null, priceTable: { source: expect.any(String) } })
      const price = { input: 1, output: 2, cachedInput: null, cacheWrite: null, source: 'provider' }
      const listed = first.data.map((model: { id: string; price: object }) => [model.id, model.price])
      expect(new Map(listed).get(standInModel)).toEqual(price)
      const { length } = provider.requests
      expect(await models(id)).toEqual(first)
      expect(provider.requests).toHaveLength(length)
      server.clock.advance(301_000)
      await models(id)
      expect(provider.requests).toHaveLength(2 * length)
    },
  )

  it('are limited in number and length, for each provider and for all together', async () => {
    const data = Array.from({ length: 1_500 }, (_, at) => ({ id: `m${at}`, display_name: '😀'.repeat(500) }))
    const { url } = await serve((_, response) => response.end(JSON.stringify({ data })))
    const made = await Promise.all(
      Array.from({ length: 6 }, () =>
        makeModelProvider(server, key, { kind: 'anthropic', settings: { baseUrl: url, apiKey } }),
      ),
    )
    const listed = (await models(made[0].id)).data
    expect(listed).toHaveLength(1_000)
    expect(new Set(listed.map(({ name }: { name: string }) => name))).toEqual(new Set(['😀'.repeat(100)]))
    const choices = (await call('GET', '/v1/models', { key })).body.data
    expect(choices).toHaveLength(6 * Math.floor(5_000 / 6))
  })

  it('are requested once by several callers, and not again right after a failure', async () => {
    let requests = 0
    const { url } = await serve((_, response) => {
      requests++
      response.writeHead(500).end()
    })
    const { id } = await makeModelProvider(server, key, { kind: 'anthropic', settings: { baseUrl: url, apiKey } })
    const lists = await Promise.all([models(id), models(id), call('GET', '/v1/models', { key })])
    expect(lists[1]).toMatchObject({ data: [], message: expect.stringContaining('status 500') })
    await models(id)
    expect(requests).toBe(1)
    server.clock.advance(31_000)
    await models(id)
    expect(requests).toBe(2)
    await update(id, { settings: { baseUrl: url, apiKey: 'another-key' } })
    await models(id)
    expect(requests).toBe(3)
  })

  it('of Azure cannot be listed', async () => {
    const provider = await serveProvider('azure-openai', () => ({ text: '' }))
    const { id } = await makeModelProvider(server, key, { kind: 'azure-openai', settings: provider.settings })
    expect(await models(id)).toMatchObject({ data: [], message: expect.stringContaining('deployment') })
  })

  it('say why they are missing', async () => {
    const provider = await serveProvider('anthropic', () => ({ text: '' }))
    const settings = { ...provider.settings, apiKey: 'wrong' }
    const { id } = await makeModelProvider(server, key, { kind: 'anthropic', settings })
    expect(await models(id)).toMatchObject({ data: [], message: expect.stringContaining('rejected the key') })
  })

  it('can be chosen by members, without anything else of the providers', async () => {
    const provider = await serveProvider('anthropic', () => ({ text: '' }))
    const { id } = await makeModelProvider(server, key, {
      kind: 'anthropic',
      settings: provider.settings,
      name: 'Claude',
    })
    const azure = await serveProvider('azure-openai', () => ({ text: '' }))
    const other = await makeModelProvider(server, key, {
      kind: 'azure-openai',
      settings: azure.settings,
      name: 'Azure',
    })
    const { key: member } = await makeKey(server, key, 'member')
    const { status, body } = await call('GET', '/v1/models', { key: member })
    expect(status).toBe(200)
    const common = { price: null }
    expect(body.data).toEqual([
      { ...common, model: `${id}/${standInModel}`, name: standInModel, provider: 'Claude', isDefault: true },
      { ...common, model: `${id}/model-b`, name: 'model-b', provider: 'Claude', isDefault: false },
      { ...common, model: `${other.id}/${standInModel}`, name: standInModel, provider: 'Azure', isDefault: false },
    ])
  })
})
