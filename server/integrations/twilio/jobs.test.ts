import { text } from 'node:stream/consumers'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { makeOrganization } from '../../../test/make.ts'
import { listen, serve } from '../../../test/outside.ts'
import { sample, sampleBytes } from '../../../test/samples/ingest/sample.ts'
import { testServer } from '../../../test/server.ts'
import { accountSid, makeProvider, post, secret } from '../../../test/support/integrations/signed-webhooks.ts'
import { pullTranscript } from './jobs.ts'

const server = await testServer({ EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1/32' })
const { call } = server

const bundle = sample('twilio_ci_transcript_bundle.json')
const home = `/v2/Transcripts/${bundle.transcript.sid}`
const announcement = sampleBytes('twilio_ci_webhook.json')

type Answers = Record<string, unknown | ((base: string) => unknown)>

/** Starts a Twilio server. A number in place of a response is used as the status. */
const serveTwilio = async (changes: Answers = {}) => {
  const asked: string[] = []
  const refused: string[] = []
  const answers: Answers = {
    [home]: bundle.transcript,
    [`${home}/Sentences?WordTimestamps=true&PageSize=1000`]: (base: string) => ({
      sentences: bundle.sentences.slice(0, 1),
      meta: { key: 'sentences', next_page_url: `${base}${home}/Sentences?Page=1` },
    }),
    [`${home}/Sentences?Page=1`]: { sentences: bundle.sentences.slice(1), meta: { next_page_url: null } },
    [`${home}/OperatorResults?PageSize=1000`]: { operator_results: bundle.operator_results, meta: {} },
    [`${home}/Media`]: bundle.media,
    ...changes,
  }
  const twilio = await serve(async (request, response) => {
    await text(request)
    const url = request.url ?? ''
    asked.push(url)
    const authorization = `Basic ${Buffer.from(`${accountSid}:${secret}`).toString('base64')}`
    if (request.headers.authorization !== authorization) refused.push(url)
    const known = answers[url] ?? 404
    const answer = typeof known === 'function' ? known(`http://${request.headers.host}`) : known
    response.statusCode = typeof answer === 'number' ? answer : 200
    response.end(typeof answer === 'number' ? '{}' : JSON.stringify(answer))
  })
  return { ...twilio, asked, refused, answers }
}

const announce = async (apiBaseUrl: string) => {
  const { key } = await makeOrganization(server)
  const integration = await makeProvider(server, key, 'twilio', { settings: { accountSid, apiBaseUrl } })
  const answer = await post(server, integration, announcement)
  expect(answer).toMatchObject({ status: 202, body: { status: 'pending', conversationId: null } })
  const path = `/v1/integrations/${integration.id}/deliveries/${answer.body.deliveryId}`
  const find = async () => (await call('GET', path, { key })).body
  expect(await find()).toMatchObject({ status: 'pending', event: 'voice_intelligence_transcript_available' })
  return { key, find, path, integration }
}

/** Runs the jobs that are due. With `all`, also runs delayed jobs. */
const pull = async (all = false) => {
  const { deps } = server
  return deps.jobs.drain([pullTranscript], deps, { allowFailures: true, delayed: all })
}

it('an announced transcript is fetched with all its parts, and becomes a conversation', async () => {
  const twilio = await serveTwilio()
  const { key, find } = await announce(twilio.url)
  expect(await pull()).toMatchObject([{ result: 'completed' }])
  expect(twilio.asked).toHaveLength(5)
  expect(twilio.refused).toEqual([])
  const delivery = await find()
  expect(delivery).toMatchObject({ status: 'applied', reason: null, conversationId: expect.any(String) })
  expect(JSON.parse(delivery.payload)).toEqual(bundle)

  const get = async (path: string) => (await call('GET', path, { key })).body
  const conversation = await get(`/v1/conversations/${delivery.conversationId}`)
  expect(conversation).toMatchObject({
    externalId: bundle.transcript.sid,
    channel: 'call',
    direction: null,
    status: 'completed',
    startedAt: '2026-02-25T10:00:00.000Z',
    endedAt: '2026-02-25T10:01:01.000Z',
    durationSeconds: 61,
    customerId: 'cust-9',
    metadata: { customerKey: 'case-8812', callSid: 'CA00000000000000000000000000000005' },
    recording: { status: 'pending' },
  })
  expect(await get(`/v1/agents/${conversation.agentId}`)).toMatchObject({ externalId: 'agent-7', channel: 'voice' })
  const { turns } = await get(`/v1/conversations/${delivery.conversationId}/transcript`)
  expect(turns).toMatchObject([
    { role: 'agent', text: 'Thanks for calling Orbit.', startMs: 400, endMs: 2_100 },
    { role: 'customer', text: 'My card is [redacted].', startMs: 2_900, endMs: 4_600 },
  ])
  const metrics = (await get(`/v1/conversations/${delivery.conversationId}/metrics`)).data
  expect(metrics).toEqual(
    expect.arrayContaining([expect.objectContaining({ key: 'twilio.Escalation', value: 'not_escalated' })]),
  )
})

it('an unfinished transcript is requested again later', async () => {
  const twilio = await serveTwilio({ [home]: { ...bundle.transcript, status: 'in-progress' } })
  const { find } = await announce(twilio.url)
  expect(await pull()).toMatchObject([{ result: 'retried' }])
  expect(await find()).toMatchObject({ status: 'pending' })
  twilio.answers[home] = bundle.transcript
  expect(await pull()).toEqual([])
  expect(await pull(true)).toMatchObject([{ result: 'completed' }])
  expect((await find()).status).toBe('applied')
})

it('the ID of the conversation is in no job, because jobs outlive it', async () => {
  const twilio = await serveTwilio()
  await announce(twilio.url)
  const { rows } = await sql`SELECT payload FROM jobs WHERE name = ${pullTranscript.name}`.execute(server.deps.db)
  expect(rows.length).toBeGreaterThan(0)
  expect(JSON.stringify(rows)).not.toContain(bundle.transcript.sid)
  expect(await pull()).toMatchObject([{ result: 'completed' }])
})

describe('a transcript that cannot be fetched', () => {
  it('fails with the reason after the last attempt, and a replay fetches it again', async () => {
    const twilio = await serveTwilio({ [home]: 500 })
    const { key, find, path } = await announce(twilio.url)
    expect((await call('POST', `${path}/replay`, { key })).status).toBe(409)
    const outcomes = await pull(true)
    expect(outcomes).toHaveLength(17)
    expect(outcomes.at(-1)).toMatchObject({ result: 'dead' })
    expect(await find()).toMatchObject({ status: 'failed', reason: 'Twilio returned status 500.', replayable: true })

    twilio.answers[home] = bundle.transcript
    const replayed = await call('POST', `${path}/replay`, { key })
    expect(replayed).toMatchObject({ status: 200, body: { status: 'pending', reason: null } })
    await pull()
    expect((await find()).status).toBe('applied')
    expect((await call('POST', `${path}/replay`, { key })).body.status).toBe('unchanged')
  })

  it('with a rejected token, fails immediately with the reason', async () => {
    const twilio = await serveTwilio({ [home]: 401 })
    const { find } = await announce(twilio.url)
    expect(await pull()).toMatchObject([{ result: 'dead' }])
    expect(await find()).toMatchObject({ status: 'failed', reason: expect.stringContaining('rejected') })
    expect(server.logged.join('')).not.toContain(secret)
  })

  it('with a next page elsewhere, sends the token to nobody', async () => {
    const elsewhere = await serve((_request, response) => response.end('{}'))
    const further = { sentences: [], meta: { next_page_url: `${elsewhere.url}/v2/Sentences` } }
    const twilio = await serveTwilio({ [`${home}/Sentences?WordTimestamps=true&PageSize=1000`]: further })
    const { find } = await announce(twilio.url)
    await pull(true)
    expect(elsewhere.connections()).toBe(0)
    expect(await find()).toMatchObject({ status: 'failed', reason: 'Twilio returned a next page on another host.' })
  })

  it('without its sentences, is not stored', async () => {
    const twilio = await serveTwilio({ [`${home}/Sentences?WordTimestamps=true&PageSize=1000`]: 404 })
    const { find } = await announce(twilio.url)
    expect((await pull(true)).at(-1)).toMatchObject({ result: 'dead' })
    expect(await find()).toMatchObject({ status: 'failed', reason: 'Twilio has no sentences for this transcript.' })
  })

  it('with an unreachable server, fails too', async () => {
    const { createServer } = await import('node:http')
    const gone = await listen(createServer())
    await gone.close()
    const { find } = await announce(gone.url)
    await pull(true)
    expect(await find()).toMatchObject({ status: 'failed', reason: expect.stringMatching(/request failed|reached/i) })
  })
})

it('a transcription that failed at Twilio is ignored, with the reason', async () => {
  const twilio = await serveTwilio({ [home]: { ...bundle.transcript, status: 'failed' } })
  const { find } = await announce(twilio.url)
  await pull()
  expect(await find()).toMatchObject({ status: 'ignored', reason: 'the transcription ended as failed' })
})

it('nothing is fetched for a deleted integration', async () => {
  const twilio = await serveTwilio()
  const { key, integration } = await announce(twilio.url)
  expect((await call('DELETE', `/v1/integrations/${integration.id}`, { key })).status).toBe(204)
  expect(await pull()).toMatchObject([{ result: 'completed' }])
  expect(twilio.asked).toEqual([])
  const { rows } = await sql`SELECT FROM integrations WHERE id = ${integration.id}`.execute(server.deps.db)
  expect(rows).toEqual([])
})
