import { describe, expect, it, onTestFinished } from 'vitest'
import { serve } from '../../../test/outside.ts'
import {
  type Answering,
  Failure,
  serveProvider,
  standInKey,
  standInModel,
} from '../../../test/support/model-providers/stand-ins.ts'
import { systemClock } from '../../platform/clock.ts'
import { openOutbound } from '../../platform/outbound/outbound.ts'
import { type ProviderKind, type ProviderSettings, providerKinds } from '../settings.ts'
import type { ModelPrompt } from './dialect.ts'
import { openEndpoint } from './send.ts'
import { tenantTransport } from './transport.ts'

const never = new AbortController().signal

const schema = {
  type: 'object',
  properties: {
    reasoning: { type: 'string' },
    score: { anyOf: [{ type: 'number' }, { type: 'null' }] },
    result: { type: 'string', enum: ['affected', 'not_affected'] },
  },
  required: ['reasoning', 'score', 'result'],
  additionalProperties: false,
}
const prompt = { system: 'Judge the transcript.', user: '<transcript>\n{"text":"Grüezi"}\n</transcript>', schema }
const answer = '{"reasoning":"It shows.","score":null,"result":"affected"}'

/** Opens an endpoint with a stand-in as its provider, using the client for tenants' URLs. */
const open = async (
  kind: ProviderKind,
  { answering = () => ({ text: answer }), ...settings }: { answering?: Answering } & Partial<ProviderSettings> = {},
) => {
  const provider = await serveProvider(kind, answering)
  const outbound = openOutbound({ allowedPrivateAddresses: ['127.0.0.0/8'] })
  onTestFinished(outbound.close)
  const endpoint = openEndpoint({
    kind,
    settings: { ...provider.settings, ...settings },
    contextTokens: 8_000,
    timeoutMs: 10_000,
    transport: tenantTransport(outbound),
    clock: systemClock,
  })
  return {
    ...provider,
    ask: (model = standInModel, sent: ModelPrompt = prompt) => endpoint.ask(model, sent, never),
    list: () => endpoint.list(never),
  }
}

describe.each(providerKinds)('%s', (kind) => {
  it('is asked as its documentation demands, and answers with its tokens', async () => {
    const { ask, asked } = await open(kind)
    const reply = await ask()
    expect(reply).toMatchObject({ text: answer, end: 'whole', tokens: { input: 1_000, output: 100 } })
    expect(asked).toMatchObject([{ model: standInModel, system: prompt.system, user: prompt.user, schema }])
  })

  it('gets the shared start of a message before the rest', async () => {
    const { ask, asked } = await open(kind)
    await ask(standInModel, { ...prompt, shared: '<examples>\n{}\n</examples>' })
    expect(asked).toMatchObject([{ user: `<examples>\n{}\n</examples>\n${prompt.user}` }])
  })

  it('says if the answer was cut off or refused', async () => {
    const ends: string[] = []
    for (const end of ['cut', 'refused'] as const) {
      const { ask } = await open(kind, { answering: () => ({ text: '{"reas', end }) })
      ends.push((await ask())?.end ?? 'none')
    }
    // Ollama has no content filter.
    expect(ends).toEqual(['cut', kind === 'ollama' ? 'whole' : 'refused'])
  })

  it('gets the schema in the prompt if that is configured', async () => {
    const { ask, asked } = await open(kind, { structuredOutput: 'prompt' })
    expect(await ask()).toMatchObject({ text: answer })
    expect(asked[0]?.schema).toBeUndefined()
    expect(asked[0]?.system).toContain(JSON.stringify(schema))
  })

  it('rejects an unknown model', async () => {
    const { ask } = await open(kind)
    await expect(ask('model-x')).rejects.toMatchObject({ name: 'EndpointError', kind: 'refused', status: 404 })
  })

  it('may be busy or down', async () => {
    const { ask } = await open(kind, {
      answering: (_, number) => new Failure(number === 1 ? 429 : 503, {}, { 'retry-after': '7' }),
    })
    await expect(ask()).rejects.toMatchObject({ kind: 'busy', retryAfterMs: 7_000 })
    await expect(ask()).rejects.toMatchObject({ kind: 'down' })
  })

  it('may return something other than an answer', async () => {
    const { ask } = await open(kind, { answering: () => new Failure(200, '<html>Sign in</html>') })
    expect(await ask()).toBeUndefined()
  })

  it('reports no tokens if their place is empty', async () => {
    const text = { role: 'assistant', content: answer }
    const bodies: Record<ProviderKind, object> = {
      'openai-compatible': { choices: [{ message: text }], usage: null },
      anthropic: { content: [{ type: 'text', text: answer }], usage: null },
      google: { candidates: [{ content: { parts: [{ text: answer }] }, finishReason: 'STOP' }], usageMetadata: null },
      'azure-openai': { choices: [{ message: text }], usage: null },
      bedrock: { output: { message: { content: [{ text: answer }] } }, usage: null },
      ollama: { message: text, eval_count: null },
    }
    const { ask } = await open(kind, { answering: () => new Failure(200, bodies[kind]) })
    expect(await ask()).toEqual({ text: answer, end: 'whole', tokens: null })
  })

  it('does not break if the answer has a strange form', async () => {
    // JavaScript can convert this value to neither text nor a number.
    const strange = { toString: 1, valueOf: 1 }
    const bodies: Record<ProviderKind, object> = {
      'openai-compatible': { choices: { 0: null } },
      anthropic: { content: [], stop_reason: strange },
      google: { candidates: [{ finishReason: strange }] },
      'azure-openai': { choices: 1 },
      bedrock: { output: { message: { content: [] } }, stopReason: strange },
      ollama: { message: strange },
    }
    const { ask } = await open(kind, { answering: () => new Failure(200, bodies[kind]) })
    expect(await ask()).toBeUndefined()
  })

  it('lists its models', async () => {
    const { list } = await open(kind)
    const models = await list()
    if (kind === 'azure-openai') return expect(models).toBeUndefined()
    expect(models?.map(({ id }) => id)).toEqual([standInModel, kind === 'bedrock' ? 'eu.model-b' : 'model-b'])
  })
})

describe.each(providerKinds.filter((kind) => kind !== 'ollama'))('%s', (kind) => {
  it('rejects a wrong key, which is not shown', async () => {
    const wrong = kind === 'bedrock' ? { secretAccessKey: 'wrong' } : { apiKey: 'wrong' }
    const { ask } = await open(kind, wrong)
    const error = await ask().catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ name: 'EndpointError', kind: 'locked' })
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(standInKey)
  })
})

it.each(['openai-compatible', 'anthropic', 'google', 'azure-openai', 'bedrock'] as const)(
  '%s reports cached tokens as part of the input',
  async (kind) => {
    const usage = { input: 2_000, output: 50, cachedInput: 1_500, cacheWrite: 0 }
    const { ask } = await open(kind, { answering: () => ({ text: answer, usage }) })
    expect((await ask())?.tokens).toEqual(usage)
  },
)

it.each(['anthropic', 'bedrock'] as const)('%s reports tokens that it wrote to the cache', async (kind) => {
  const usage = { input: 2_000, output: 50, cachedInput: 0, cacheWrite: 1_500 }
  const { ask } = await open(kind, { answering: () => ({ text: answer, usage }) })
  expect((await ask())?.tokens).toEqual(usage)
})

describe('prompt caching', () => {
  const cacheControlOf = async (settings: Partial<ProviderSettings>) => {
    const { ask, asked } = await open('anthropic', settings)
    await ask()
    return asked[0]?.body.system
  }

  it('marks the instructions for Anthropic, unless it is off', async () => {
    const text = { type: 'text', text: prompt.system }
    expect(await cacheControlOf({})).toEqual([{ ...text, cache_control: { type: 'ephemeral' } }])
    expect(await cacheControlOf({ promptCaching: false })).toEqual([text])
  })

  it('marks the shared start of a message for Anthropic, unless it is off', async () => {
    const contentOf = async (settings: Partial<ProviderSettings>) => {
      const { ask, asked } = await open('anthropic', settings)
      await ask(standInModel, { ...prompt, shared: 'The same.' })
      return asked[0]?.body.messages
    }
    const [shared, user] = [
      { type: 'text', text: 'The same.\n' },
      { type: 'text', text: prompt.user },
    ]
    const marked = { ...shared, cache_control: { type: 'ephemeral' } }
    expect(await contentOf({})).toEqual([{ role: 'user', content: [marked, user] }])
    expect(await contentOf({ promptCaching: false })).toEqual([{ role: 'user', content: [shared, user] }])
  })

  it('marks the instructions for Bedrock only if it is on, because some models reject it', async () => {
    const { ask, asked } = await open('bedrock')
    await ask()
    expect(asked[0]?.body.system).toEqual([{ text: prompt.system }])
    const caching = await open('bedrock', { promptCaching: true })
    await caching.ask()
    expect(caching.asked[0]?.body.system).toEqual([{ text: prompt.system }, { cachePoint: { type: 'default' } }])
  })
})

describe('Azure', () => {
  it('uses the current API, or a dated version with the deployment in the path', async () => {
    const current = await open('azure-openai')
    await current.ask()
    expect(current.asked[0]?.path).toBe('/openai/v1/chat/completions')
    const dated = await open('azure-openai', { apiVersion: '2024-10-21' })
    await dated.ask()
    const path = `/openai/deployments/${standInModel}/chat/completions?api-version=2024-10-21`
    expect(dated.asked[0]?.path).toBe(path)
  })

  it.each(['/openai', '/openai/v1', '/openai/v1/'])('takes an endpoint that was copied with %s', async (path) => {
    const { url, ...provider } = await open('azure-openai')
    const outbound = openOutbound({ allowedPrivateAddresses: ['127.0.0.0/8'] })
    onTestFinished(outbound.close)
    const endpoint = openEndpoint({
      kind: 'azure-openai',
      settings: { ...provider.settings, baseUrl: `${url}${path}` },
      contextTokens: 8_000,
      timeoutMs: 10_000,
      transport: tenantTransport(outbound),
      clock: systemClock,
    })
    expect(await endpoint.ask(standInModel, prompt, never)).toMatchObject({ text: answer })
  })
})

it('Bedrock may list something else than models', async () => {
  const body = { modelSummaries: [{ inferenceTypesSupported: { includes: 1 } }] }
  const other = await serve((_, response) => response.end(JSON.stringify(body)))
  const { list } = await open('bedrock', { baseUrl: other.url })
  await expect(list()).rejects.toMatchObject({ kind: 'refused', message: 'the endpoint returned no list of models' })
})

it('Bedrock signs names that URLs escape', async () => {
  const { ask } = await open('bedrock')
  const model = 'arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.model v1'
  await expect(ask(model)).rejects.toMatchObject({ kind: 'refused', word: 'ResourceNotFoundException' })
})

it('Bedrock takes an API key instead of a signature', async () => {
  const { ask, asked } = await open('bedrock', { apiKey: standInKey })
  expect(await ask()).toMatchObject({ text: answer })
  expect(asked[0]?.headers.authorization).toBe(`Bearer ${standInKey}`)
})

it('asks Ollama for the whole context, because it would cut the prompt', async () => {
  const { ask, asked } = await open('ollama')
  await ask()
  expect(asked[0]?.body.options).toEqual({ num_ctx: 8_000 })
})
