import { createHmac } from 'node:crypto'
import { expect, it } from 'vitest'
import { makeConversation, makeOrganization, wav } from '../../../test/make.ts'
import { serve } from '../../../test/outside.ts'
import { testServer } from '../../../test/server.ts'
import {
  accountSid,
  makeProvider,
  secret,
  type WebhookProvider,
} from '../../../test/support/integrations/signed-webhooks.ts'
import { pullRecording } from './fetch-recording.ts'

const server = await testServer({ EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1/32' })
const { call } = server

const callSid = 'CA00000000000000000000000000000007'

/** Sends a form as Twilio does, with a signature over the URL and the sorted fields. */
const postForm = ({ webhookPath }: WebhookProvider, fields: Record<string, string>, key = secret) => {
  const text = Object.keys(fields)
    .sort()
    .map((name) => name + fields[name])
    .join('')
  const signature = createHmac('sha1', key).update(`${server.deps.baseUrl()}${webhookPath}${text}`).digest('base64')
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'x-twilio-signature': signature }
  return call('POST', webhookPath, { raw: new URLSearchParams(fields).toString(), headers })
}

const serveAudio = async () => {
  const authorizations: (string | undefined)[] = []
  const twilio = await serve((request, response) => {
    authorizations.push(request.headers.authorization)
    response.writeHead(200, { 'content-type': 'audio/x-wav' }).end(wav(5_044))
  })
  return { ...twilio, authorizations }
}

const prepare = async () => {
  const [{ key }, audio] = [await makeOrganization(server), await serveAudio()]
  const integration = await makeProvider(server, key, 'twilio', { settings: { accountSid, apiBaseUrl: audio.url } })
  const fields = {
    AccountSid: accountSid,
    CallSid: callSid,
    RecordingSid: 'RE00000000000000000000000000000001',
    RecordingUrl: `${audio.url}/Recordings/RE1`,
    RecordingStatus: 'completed',
    RecordingDuration: '61',
  }
  const find = async (deliveryId: string) =>
    (await call('GET', `/v1/integrations/${integration.id}/deliveries/${deliveryId}`, { key })).body
  const pull = () => server.deps.jobs.drain([pullRecording], server.deps, { allowFailures: true, delayed: true })
  return { key, audio, integration, fields, find, pull }
}

it('a completed recording is fetched with the account and attached to its call, whichever arrives first', async () => {
  const { key, audio, integration, fields, find } = await prepare()
  const answer = await postForm(integration, fields)
  expect(answer).toMatchObject({ status: 202, body: { status: 'pending' } })
  const { deps } = server
  expect(await deps.jobs.drain([pullRecording], deps, { allowFailures: true })).toMatchObject([{ result: 'retried' }])
  expect(audio.authorizations).toEqual([])
  const { id } = await makeConversation(server, key, { metadata: { callSid } })
  expect(await deps.jobs.drain([pullRecording], deps, { delayed: true })).toMatchObject([{ result: 'completed' }])
  expect(await find(answer.body.deliveryId)).toMatchObject({ status: 'applied', conversationId: id })
  expect((await call('GET', `/v1/conversations/${id}`, { key })).body.recording).toMatchObject({ status: 'stored' })
  expect(audio.authorizations).toEqual([`Basic ${Buffer.from(`${accountSid}:${secret}`).toString('base64')}`])

  // Sending it again changes nothing.
  const again = await postForm(integration, fields)
  await server.deps.jobs.drain([pullRecording], deps)
  expect(await find(again.body.deliveryId)).toMatchObject({ status: 'unchanged', conversationId: id })
})

it('the token is only sent to Twilio', async () => {
  const { key, integration, fields, pull } = await prepare()
  const elsewhere = await serveAudio()
  await makeConversation(server, key, { metadata: { callSid } })
  await postForm(integration, { ...fields, RecordingUrl: `${elsewhere.url}/RE1` })
  await pull()
  expect(elsewhere.authorizations).toEqual([undefined])
})

it('a call of another organization gets no recording, and the delivery says why', async () => {
  const { integration, fields, find, pull } = await prepare()
  const stranger = await makeOrganization(server)
  const { id } = await makeConversation(server, stranger.key, { metadata: { callSid } })
  const { deliveryId } = (await postForm(integration, fields)).body
  for (let attempt = 0; attempt < 20; attempt++) await pull()
  expect(await find(deliveryId)).toMatchObject({ status: 'failed', reason: expect.stringContaining('No conversation') })
  expect((await call('GET', `/v1/conversations/${id}`, { key: stranger.key })).body.recording).toBeNull()
})

it('an incomplete recording is ignored, and a forged callback rejected', async () => {
  const { integration, fields } = await prepare()
  const early = await postForm(integration, { ...fields, RecordingStatus: 'in-progress' })
  expect(early).toMatchObject({ status: 200, body: { status: 'ignored' } })
  expect((await postForm(integration, fields, 'another-secret')).status).toBe(401)
})
