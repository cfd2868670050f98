import { beforeEach, describe, expect, it } from 'vitest'
import { makeConversation, makeModelProvider, makeMonitor, makeOrganization } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { type Answering, serveProvider, standInModel } from '../../test/support/model-providers/stand-ins.ts'
import { speak, toWav, wavFormats } from '../../test/support/recordings.ts'
import type { ProviderKind } from '../model-providers/settings.ts'
import { measureRun } from '../sound/runs/lifecycle.ts'
import { excerptsAround } from './hear-conversation.ts'
import { evaluateConversations, judge as judgeJob } from './lifecycle.ts'

const server = await testServer({
  EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.0/8',
  EARSHOT_JUDGE_LIMITS: 'attempts=1,concurrency=4',
})
const { call, deps } = server
const { jobs } = deps

const spoken = speak([
  { channel: 0, text: 'Hello, this is the clinic, how can I help you today?', startMs: 500 },
  { channel: 1, text: 'I would like to move my appointment to next Friday please.', startMs: 6_000 },
  { channel: 0, text: 'I can offer you ten thirty in the morning.', startMs: 12_000 },
])
const recording = toWav(spoken.channels)
const turns = spoken.lines.map(({ channel, text, startMs, endMs }) => ({
  role: channel === 0 ? 'agent' : 'customer',
  text,
  startMs: Math.round(startMs),
  endMs: Math.round(endMs),
}))
const transcript = { turns }

let key: string
beforeEach(async () => {
  key = (await makeOrganization(server)).key
})

const usage = { input: 1_000, output: 100, audioInput: 400 }
const prices = { [standInModel]: { input: 1_000, output: 10_000, audioInput: 5_000 } }
const verdict = {
  evidence: [{ turn: 1, quote: 'move my appointment' }],
  reasoning: 'The voice trembles.',
  score: null,
  result: 'affected',
}
const answering: Answering = () => ({ text: JSON.stringify(verdict), usage })

const makeProvider = async (kind: ProviderKind = 'openai-compatible') => {
  const standIn = await serveProvider(kind, answering)
  await makeModelProvider(server, key, { kind, settings: standIn.settings, prices })
  return standIn
}

const definition = { criteria: 'The customer is upset.', output: { type: 'boolean' }, input: 'sound' }
const makeListener = (fields: object = {}) =>
  makeMonitor(server, key, { kind: 'judge', definition: { ...definition, ...fields } })

const record = async (fields: object = { transcript }, content = recording) => {
  const { id } = await makeConversation(server, key, fields)
  const headers = { 'content-type': 'audio/wav' }
  const answer = await call('PUT', `/v1/conversations/${id}/recording`, { key, raw: Uint8Array.from(content), headers })
  expect(answer.status, answer.text).toBe(200)
  return id as string
}

const resultOf = async (id: string) => (await call('GET', `/v1/conversations/${id}/results`, { key })).body.data[0]

const evaluate = async (fields?: object, content?: Buffer) => {
  const id = await record(fields, content)
  await server.drain()
  return resultOf(id)
}

const wavSeconds = (wav: Buffer | undefined) => ((wav?.length ?? 44) - 44) / 32_000

describe('a judge that listens', () => {
  it.each(['openai-compatible', 'google'] as const)('sends the whole call to %s', async (kind) => {
    const { asked } = await makeProvider(kind)
    await makeListener()
    expect(await evaluate()).toMatchObject({
      status: 'scored',
      result: 'affected',
      reasoning: 'The voice trembles.',
      evaluator: `${kind}:${standInModel}`,
      tokens: { input: 1_000, output: 100 },
      cost: (600 * 1_000 + 400 * 5_000 + 100 * 10_000) / 1_000_000,
    })
    expect(asked).toHaveLength(1)
    const [{ system, user, sounds } = { system: '', user: '', sounds: [] }] = asked
    expect(system).toContain('THE SOUND')
    expect(user).toContain('move my appointment')
    expect(sounds?.map(({ caption }) => caption)).toEqual(['The sound of the conversation:'])
    expect(wavSeconds(sounds?.[0]?.wav)).toBeCloseTo(spoken.durationMs / 1_000, 1)
  })

  it('hears excerpts around the turns that a rule quotes', async () => {
    const { asked } = await makeProvider()
    const expression = "turns.by('customer').mentions('appointment')"
    await makeListener({ soundExcerpt: { expression, beforeMs: 1_000, afterMs: 500 } })
    expect(await evaluate()).toMatchObject({ status: 'scored' })
    const line = spoken.lines[1]
    const [from, to] = [(line?.startMs ?? 0) - 1_000, (line?.endMs ?? 0) + 500]
    const [sound] = asked[0]?.sounds ?? []
    expect(sound?.caption).toMatch(/^The sound of the conversation from 5\.0 to \d+\.\d seconds:$/)
    expect(wavSeconds(sound?.wav)).toBeCloseTo((to - from) / 1_000, 1)
  })

  it('hears nothing if the rule quotes no turn', async () => {
    const { asked } = await makeProvider()
    await makeListener({ soundExcerpt: { expression: "turns.mentions('lawyer')", beforeMs: 0, afterMs: 0 } })
    const reasoning = 'the excerpt rule matched no turn'
    expect(await evaluate()).toMatchObject({ status: 'unscored', reasoning })
    expect(asked).toEqual([])
  })

  it('waits until the recording is decoded, and is not asked again when it is measured again', async () => {
    const { asked } = await makeProvider()
    await makeListener()
    const id = await record()
    await jobs.drain([evaluateConversations, judgeJob], deps)
    expect(await resultOf(id)).toBeUndefined()
    // The test's clock dates results, and the database dates recordings.
    server.clock.advance(Date.now() - server.clock.now().getTime() + 1)
    await server.drain()
    expect(await resultOf(id)).toMatchObject({ status: 'scored' })
    const { status } = await call('POST', '/v1/sound-runs', { key, body: { again: true } })
    expect(status).toBe(202)
    await jobs.drain([measureRun], deps)
    await server.drain()
    expect(asked).toHaveLength(1)
    const changed = { turns: [...turns, { role: 'agent', text: 'Goodbye.', startMs: 17_000, endMs: 18_000 }] }
    await call('PATCH', `/v1/conversations/${id}`, { key, body: { transcript: changed } })
    await server.drain()
    expect(asked).toHaveLength(2)
  })

  it('says why it hears nothing', async () => {
    const { asked } = await makeProvider()
    await makeListener()
    const { id } = await makeConversation(server, key, { transcript })
    await server.drain()
    expect(await resultOf(id)).toMatchObject({ status: 'unscored', reasoning: 'there is no recording' })
    const eightMinutes = toWav([new Float32Array(8 * 60 * 8_000)], wavFormats.u8, 8_000)
    expect(await evaluate({ transcript }, eightMinutes)).toMatchObject({
      status: 'unscored',
      reasoning: 'a judge can hear 7 minutes, and this is 8.0. Choose excerpts',
    })
    expect(asked).toEqual([])
  })

  it('hears nothing in PHI mode, unless an admin allows it', async () => {
    key = (await makeOrganization(server, { features: { phiMode: true } })).key
    const { asked } = await makeProvider()
    await makeListener()
    const reasoning = expect.stringContaining('In PHI mode')
    expect(await evaluate()).toMatchObject({ status: 'unscored', reasoning })
    expect(asked).toEqual([])
    await call('PATCH', '/v1/organization', { key, body: { soundToModels: true } })
    expect(await evaluate()).toMatchObject({ status: 'scored' })
  })

  it.each(['anthropic', 'azure-openai', 'ollama'] as const)('cannot use a model of %s', async (kind) => {
    await makeProvider(kind)
    const answer = await call('POST', '/v1/monitors', { key, body: { name: 'Upset', kind: 'judge', definition } })
    expect(answer.status).toBe(400)
    expect(answer.body.details.issues).toMatchObject([{ path: 'definition.input' }])
  })

  it('has an excerpt only with sound, and with a valid rule', async () => {
    await makeProvider()
    const issuesOf = async (fields: object) => {
      const body = { name: 'Upset', kind: 'judge', definition: { ...definition, ...fields } }
      return (await call('POST', '/v1/monitors', { key, body })).body.details.issues
    }
    const soundExcerpt = { expression: 'true', beforeMs: 0, afterMs: 0 }
    expect(await issuesOf({ input: 'transcript', soundExcerpt })).toMatchObject([{ path: 'definition.soundExcerpt' }])
    const invalid = { ...soundExcerpt, expression: 'turns.shouts()' }
    expect(await issuesOf({ soundExcerpt: invalid })).toMatchObject([{ path: 'definition.soundExcerpt.expression' }])
  })

  it('shares no request with other judges, and sends no batches', async () => {
    const { asked } = await makeProvider()
    const { id } = await makeListener()
    await makeMonitor(server, key, { kind: 'judge', definition: { ...definition, input: 'transcript' } })
    await evaluate()
    expect(asked.map(({ sounds = [] }) => sounds.length).toSorted()).toEqual([0, 1])
    const period = { since: '2026-11-01T00:00:00Z', until: '2026-12-01T00:00:00Z' }
    const answer = await call('POST', `/v1/monitors/${id}/evaluations`, { key, body: { ...period, mode: 'batch' } })
    expect([answer.status, answer.body.message]).toEqual([409, 'Judges that listen can’t be sent as batches.'])
  })
})

it('the estimate of a run counts the sound', async () => {
  await makeProvider()
  await record()
  const period = { since: '2026-11-01T00:00:00Z', until: '2026-12-01T00:00:00Z' }
  const estimate = async (fields: object) => {
    const { id } = await makeMonitor(server, key, {
      kind: 'judge',
      enabled: false,
      definition: { ...definition, ...fields },
    })
    return (await call('POST', `/v1/monitors/${id}/evaluations`, { key, body: { ...period, dryRun: true } })).body
  }
  const [heard, read] = [await estimate({}), await estimate({ input: 'transcript' })]
  const lastMs = turns.at(-1)?.endMs ?? 0
  const soundTokens = 32 * (lastMs / 1_000)
  // The prompt also contains more text about sound.
  expect(heard.tokens.input - read.tokens.input).toBeGreaterThan(soundTokens)
  expect(heard.cost - read.cost).toBeGreaterThan((soundTokens * 5_000) / 1_000_000)
})

it('joins excerpts that touch, and keeps them within the recording', () => {
  const spans = [
    { startMs: 9_000, endMs: 9_500 },
    { startMs: 500, endMs: 2_000 },
    { startMs: 2_500, endMs: null },
    { startMs: null, endMs: null },
  ]
  expect(excerptsAround(spans, { beforeMs: 1_000, afterMs: 1_000 }, 10_000)).toEqual([
    { startMs: 0, endMs: 3_500 },
    { startMs: 8_000, endMs: 10_000 },
  ])
})
