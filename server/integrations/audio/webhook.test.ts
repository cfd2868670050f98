import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { makeConversation } from '../../../test/make.ts'
import { sample } from '../../../test/samples/ingest/sample.ts'
import { serviceKey, testServer } from '../../../test/server.ts'
import { makeCalled, post, secret, type WebhookProvider } from '../../../test/support/integrations/signed-webhooks.ts'
import { deleteRecording, sweepRecordings } from '../../conversations/recordings/jobs.ts'
import { dayMs } from '../../platform/durations.ts'
import { deleteDeliveries } from '../deliveries/jobs.ts'
import { sweepWaitingRecordings } from './jobs.ts'

const limit = 2 * 1024 * 1024
const server = await testServer({ EARSHOT_LIMITS: `recordingBytes=${limit}` })
const { call } = server
const { db, blobs, jobs, config } = server.deps

const mp3 = (bytes = 200_000) => Buffer.concat([Buffer.from('ID3'), randomBytes(bytes - 3)])

const newCallId = () => `conv_${randomUUID()}`

type Written = { audio?: Buffer | string; typeIsLast?: boolean; type?: string }

const audioEvent = (callId: string, { audio = mp3(), typeIsLast = false, type = 'post_call_audio' }: Written = {}) => {
  const full_audio = typeof audio === 'string' ? audio : audio.toString('base64')
  const data = { agent_id: 'agent_1', conversation_id: callId, full_audio }
  const facts = { event_timestamp: 1_772_010_080 }
  return Buffer.from(JSON.stringify(typeIsLast ? { data, ...facts, type } : { type, ...facts, data }))
}

const transcriptEvent = (callId: string) => {
  const event = sample('elevenlabs_post_call_transcription.json')
  return { ...event, data: { ...event.data, conversation_id: callId } }
}

type Sent = { chunk?: number; key?: string; breakOffAt?: number }

/** Sends the body as ElevenLabs does, in chunks and without a length. */
const sendChunked = (
  { webhookPath }: WebhookProvider,
  body: Buffer,
  { chunk = 8_191, key = secret, breakOffAt }: Sent = {},
) => {
  const seconds = Math.floor(server.clock.now().getTime() / 1_000)
  const digest = createHmac('sha256', key).update(`${seconds}.`).update(body).digest('hex')
  const headers = { 'content-type': 'application/json', 'elevenlabs-signature': `t=${seconds},v0=${digest}` }
  return new Promise<{ status: number; body: Record<string, string | null> }>((resolve, reject) => {
    const sent = request(`${server.origin}${webhookPath}`, { method: 'POST', headers }, async (response) => {
      const text = Buffer.concat(await response.toArray()).toString()
      resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) })
    })
    sent.on('error', reject)
    const write = (at: number) => {
      if (breakOffAt !== undefined && at >= breakOffAt) return sent.destroy()
      if (at >= body.length) return sent.end()
      sent.write(body.subarray(at, at + chunk), () => write(at + chunk))
    }
    write(0)
  })
}

const filesOf = async (org: string): Promise<string[]> => {
  const keys: string[] = []
  for await (const { key } of blobs.list(`${org}/recordings/`)) keys.push(key)
  return keys
}

const unfinishedFiles = () => readdir(join(config.dataDir, 'blobs', '.incoming'))

const countWaiting = async (org: string): Promise<number> => {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::int AS count FROM waiting_recordings WHERE organization_id = ${org}`.execute(db)
  return rows[0]?.count ?? Number.NaN
}

const recordingOf = async (key: string, conversationId: string): Promise<Buffer | undefined> => {
  const { recordingUrl } = (await call('GET', `/v1/conversations/${conversationId}/transcript`, { key })).body
  return recordingUrl && Buffer.from(await (await fetch(recordingUrl)).arrayBuffer())
}

const findDelivery = async (key: string, { id }: WebhookProvider, deliveryId: unknown) =>
  (await call('GET', `/v1/integrations/${id}/deliveries/${deliveryId}`, { key })).body

const sweep = async () => {
  await jobs.enqueue(db, sweepWaitingRecordings, {})
  await jobs.drain([sweepWaitingRecordings, deleteRecording], server.deps)
}

it.each([1_021, 4_096, 65_536])(
  'audio after the transcript becomes its recording, in chunks of %i bytes',
  async (chunk) => {
    const { id, key, integration } = await makeCalled(server, 'elevenlabs')
    const [callId, audio] = [newCallId(), mp3()]
    const { conversationId } = (await post(server, integration, transcriptEvent(callId))).body
    const body = audioEvent(callId, { audio, typeIsLast: true })
    const answer = await sendChunked(integration, body, { chunk })
    expect(answer).toMatchObject({ status: 200, body: { status: 'applied', conversationId } })
    expect(await recordingOf(key, conversationId)).toEqual(audio)
    expect(await findDelivery(key, integration, answer.body.deliveryId)).toMatchObject({
      status: 'applied',
      event: 'post_call_audio',
      bytes: body.length,
      replayable: false,
      payload: null,
    })

    // Sending it again changes nothing.
    const again = await sendChunked(integration, audioEvent(callId))
    expect(again).toMatchObject({ status: 200, body: { status: 'unchanged', conversationId } })
    await server.drain()
    expect(await recordingOf(key, conversationId)).toEqual(audio)
    expect(await filesOf(id)).toHaveLength(1)
  },
)

it('audio before the transcript waits for it', async () => {
  const { id, key, integration } = await makeCalled(server, 'elevenlabs')
  const [callId, audio] = [newCallId(), mp3()]
  const early = await sendChunked(integration, audioEvent(callId, { audio }))
  expect(early).toMatchObject({ status: 202, body: { status: 'pending', conversationId: null } })
  expect((await sendChunked(integration, audioEvent(callId))).body.status).toBe('unchanged')
  const { conversationId } = (await post(server, integration, transcriptEvent(callId))).body
  expect(await recordingOf(key, conversationId)).toEqual(audio)
  expect(await findDelivery(key, integration, early.body.deliveryId)).toMatchObject({
    status: 'applied',
    conversationId,
  })
  await server.drain()
  expect(await countWaiting(id)).toBe(0)
  expect(await filesOf(id)).toHaveLength(1)
  expect((await sendChunked(integration, audioEvent(callId))).body.status).toBe('unchanged')
})

it('audio and its transcript that arrive at the same time find each other', async () => {
  const { id, key, integration } = await makeCalled(server, 'elevenlabs')
  const calls = Array.from({ length: 12 }, () => ({ callId: newCallId(), audio: mp3(20_000) }))
  const answers = await Promise.all(
    calls.flatMap(({ callId, audio }) => [
      post(server, integration, transcriptEvent(callId)),
      sendChunked(integration, audioEvent(callId, { audio })),
    ]),
  )
  expect(answers.filter(({ status }) => status > 202)).toEqual([])
  await sweep()
  for (const [index, { audio }] of calls.entries()) {
    expect(await recordingOf(key, String(answers[2 * index]?.body.conversationId))).toEqual(audio)
  }
  expect(await countWaiting(id)).toBe(0)
  expect(await filesOf(id)).toHaveLength(12)
})

it('a conversation that arrives by another way gets its waiting audio', async () => {
  const { id, key, integration } = await makeCalled(server, 'elevenlabs')
  const [callId, audio] = [newCallId(), mp3()]
  const { deliveryId } = (await sendChunked(integration, audioEvent(callId, { audio }))).body
  const conversation = await makeConversation(server, key, { externalId: callId })
  await sweep()
  expect(await recordingOf(key, conversation.id)).toEqual(audio)
  expect(await findDelivery(key, integration, deliveryId)).toMatchObject({
    status: 'applied',
    conversationId: conversation.id,
  })
  expect(await countWaiting(id)).toBe(0)
})

describe('nothing is stored', () => {
  it('of audio with a wrong signature', async () => {
    const { id, key, integration } = await makeCalled(server, 'elevenlabs')
    const callId = newCallId()
    await post(server, integration, transcriptEvent(callId))
    const body = audioEvent(callId)
    expect((await sendChunked(integration, body, { key: `${secret}x` })).status).toBe(401)
    const changed = Buffer.from(body)
    changed[body.length - 100] = (changed[body.length - 100] ?? 0) ^ 1
    expect((await post(server, integration, body, { sent: changed })).status).toBe(401)
    const stale = new Date(server.clock.now().getTime() - 31 * 60_000)
    expect((await post(server, integration, body, { now: stale })).status).toBe(401)
    expect(await filesOf(id)).toEqual([])
    expect(await unfinishedFiles()).toEqual([])
    const { data } = (await call('GET', `/v1/integrations/${integration.id}/deliveries`, { key })).body
    expect(data).toHaveLength(1)
  })

  it('for audio that is too large or interrupted', async () => {
    const { id, integration } = await makeCalled(server, 'elevenlabs')
    const tooLarge = audioEvent(newCallId(), { audio: mp3(limit + 1) })
    expect((await sendChunked(integration, tooLarge)).status).toBe(413)
    const hugeRest = Buffer.from(
      JSON.stringify({ data: { full_audio: 'SUQz'.repeat(99), other: 'a'.repeat(5 << 20) } }),
    )
    expect((await sendChunked(integration, hugeRest)).status).toBe(413)
    const blanks = Buffer.from(`{"data":{"full_audio":"SUQz${'\\n'.repeat(6 << 20)}"}}`)
    expect((await sendChunked(integration, blanks)).status).toBe(413)
    await expect(sendChunked(integration, audioEvent(newCallId()), { breakOffAt: 100_000 })).rejects.toThrow()
    await expect.poll(unfinishedFiles).toEqual([])
    expect(await filesOf(id)).toEqual([])
    expect((await sendChunked(integration, audioEvent(newCallId(), { audio: mp3(limit) }))).status).toBe(202)
  })

  it('for invalid audio, invalid Base64, or no call ID, and the delivery says why', async () => {
    const { id, key, integration } = await makeCalled(server, 'elevenlabs')
    const sound = mp3().toString('base64')
    const cases: [Buffer, string][] = [
      [
        audioEvent(newCallId(), { audio: Buffer.from('no audio at all, but text') }),
        'data.full_audio does not contain audio',
      ],
      [audioEvent(newCallId(), { audio: `${sound.slice(0, 5_000)}*${sound}` }), 'data.full_audio is not Base64'],
      [audioEvent(newCallId(), { audio: '' }), 'data.full_audio is missing'],
      [audioEvent(''), 'data.conversation_id is missing'],
      [audioEvent('x'.repeat(256)), 'longer than 255'],
      [audioEvent(newCallId()).subarray(0, -1), 'not JSON'],
    ]
    for (const [body, reason] of cases) {
      const { status, body: answer } = await sendChunked(integration, body)
      expect([status, answer.status]).toEqual([202, 'unreadable'])
      expect((await findDelivery(key, integration, answer.deliveryId)).reason).toContain(reason)
    }
    expect((await sendChunked(integration, audioEvent(newCallId(), { type: 'other' }))).body.status).toBe('ignored')
    expect(await filesOf(id)).toEqual([])
    expect(await unfinishedFiles()).toEqual([])
  })

  it('for a suspended organization', async () => {
    const { id, integration } = await makeCalled(server, 'elevenlabs')
    await call('POST', `/v1/organizations/${id}/suspend`, { key: serviceKey })
    expect((await sendChunked(integration, audioEvent(newCallId()))).status).toBe(403)
    expect(await filesOf(id)).toEqual([])
  })

  it('if too many are already waiting', async () => {
    const { id, key, integration } = await makeCalled(server, 'elevenlabs')
    await sql`
      INSERT INTO waiting_recordings
      SELECT ${id}::uuid, 'call ' || n, ${integration.id}::uuid, gen_random_uuid(), ${id} || '/recordings/' || n,
        'audio/mpeg', 1, now() + interval '1 day'
      FROM generate_series(1, 1000) n`.execute(db)
    const answer = await sendChunked(integration, audioEvent(newCallId()))
    expect(answer).toMatchObject({ status: 202, body: { status: 'rejected' } })
    expect((await findDelivery(key, integration, answer.body.deliveryId)).reason).toContain('Too many recordings')
    await server.drain()
    expect(await filesOf(id)).toEqual([])
    expect(await countWaiting(id)).toBe(1_000)
  })
})

it('audio for another organization’s call is not attached, and is given up after a day', async () => {
  const [victim, stranger] = [await makeCalled(server, 'elevenlabs'), await makeCalled(server, 'elevenlabs')]
  const callId = newCallId()
  const { conversationId } = (await post(server, victim.integration, transcriptEvent(callId))).body
  const { deliveryId, status } = (await sendChunked(stranger.integration, audioEvent(callId))).body
  expect(status).toBe('pending')
  await sweep()
  expect(await recordingOf(victim.key, conversationId)).toBeUndefined()
  expect(await filesOf(stranger.id)).toHaveLength(1)
  server.clock.advance(dayMs + 60_000)
  await sweep()
  expect(await findDelivery(stranger.key, stranger.integration, deliveryId)).toMatchObject({
    status: 'failed',
    reason: expect.stringContaining('No conversation'),
  })
  expect(await filesOf(stranger.id)).toEqual([])
  expect(await countWaiting(stranger.id)).toBe(0)
})

describe('erasure', () => {
  it('deletes the audio of a conversation, and ignores later audio', async () => {
    const { id, key, integration } = await makeCalled(server, 'elevenlabs')
    const callId = newCallId()
    await sendChunked(integration, audioEvent(callId))
    const { conversationId } = (await post(server, integration, transcriptEvent(callId))).body
    expect((await call('DELETE', `/v1/conversations/${conversationId}`, { key })).status).toBe(204)
    const late = await sendChunked(integration, audioEvent(callId))
    expect(late).toMatchObject({ status: 200, body: { status: 'erased', conversationId: null } })
    await server.drain()
    expect(await filesOf(id)).toEqual([])
    expect(await countWaiting(id)).toBe(0)
  })

  it('deletes waiting audio with its delivery', async () => {
    const { id, key, integration } = await makeCalled(server, 'elevenlabs')
    const callId = newCallId()
    await sendChunked(integration, audioEvent(callId))
    const conversation = await makeConversation(server, key, { externalId: callId })
    expect((await call('DELETE', `/v1/conversations/${conversation.id}`, { key })).status).toBe(204)
    await server.drain()
    expect(await filesOf(id)).toEqual([])
    expect(await countWaiting(id)).toBe(0)
    const { data } = (await call('GET', `/v1/integrations/${integration.id}/deliveries`, { key })).body
    expect(data).toEqual([])
  })
})

it('waiting audio is deleted with its integration', async () => {
  const { id, key, integration } = await makeCalled(server, 'elevenlabs')
  await sendChunked(integration, audioEvent(newCallId()))
  expect((await call('DELETE', `/v1/integrations/${integration.id}`, { key })).status).toBe(204)
  await jobs.drain([deleteDeliveries, deleteRecording], server.deps)
  expect(await countWaiting(id)).toBe(0)
  expect(await filesOf(id)).toEqual([])
})

it('a file left by a crash is deleted, and a waiting one stays', async () => {
  const { id, integration } = await makeCalled(server, 'elevenlabs')
  await sendChunked(integration, audioEvent(newCallId()))
  await sql`UPDATE waiting_recordings SET expires_at = 'infinity' WHERE organization_id = ${id}`.execute(db)
  const [waiting] = await filesOf(id)
  await blobs.put(`${id}/recordings/orphan`, [mp3()], { contentType: 'audio/mpeg' })
  server.clock.advance(2 * dayMs)
  await jobs.enqueue(db, sweepRecordings, {})
  await server.drain()
  expect(await filesOf(id)).toEqual([waiting])
})
