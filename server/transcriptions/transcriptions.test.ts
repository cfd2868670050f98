import { beforeEach, describe, expect, it } from 'vitest'
import { makeAgent, makeConversation, makeModelProvider, makeMonitor, makeOrganization } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { depsWith } from '../../test/support/deps-with.ts'
import { Failure, serveProvider } from '../../test/support/model-providers/stand-ins.ts'
import { serveTranscription } from '../../test/support/model-providers/transcription-stand-in.ts'
import { speak, toWav } from '../../test/support/recordings.ts'
import type { Models } from '../model-providers/models.ts'
import { measureSound } from '../sound/jobs.ts'
import { measureRun } from '../sound/runs/lifecycle.ts'
import { jobList } from '../worker.ts'
import { transcribe } from './lifecycle.ts'

const server = await testServer({
  EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.0/8',
  EARSHOT_JUDGE_LIMITS: 'attempts=1,concurrency=4',
})
const { call, deps } = server
const { db, jobs } = deps

const spoken = speak([
  { channel: 0, text: 'Hello, this is the clinic, how can I help you today?', startMs: 500 },
  { channel: 1, text: 'I would like to move my appointment to next Friday please.', startMs: 5_000 },
  { channel: 0, text: 'I can offer you ten thirty in the morning.', startMs: 9_700 },
])
const recording = toWav(spoken.channels)
const oneChannel = toWav(spoken.channels.slice(0, 1))
const sent = [
  { role: 'agent', text: 'Acme Dental, how can I help?' },
  { role: 'customer', text: 'Never mind.' },
]

let key: string
beforeEach(async () => {
  key = (await makeOrganization(server)).key
})

const price = { input: 0, output: 0, audioMinute: 0.6 }
const prices = { 'whisper-1': price, 'gpt-4o-transcribe': price }

type Kind = Parameters<typeof serveTranscription>[0]

const makeProvider = async (
  answering?: Parameters<typeof serveTranscription>[1],
  { kind = 'openai-compatible' as Kind, ...settings }: { kind?: Kind; apiVersion?: string } = {},
) => {
  const standIn = await serveTranscription(kind, answering)
  const provider = await makeModelProvider(server, key, {
    kind,
    settings: { ...standIn.settings, ...settings },
    prices,
  })
  return { ...standIn, id: provider.id as string }
}

const change = async (body: object) => {
  const answer = await call('PATCH', '/v1/organization', { key, body })
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}

const record = async (fields: object = {}, content = recording) => {
  const { id } = await makeConversation(server, key, fields)
  const headers = { 'content-type': 'audio/wav' }
  const answer = await call('PUT', `/v1/conversations/${id}/recording`, { key, raw: Uint8Array.from(content), headers })
  expect(answer.status, answer.text).toBe(200)
  return id as string
}

const measure = () => jobs.drain([measureSound], deps)
const work = () => jobs.drain(jobList, deps, { delayed: true, allowFailures: true })

const read = async (id: string) => {
  const answer = await call('GET', `/v1/conversations/${id}/transcript`, { key })
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}

/** Selects a model from a new provider, and transcribes a new recording. */
const transcribeOne = async (
  answering?: Parameters<typeof serveTranscription>[1],
  { model = 'whisper-1', ...options }: { model?: string; kind?: Kind; apiVersion?: string } = {},
) => {
  const provider = await makeProvider(answering, options)
  await change({ transcriptionModel: `${provider.id}/${model}`, agentChannel: 0 })
  const id = await record()
  await work()
  return { provider, id, transcript: await read(id) }
}

type Spoken = { role: string; text: string; startMs: number; endMs: number }

/** Expects turns with the roles and times of the spoken lines. */
const expectSpoken = (turns: Spoken[], roles = ['agent', 'customer', 'agent']) => {
  expect(turns.map(({ role }) => role)).toEqual(roles)
  for (const [index, line] of spoken.lines.entries()) {
    expect(Math.abs((turns[index]?.startMs ?? 0) - line.startMs)).toBeLessThan(400)
    expect(Math.abs((turns[index]?.endMs ?? 0) - line.endMs)).toBeLessThan(400)
  }
}

describe('a recording without a transcript', () => {
  it('is transcribed by channel, and everything follows from the transcript', async () => {
    const { id: monitorId } = await makeMonitor(server, key, {
      kind: 'rule',
      definition: { expression: 'turns.exists(t, t.text.contains("Sentence"))' },
    })
    const { provider, id, transcript } = await transcribeOne()
    expectSpoken(transcript.turns)
    expect(provider.asked.map(({ model, format }) => [model, format])).toEqual([
      ['whisper-1', 'verbose_json'],
      ['whisper-1', 'verbose_json'],
    ])
    const audioSeconds = provider.asked.reduce((sum, { seconds }) => sum + seconds, 0)
    // Silence is not sent.
    expect(audioSeconds).toBeLessThan(0.9 * (spoken.durationMs / 1_000))
    expect(transcript).toMatchObject({
      transcribedBy: 'openai-compatible:whisper-1',
      content: { turns: [{ channel: 0 }, { channel: 1 }, { channel: 0 }] },
      transcription: { status: 'completed', failure: null, model: `${provider.id}/whisper-1` },
    })
    expect(transcript.transcription.audioSeconds).toBeCloseTo(audioSeconds, 1)
    expect(transcript.transcription.cost).toBeCloseTo((audioSeconds / 60) * 0.6, 3)
    const { judgeSpending } = (await call('GET', '/v1/organization', { key })).body
    expect(judgeSpending.audioSeconds).toBeCloseTo(audioSeconds, 1)
    expect(judgeSpending.cost).toBeCloseTo((audioSeconds / 60) * 0.6, 3)

    const { body: conversation } = await call('GET', `/v1/conversations/${id}`, { key })
    expect(conversation.signals.turns).toBeDefined()
    const { body: found } = await call('POST', '/v1/conversations/search', {
      key,
      body: { filter: { text: 'Sentence' } },
    })
    expect(found.data.map((one: { id: string }) => one.id)).toEqual([id])
    const { body: results } = await call('GET', `/v1/conversations/${id}/results`, { key })
    expect(results.data).toMatchObject([{ monitorId, result: 'affected' }])
    const { body: sound } = await call('GET', `/v1/conversations/${id}/sound`, { key })
    expect(sound.speakers).toEqual({ agent: 0, customer: 1, by: 'setting' })
  })

  it('is sent turn by turn to a model that returns no times', async () => {
    const { provider, transcript } = await transcribeOne(undefined, { model: 'gpt-4o-transcribe' })
    expectSpoken(transcript.turns)
    expect(provider.asked.map(({ format }) => format)).toEqual(['json', 'json', 'json'])
  })

  it.each([undefined, '2024-10-21'])('is transcribed by Azure with the API version %s', async (apiVersion) => {
    const options = { kind: 'azure-openai' as const, ...(apiVersion && { apiVersion }) }
    const { provider, transcript } = await transcribeOne(undefined, options)
    expectSpoken(transcript.turns)
    expect(transcript.transcribedBy).toBe('azure-openai:whisper-1')
    const path = '/openai/deployments/whisper-1/audio/transcriptions?api-version=2024-10-21'
    expect(provider.asked[0]?.path).toBe(apiVersion ? path : '/openai/v1/audio/transcriptions')
  })

  it('has turns of unknown speakers if nobody has said who is on which channel', async () => {
    const { id } = await makeProvider()
    await change({ transcriptionModel: `${id}/whisper-1` })
    const both = await record()
    const one = await record({}, oneChannel)
    await work()
    expectSpoken((await read(both)).turns, ['other', 'other', 'other'])
    expect((await read(one)).turns.map(({ role }: Spoken) => role)).toEqual(['other', 'other'])
  })

  it('is complete without a transcript if the model finds no text', async () => {
    const { transcript } = await transcribeOne(() => '')
    expect(transcript).toMatchObject({ content: null, turns: [], transcription: { status: 'completed' } })
  })

  it('is not transcribed without a model, or while the conversation is in progress', async () => {
    const before = await record()
    await work()
    expect(await read(before)).toMatchObject({ content: null, transcribedBy: null, transcription: null })
    const { id: providerId, asked } = await makeProvider()
    await change({ transcriptionModel: `${providerId}/whisper-1` })
    const id = await record({ status: 'in_progress' })
    await work()
    expect(asked).toEqual([])
    await call('PATCH', `/v1/conversations/${id}`, { key, body: { status: 'completed' } })
    await work()
    expect((await read(id)).transcription).toMatchObject({ status: 'completed' })
  })
})

describe('a transcript that was sent', () => {
  it('replaces the one from the model, even if it is shorter', async () => {
    const { id } = await transcribeOne()
    await call('PATCH', `/v1/conversations/${id}`, { key, body: { transcript: sent } })
    expect(await read(id)).toMatchObject({ content: sent, transcribedBy: null, transcription: null })

    const externalId = 'call_later'
    const other = await record({ externalId })
    await work()
    expect((await read(other)).transcribedBy).toBe('openai-compatible:whisper-1')
    const { agentId, startedAt } = (await call('GET', `/v1/conversations/${other}`, { key })).body
    const body = { externalId, agentId, startedAt, channel: 'call', transcript: sent }
    expect((await call('POST', '/v1/conversations', { key, body })).status).toBe(200)
    expect(await read(other)).toMatchObject({ content: sent, transcribedBy: null })
  })

  it('keeps a recording from being sent, also if it arrives while the model answers', async () => {
    const { id: providerId, asked } = await makeProvider(undefined)
    await change({ transcriptionModel: `${providerId}/whisper-1` })
    const first = await record({ transcript: sent })
    const second = await record()
    await measure()
    expect((await read(second)).transcription).toMatchObject({ status: 'pending', audioSeconds: 0, cost: null })
    await call('PATCH', `/v1/conversations/${second}`, { key, body: { transcript: sent } })
    await work()
    expect(asked).toEqual([])

    const third = await record()
    const late = await makeProvider(() => {
      void call('PATCH', `/v1/conversations/${third}`, { key, body: { transcript: sent } })
      return undefined
    })
    await change({ transcriptionModel: `${late.id}/whisper-1` })
    await work()
    for (const id of [first, second, third]) {
      await expect.poll(() => read(id)).toMatchObject({ content: sent, transcribedBy: null })
    }
  })
})

it('transcribes the new recording if it was replaced while the model answers', async () => {
  const quiet = toWav([new Float32Array(24_000), new Float32Array(24_000)])
  const id = await record()
  const replace = () => {
    const headers = { 'content-type': 'audio/wav' }
    return call('PUT', `/v1/conversations/${id}/recording`, { key, raw: Uint8Array.from(quiet), headers })
  }
  const provider = await makeProvider((_, number) => {
    if (number === 1) void replace()
    return undefined
  })
  await change({ transcriptionModel: `${provider.id}/whisper-1` })
  await work()
  // Nothing is spoken in the new recording.
  await expect.poll(() => read(id)).toMatchObject({ content: null, transcription: { status: 'completed' } })
})

it('never sends a recording that is not redacted yet, unless an admin allows it', async () => {
  await change({ soundRedaction: 'mute' })
  const { provider, transcript } = await transcribeOne()
  expect(provider.asked).toEqual([])
  expect(transcript).toMatchObject({
    content: null,
    transcription: { status: 'failed', failure: expect.stringContaining('soundToModels') },
  })
})

describe('a failing provider', () => {
  it('is asked again only after the delay it requests, and only for what is missing', async () => {
    const answering = (_: unknown, number: number) =>
      number === 2 ? new Failure(429, {}, { 'retry-after': '600' }) : undefined
    const id = await record()
    await measure()
    const { id: providerId, asked } = await makeProvider(answering)
    await change({ transcriptionModel: `${providerId}/whisper-1` })
    await call('POST', '/v1/sound-runs', { key, body: { transcribe: true } })
    await jobs.drain([measureRun], deps)
    await jobs.drain([transcribe], deps)
    expect(asked).toHaveLength(2)
    const waiting = await db.selectFrom('jobs').select('due_at').where('name', '=', transcribe.name).execute()
    expect(waiting.filter(({ due_at: due }) => due.getTime() - Date.now() > 590_000)).toHaveLength(1)
    server.clock.advance(601_000)
    await jobs.drain([transcribe], deps, { delayed: true })
    expect(asked).toHaveLength(3)
    expect((await read(id)).transcription).toMatchObject({ status: 'completed' })
  })

  it('is given up after many attempts', async () => {
    const { provider, transcript } = await transcribeOne(() => new Failure(503))
    expect(transcript).toMatchObject({
      content: null,
      transcription: {
        status: 'failed',
        failure: 'The model provider did not transcribe it: the endpoint keeps failing, so requests are paused.',
      },
    })
    // After five failures, the provider's circuit breaker stops requests.
    expect(provider.asked).toHaveLength(5)
  })

  it('that rejects a request is not asked again, and the health check says why', async () => {
    const { provider, transcript } = await transcribeOne(() => new Failure(400, { error: { code: 'invalid_audio' } }))
    const failure = 'The model provider did not transcribe it: the endpoint returned status 400 (invalid_audio).'
    expect(transcript.transcription).toMatchObject({ status: 'failed', failure, audioSeconds: 0 })
    expect(provider.asked).toHaveLength(1)
    const { checks } = (await call('GET', '/v1/health', { key })).body
    expect(checks.find(({ name }: { name: string }) => name === 'transcriptions')).toMatchObject({
      status: 'degraded',
      message: `1 recording could not be transcribed in the last day. ${failure}`,
    })
  })

  it('may return something other than a transcript', async () => {
    const answering = () => new Failure(200, '<html>Sign in</html>')
    const { transcript } = await transcribeOne(answering)
    expect(transcript.transcription).toMatchObject({
      status: 'failed',
      failure: 'The model provider did not transcribe it: the endpoint returned no transcript.',
    })
  })
})

it('asks for a part once if the process dies between two parts', async () => {
  const { id: providerId, asked } = await makeProvider()
  await change({ transcriptionModel: `${providerId}/whisper-1` })
  const id = await record()
  await measure()
  let requests = 0
  const find: Models['find'] = async (...args) => {
    const chain = await deps.models.find(...args)
    if ('fault' in chain) return chain
    const [link, ...others] = chain.links
    const { transcription } = link
    if (!transcription) return chain
    const dying: typeof transcription.transcribe = (...request) => {
      if (++requests === 2) throw new Error('The process dies.')
      return transcription.transcribe(...request)
    }
    return { ...chain, links: [{ ...link, transcription: { ...transcription, transcribe: dying } }, ...others] }
  }
  const dying = depsWith(deps, { models: { ...deps.models, find } })
  const outcomes = await jobs.drain([transcribe], dying, { delayed: true, allowFailures: true })
  expect(outcomes.map(({ result }) => result)).toEqual(['retried', 'completed'])
  expect(asked).toHaveLength(2)
  expect(await db.selectFrom('transcription_parts').select('key').where('conversation_id', '=', id).execute()).toEqual(
    [],
  )
  expect((await read(id)).transcription.status).toBe('completed')
})

describe('the monthly budget', () => {
  it('is respected', async () => {
    await change({ monthlyJudgeBudget: 0.04 })
    const { provider, transcript } = await transcribeOne()
    // The first request would exceed the budget.
    expect(provider.asked).toEqual([])
    expect(transcript.transcription).toMatchObject({
      status: 'failed',
      failure: 'The monthly judge budget is used up.',
    })
  })
})

describe('in PHI mode', () => {
  it('nothing is sent unless an admin allows it', async () => {
    key = (await makeOrganization(server, { features: { phiMode: true } })).key
    const { provider, transcript } = await transcribeOne()
    expect(provider.asked).toEqual([])
    const failure = expect.stringContaining('In PHI mode, recordings are only sent to models if an admin allows it')
    expect(transcript.transcription).toMatchObject({ status: 'failed', failure })
    expect((await change({ soundToModels: true })).soundToModels).toBe(true)
    const id = await record()
    await work()
    expect((await read(id)).transcription.status).toBe('completed')
  })

  it('redacts transcripts if the organization does', async () => {
    key = (await makeOrganization(server, { features: { phiMode: true } })).key
    await change({ soundToModels: true, redaction: true })
    const { transcript, id } = await transcribeOne(() => 'Write to ada@example.com.')
    expect(transcript.turns.length).toBeGreaterThan(0)
    expect(JSON.stringify(transcript)).not.toContain('ada@example.com')
    // The recording waited for the transcript, and is redacted according to its times.
    const { body: conversation } = await call('GET', `/v1/conversations/${id}`, { key })
    expect(conversation.recording.status).toBe('stored')
  })
})

describe('settings', () => {
  it('of an agent override those of the organization', async () => {
    const [first, second] = [await makeProvider(), await makeProvider()]
    await change({ transcriptionModel: `${first.id}/whisper-1`, agentChannel: 0 })
    const own = await makeAgent(server, key)
    const without = await makeAgent(server, key)
    const set = async (id: string, body: object) => {
      const answer = await call('PATCH', `/v1/agents/${id}`, { key, body })
      expect(answer.status, answer.text).toBe(200)
      expect(answer.body).toMatchObject(body)
    }
    await set(own.id, { transcriptionModel: `${second.id}/whisper-1`, agentChannel: 1 })
    await set(without.id, { transcriptionModel: 'none' })
    const ofAgent = (agentId: string) => record({ agent: undefined, agentId })
    const [transcribed, left] = [await ofAgent(own.id), await ofAgent(without.id)]
    await work()
    expect(first.asked).toEqual([])
    expectSpoken((await read(transcribed)).turns, ['customer', 'agent', 'customer'])
    expect((await read(left)).transcription).toBeNull()
  })

  it('only name models of providers that transcribe', async () => {
    const standIn = await serveProvider('anthropic', () => new Failure(500))
    const { id } = await makeModelProvider(server, key, { name: 'Claude', settings: standIn.settings })
    const patch = (transcriptionModel: string) =>
      call('PATCH', '/v1/organization', { key, body: { transcriptionModel } })
    const message = 'must name an OpenAI-compatible or Azure OpenAI provider; “Claude” cannot transcribe recordings'
    expect((await patch(`${id}/claude`)).body.details.issues).toEqual([{ path: 'transcriptionModel', message }])
    const other = await makeOrganization(server)
    const foreign = await makeModelProvider(server, other.key, { kind: 'openai-compatible' })
    expect((await patch(`${foreign.id}/whisper-1`)).status).toBe(400)
    expect((await patch('whisper-1')).status).toBe(400)
  })

  it('keep a provider from being deleted', async () => {
    const { id } = await makeProvider()
    await change({ transcriptionModel: `${id}/whisper-1` })
    expect((await call('DELETE', `/v1/model-providers/${id}`, { key })).status).toBe(409)
    await change({ transcriptionModel: null })
    expect((await call('DELETE', `/v1/model-providers/${id}`, { key })).status).toBe(204)
  })
})

describe('a run', () => {
  const run = (body: object = {}) => call('POST', '/v1/sound-runs', { key, body: { transcribe: true, ...body } })
  const show = async (id: string) => (await call('GET', `/v1/sound-runs/${id}`, { key })).body

  it('needs a model', async () => {
    const { status, body } = await run()
    expect(status).toBe(409)
    expect(body.message).toContain('No model transcribes recordings')
  })

  it('estimates, and transcribes stored recordings that have no transcript', async () => {
    const first = await record({ durationSeconds: 60 })
    const withTranscript = await record({ transcript: sent, durationSeconds: 60 })
    await measure()
    const second = await record({ durationSeconds: 120 })
    await db.deleteFrom('jobs').where('name', '=', 'sound.measure').execute()
    const { id: providerId, asked } = await makeProvider()
    await change({ transcriptionModel: `${providerId}/whisper-1` })
    const estimate = await run({ dryRun: true })
    expect(estimate.status).toBe(200)
    expect(estimate.body.total).toBe(2)
    expect(estimate.body.transcriptions).toMatchObject({ recordings: 2, minutes: 3 })
    expect(estimate.body.transcriptions.cost).toBeCloseTo(1.8)
    const { status, body } = await run()
    expect(status).toBe(202)
    await jobs.drain([measureRun], deps)
    expect(await show(body.id)).toMatchObject({
      status: 'completed',
      total: 2,
      measured: 1,
      transcriptions: { pending: 2, completed: 0, failed: 0, cost: 0 },
    })
    await work()
    const { transcriptions } = await show(body.id)
    expect(transcriptions).toMatchObject({ pending: 0, completed: 2, failed: 0 })
    expect(transcriptions.cost).toBeGreaterThan(0.1)
    expect(asked).toHaveLength(4)
    for (const id of [first, second]) expect((await read(id)).transcribedBy).not.toBeNull()
    expect((await read(withTranscript)).content).toEqual(sent)
  })

  it('transcribes recordings that wait for their redaction', async () => {
    key = (await makeOrganization(server, { features: { phiMode: true } })).key
    await change({ soundToModels: true, redaction: true })
    const id = await record()
    await server.drain()
    const statusOf = async () => (await call('GET', `/v1/conversations/${id}`, { key })).body.recording.status
    expect(await statusOf()).toBe('processing')
    const { id: providerId } = await makeProvider()
    await change({ transcriptionModel: `${providerId}/whisper-1` })
    expect((await run({ dryRun: true })).body).toMatchObject({ total: 1, transcriptions: { recordings: 1 } })
    expect((await run()).body.total).toBe(1)
    await work()
    expect(await statusOf()).toBe('stored')
  })

  it('transcribes again what failed, and can be cancelled', async () => {
    const { transcript, id } = await transcribeOne((_, number) => (number === 1 ? new Failure(400) : undefined))
    expect(transcript.transcription.status).toBe('failed')
    const start = async () => {
      const { body } = await run()
      await jobs.drain([measureRun], deps)
      return body.id as string
    }
    const cancelled = await start()
    const cancel = () => call('POST', `/v1/sound-runs/${cancelled}/cancel`, { key })
    expect((await cancel()).body.transcriptions).toMatchObject({ pending: 0, completed: 0 })
    expect((await cancel()).status).toBe(409)
    await work()
    expect((await read(id)).content).toBeNull()
    await start()
    await work()
    expect((await read(id)).transcription.status).toBe('completed')
  })
})
