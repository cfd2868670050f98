import { describe, expect, it } from 'vitest'
import { makeConversation, makeOrganization, wav } from '../../../test/make.ts'
import { testServer } from '../../../test/server.ts'
import { speak, toWav } from '../../../test/support/recordings.ts'
import { deriveMeasures, measureOlder, measureSound } from '../jobs.ts'
import { measureRun } from './lifecycle.ts'
import { canMove, runMoves, runStatuses } from './run-status.ts'

const server = await testServer()
const { call, deps } = server
const { db, jobs } = deps

const speech = toWav(
  speak([
    { channel: 0, text: 'Hello, this is the clinic.', startMs: 300 },
    { channel: 1, text: 'Good morning.', startMs: 3_000 },
  ]).channels,
)
const unreadable = Buffer.concat([wav(44), Buffer.from('nothing')])

const open = async () => {
  const { id: org, key } = await makeOrganization(server)
  const record = async (content = speech, fields: object = {}) => {
    const { id } = await makeConversation(server, key, fields)
    const headers = { 'content-type': 'audio/wav' }
    const answer = await call('PUT', `/v1/conversations/${id}/recording`, {
      key,
      raw: Uint8Array.from(content),
      headers,
    })
    expect(answer.status, answer.text).toBe(200)
    return id as string
  }
  const forget = () => db.deleteFrom('jobs').where('name', '=', 'sound.measure').execute()
  const post = (body: object = {}) => call('POST', '/v1/sound-runs', { key, body })
  const get = async (id: string) => (await call('GET', `/v1/sound-runs/${id}`, { key })).body
  const run = async (body: object = {}) => {
    const created = await post(body)
    expect(created.status, created.text).toBe(202)
    await jobs.drain([measureRun], deps)
    return get(created.body.id)
  }
  const statusOf = async (id: string) => (await call('GET', `/v1/conversations/${id}/sound`, { key })).body.status
  const measuredAt = async (id: string) => {
    const { measured_at: at } = await db
      .selectFrom('recording_sounds')
      .select('measured_at')
      .where('organization_id', '=', org)
      .where('conversation_id', '=', id)
      .executeTakeFirstOrThrow()
    return at.getTime()
  }
  return { org, key, record, forget, post, get, run, statusOf, measuredAt }
}

describe('a run', () => {
  it('measures the recordings that have not been measured', async () => {
    const { key, record, forget, run, statusOf } = await open()
    const first = await record()
    await jobs.drain([measureSound, deriveMeasures], deps)
    const [second, third] = [await record(), await record(unreadable)]
    await makeConversation(server, key)
    await forget()
    const done = await run()
    expect(done).toMatchObject({
      status: 'completed',
      filter: {},
      again: false,
      total: 2,
      measured: 1,
      unmeasurable: 1,
      failed: 0,
      failure: null,
    })
    expect([await statusOf(first), await statusOf(second), await statusOf(third)]).toEqual([
      'measured',
      'measured',
      'unmeasurable',
    ])
    expect((await call('GET', '/v1/sound-runs', { key })).body.data).toEqual([done])
  })

  it('measures those that match the filter again', async () => {
    const { record, run, measuredAt } = await open()
    const [chat, phone] = [await record(speech, { channel: 'chat' }), await record()]
    await jobs.drain([measureSound], deps)
    const before = [await measuredAt(chat), await measuredAt(phone)]
    expect(await run({ filter: { channels: ['chat'] }, again: true })).toMatchObject({ total: 1, measured: 1 })
    expect(await measuredAt(chat)).toBeGreaterThan(before[0] ?? 0)
    expect(await measuredAt(phone)).toBe(before[1])
  })

  it('counts recordings with a missing file, and goes on', async () => {
    const { org, record, forget, run } = await open()
    const lost = await record()
    await record()
    await forget()
    const { blob_key: blobKey } = await db
      .selectFrom('recordings')
      .select('blob_key')
      .where('organization_id', '=', org)
      .where('conversation_id', '=', lost)
      .executeTakeFirstOrThrow()
    await deps.blobs.delete(blobKey ?? '')
    expect(await run()).toMatchObject({ status: 'completed', total: 2, measured: 1, failed: 1 })
  })

  it('can be cancelled', async () => {
    const { key, record, forget, post, get, statusOf } = await open()
    const id = await record()
    await forget()
    const { body: run } = await post()
    const cancelled = await call('POST', `/v1/sound-runs/${run.id}/cancel`, { key })
    expect(cancelled.body).toMatchObject({ status: 'cancelled', finishedAt: expect.any(String) })
    await jobs.drain([measureRun], deps)
    expect(await get(run.id)).toEqual(cancelled.body)
    expect(await statusOf(id)).toBe('pending')
    expect((await call('POST', `/v1/sound-runs/${run.id}/cancel`, { key })).status).toBe(409)
  })

  it('moves only between these states', () => {
    for (const from of runStatuses) {
      for (const to of runStatuses) expect(canMove(from, to)).toBe(runMoves[from].includes(to))
    }
    expect(runStatuses.filter((status) => runMoves[status].length === 0)).toEqual(['completed', 'failed', 'cancelled'])
  })
})

describe('an organization that does not measure recordings', () => {
  it('decodes nothing, and its rules do not wait', async () => {
    const { key, record, post, statusOf } = await open()
    await call('PATCH', '/v1/organization', { key, body: { measureSound: false } })
    const definition = { expression: 'has(sound.dropouts)' }
    await call('POST', '/v1/monitors', { key, body: { name: 'Measured', kind: 'rule', definition } })
    const id = await record()
    await server.drain()
    await jobs.enqueue(db, measureOlder, {})
    await jobs.drain([measureOlder], deps)
    const { body: sound } = await call('GET', `/v1/conversations/${id}/sound`, { key })
    expect(sound).toMatchObject({ status: 'none', reason: 'The organization does not measure recordings.' })
    const { body: results } = await call('GET', `/v1/conversations/${id}/results`, { key })
    expect(results.data).toMatchObject([{ result: 'not_affected' }])
    expect((await post()).status).toBe(409)
    await call('PATCH', '/v1/organization', { key, body: { measureSound: true } })
    expect(await statusOf(id)).toBe('pending')
  })
})
