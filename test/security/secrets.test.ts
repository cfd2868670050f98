import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { jobList } from '../../server/worker.ts'
import {
  acceptance,
  cookieOf,
  elsewhere,
  makeActiveWebhookEndpoint,
  makeDestination,
  makeExport,
  makeIntegration,
  makeMember,
  makeModelProvider,
  makeMonitor,
  makeOrganization,
  makeScheduleBody,
} from '../make.ts'
import { serve } from '../outside.ts'
import { type TestCall, testServer } from '../server.ts'
import { storedRows } from '../stored.ts'
import { openTestBucket } from '../support/exports/customer-bucket.ts'
import { openReceiver } from '../support/webhooks/receiver.ts'

/**
 * Sets a marked secret wherever one is accepted, uses each of them successfully and unsuccessfully, then searches for
 * the marks.
 */

const mark = (name: string) => `${name}-${randomBytes(18).toString('hex')}`
const planted: Record<string, string> = {}
const plant = (name: string, secret = mark(name)) => {
  planted[name] = secret
  return secret
}

/** These servers respond with an error that repeats everything they received. Stored responses must not contain it. */
const overheard: string[] = []
const outside = await serve((request, response) => {
  const told = JSON.stringify({ url: request.url, headers: request.headers, raw: request.rawHeaders })
  overheard.push(told)
  request.resume()
  response.writeHead(request.url?.startsWith('/sync') ? 403 : 400, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ error: { message: told, type: told, code: told } }))
}, afterAll)

const server = await testServer({
  EARSHOT_SECRET_KEY: plant('secret-key'),
  EARSHOT_SERVICE_KEY: plant('service-key'),
  EARSHOT_METRICS_TOKEN: plant('metrics-token'),
  EARSHOT_JUDGE_BASE_URL: `${outside.url}/judge`,
  EARSHOT_JUDGE_API_KEY: plant('judge-key'),
  EARSHOT_JUDGE_MODEL: 'model-1',
  EARSHOT_JUDGE_LIMITS: 'attempts=1',
  EARSHOT_SMTP_URL: `smtp://postman:${plant('smtp-password')}@127.0.0.1:1`,
  EARSHOT_OIDC_ISSUER: outside.url,
  EARSHOT_OIDC_CLIENT_ID: 'earshot',
  EARSHOT_OIDC_CLIENT_SECRET: plant('oidc-client-secret'),
  EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.0/8',
  EARSHOT_TRUST_PROXY: '1',
})

/** All responses, except those that may show a secret. */
const answered: string[] = []
const ask = async (method: string, path: string, given: TestCall = {}) => {
  const answer = await server.call(method, path, given)
  answered.push(
    `${method} ${path.replace(/\?.*/, '')} ${answer.status} ${JSON.stringify([...answer.headers])} ${answer.text}`,
  )
  return answer
}
const expectStatus = async (status: number, answer: ReturnType<typeof ask>) => {
  const { status: given, text, body } = await answer
  expect(`${given} ${given === status ? '' : text}`).toBe(`${status} `)
  return body
}

const useKeys = async (key: string) => {
  const made = await server.call('POST', '/v1/api-keys', { key, body: { name: 'Marked', role: 'admin' } })
  plant('made-key', made.body.key)
  const used = { key: made.body.key }
  await expectStatus(200, ask('GET', '/v1/api-keys', used))
  await expectStatus(200, ask('GET', '/v1/audit-events', used))
  await expectStatus(400, ask('POST', '/v1/companies', { ...used, body: { name: used.key.repeat(40), key: used.key } }))
  await expectStatus(400, ask('GET', `/v1/companies?key=${used.key}`, used))
  await expectStatus(401, ask('GET', '/v1/me', { headers: { authorization: `Basic ${used.key}` } }))
  await expectStatus(204, ask('DELETE', `/v1/api-keys/${made.body.id}`, { key }))
  await expectStatus(401, ask('GET', '/v1/me', used))
  await expectStatus(403, ask('GET', '/v1/me', { key: planted['service-key'] }))
  await ask('GET', '/metrics', { headers: { authorization: `Bearer ${planted['metrics-token']}` } })
}

const usePasswords = async (key: string) => {
  const member = await makeMember(server, key, 'member')
  const invited = acceptance(member.invitationUrl)
  plant('invitation-token', invited.token)
  const first = plant('password')
  const headers = elsewhere()
  await expectStatus(200, ask('POST', '/auth/invitation/check', { headers, body: { token: invited.token } }))
  await expectStatus(
    400,
    ask('POST', '/auth/invitation', { headers, body: { ...invited, password: first, role: 'owner' } }),
  )
  const joined = await server.call('POST', '/auth/invitation', { headers, body: { ...invited, password: first } })
  expect(joined.status).toBe(200)
  const cookie = cookieOf(joined)
  const [token = ''] = decodeURIComponent(cookie.split('=')[1] ?? '').split('.')
  plant('session-token', token)
  const person = { ...headers, cookie, origin: server.origin }
  const second = plant('new-password')
  const body = { currentPassword: second, newPassword: second }
  await expectStatus(400, ask('POST', '/auth/change-password', { headers: person, body }))
  const wrong = { email: member.email, password: plant('wrong-password') }
  await expectStatus(401, ask('POST', '/auth/sign-in/email', { headers: elsewhere(), body: wrong }))
  await expectStatus(200, ask('GET', '/v1/me', { headers: person }))
  const changed = { currentPassword: first, newPassword: second }
  const renewed = await server.call('POST', '/auth/change-password', { headers: person, body: changed })
  expect(renewed.status).toBe(200)
  plant('renewed-session', decodeURIComponent(cookieOf(renewed).split('=')[1] ?? '').split('.')[0])
  await expectStatus(
    202,
    ask('POST', '/auth/forgotten-password', { headers: elsewhere(), body: { email: member.email } }),
  )
  await ask('GET', `/auth/oidc/callback?code=${plant('oidc-code')}&state=${plant('oidc-state')}`, {
    headers: elsewhere(),
  })
  await ask('GET', '/auth/oidc', { headers: elsewhere() })
}

const useWebhooks = async (key: string) => {
  const { url } = await openReceiver((_request, response) => response.writeHead(500).end('no'))
  const endpoint = await makeActiveWebhookEndpoint(server, key, { url })
  plant('webhook-secret', endpoint.secret)
  const rotated = await server.call('POST', `/v1/webhook-endpoints/${endpoint.id}/rotate-secret`, { key })
  plant('rotated-webhook-secret', rotated.body.secret)
  await expectStatus(202, ask('POST', `/v1/webhook-endpoints/${endpoint.id}/test`, { key }))
  return endpoint.id as string
}

const useDestinations = async (key: string) => {
  const { url } = await openReceiver((_request, response) => response.writeHead(500).end('no'))
  const slack = { url: `${new URL(url).origin}/services/${plant('slack-url')}-0123` }
  const { id } = await makeDestination(server, key, { kind: 'slack', settings: slack })
  const settings = { apiKey: `${plant('opsgenie-key')}-0123` }
  const opsgenie = await makeDestination(server, key, { kind: 'opsgenie', settings })
  await expectStatus(202, ask('POST', `/v1/destinations/${id}/test`, { key }))
  await expectStatus(
    200,
    ask('PATCH', `/v1/destinations/${opsgenie.id}`, { key, body: { settings: opsgenie.settings } }),
  )
  return id as string
}

const useIntegrations = async (key: string) => {
  const secret = plant('integration-secret')
  const { id, webhookPath } = await makeIntegration(server, key, { secret, provider: 'retell' })
  const headers = {
    'x-retell-signature': `v=${server.clock.now().getTime()},d=${secret}`,
    'content-type': 'text/plain',
  }
  await expectStatus(401, ask('POST', webhookPath, { raw: `{"event":"${secret}"`, headers }))
  await expectStatus(
    200,
    ask('PATCH', `/v1/integrations/${id}`, { key, body: { secret: plant('next-integration-secret') } }),
  )
  await expectStatus(
    400,
    ask('PATCH', `/v1/integrations/${id}`, { key, body: { secret: [planted['next-integration-secret']] } }),
  )
  const body = { apiKey: plant('sync-key'), apiBaseUrl: `${outside.url}/sync` }
  await expectStatus(200, ask('PUT', `/v1/integrations/${id}/sync`, { key, body }))
  await ask('POST', `/v1/integrations/${id}/sync/run`, { key })
  return id as string
}

const useBuckets = async (key: string) => {
  const { destination, store } = await openTestBucket()
  plant('bucket-secret', destination.secretAccessKey)
  const body = { ...(await makeScheduleBody(server, key)), destination }
  const wrong = { ...body, destination: { ...destination, secretAccessKey: [destination.secretAccessKey] } }
  await expectStatus(400, ask('POST', '/v1/export-schedules', { key, body: wrong }))
  const { id } = await expectStatus(201, ask('POST', '/v1/export-schedules', { key, body }))
  store.state.fault = () => 'SignatureDoesNotMatch'
  await expectStatus(200, ask('POST', `/v1/export-schedules/${id}/test`, { key }))
  await expectStatus(202, ask('POST', `/v1/export-schedules/${id}/run`, { key }))
}

const useModelProviders = async (key: string) => {
  const settings = { baseUrl: `${outside.url}/provider`, apiKey: plant('provider-key'), model: 'model-1' }
  const provider = await makeModelProvider(server, key, { kind: 'openai-compatible', settings, isDefault: true })
  const { id } = provider
  const path = `/v1/model-providers/${id}`
  await expectStatus(200, ask('PATCH', path, { key, body: { settings: provider.settings } }))
  const wrong = { ...settings, apiKey: [settings.apiKey] }
  await expectStatus(400, ask('PATCH', path, { key, body: { settings: wrong } }))
  await expectStatus(200, ask('POST', `${path}/test`, { key, body: {} }))
  await expectStatus(200, ask('GET', `${path}/models`, { key }))
  const bedrock = { region: 'eu-central-1', accessKeyId: 'AKIA', secretAccessKey: plant('bedrock-key') }
  await makeModelProvider(server, key, { kind: 'bedrock', settings: { ...bedrock, baseUrl: outside.url } })
  await useJudge(key)
  // The rest uses the operator's endpoint.
  await expectStatus(200, ask('PATCH', path, { key, body: { isDefault: false } }))
  return id as string
}

const useJudge = async (key: string) => {
  const definition = { criteria: 'The agent was impolite.', output: { type: 'boolean' } }
  const monitor = await makeMonitor(server, key, { kind: 'judge', definition })
  const conversation = {
    agent: { externalId: 'leo', name: 'Leo', channel: 'voice' },
    channel: 'call',
    startedAt: '2026-11-20T09:00:00.000Z',
    transcript: 'Agent: Hello.\nCustomer: Goodbye.',
    recordingUrl: `${outside.url}/recording`,
  }
  const { id } = await expectStatus(201, ask('POST', '/v1/conversations', { key, body: conversation }))
  await ask('POST', `/v1/monitors/${monitor.id}/test`, { key, body: { conversationIds: [id] } })
  return { conversationId: id as string, monitorId: monitor.id as string }
}

const filesIn = async (folder: string): Promise<string[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return Promise.all(
    entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => readFile(join(parentPath, name), 'latin1')),
  )
}

it('no secret appears in logs, responses, files, or any row', async () => {
  const { key, id } = await makeOrganization({ ...server, call: withServiceKey })
  plant('owner-key', key)
  await useKeys(key)
  await usePasswords(key)
  const endpointId = await useWebhooks(key)
  const destinationId = await useDestinations(key)
  const integrationId = await useIntegrations(key)
  await useBuckets(key)
  const providerId = await useModelProviders(key)
  const { conversationId, monitorId } = await useJudge(key)
  await makeExport(server, key)
  // Failed work is retried immediately until it has no attempts left.
  const outcomes = await server.deps.jobs.drain(jobList, server.deps, { allowFailures: true, delayed: true })

  const later = [
    '/v1/audit-events?limit=200',
    '/v1/webhook-endpoints',
    `/v1/webhook-endpoints/${endpointId}/deliveries`,
    '/v1/destinations',
    `/v1/destinations/${destinationId}/deliveries`,
    `/v1/integrations/${integrationId}`,
    `/v1/integrations/${integrationId}/sync`,
    '/v1/export-schedules',
    '/v1/model-providers',
    '/v1/model-providers/instance',
    `/v1/model-providers/${providerId}`,
    '/v1/models',
    `/v1/integrations/${integrationId}/sync/runs`,
    `/v1/conversations/${conversationId}/results`,
    '/v1/members',
    `/v1/monitors/${monitorId}/results`,
    `/v1/conversations/${conversationId}/transcript`,
    '/v1/organization',
    '/metrics',
    '/readyz',
    '/openapi.json',
    '/auth/ways',
  ]
  for (const path of later) await expectStatus(200, ask('GET', path, path.startsWith('/v1') ? { key } : {}))
  await expectStatus(200, ask('GET', `/v1/organizations/${id}`, { key: planted['service-key'] }))

  const rows = await storedRows(server)
  const files = await filesIn(server.deps.config.dataDir)
  const places = { answers: answered, logs: server.logged, rows, files, outcomes: [JSON.stringify(outcomes.map(told))] }

  // These expectations show that the search works and that the secrets were used.
  expect(rows.filter((row) => row.includes('AKIATEST'))).not.toEqual([])
  expect(outcomes.filter(({ result }) => result !== 'completed')).not.toEqual([])
  for (const name of ['judge-key', 'sync-key', 'provider-key']) expect(overheard.join()).toContain(planted[name])
  for (const secret of Object.values(planted)) expect(secret.length).toBeGreaterThan(20)

  const found = Object.entries(planted).flatMap(([name, secret]) => {
    const forms = [secret, secret.replace('whsec_', ''), Buffer.from(secret).toString('base64url')]
    return Object.entries(places).flatMap(([place, texts]) =>
      texts.filter((text) => forms.some((form) => text.includes(form))).map((text) => `${name} in ${place}: ${text}`),
    )
  })
  expect(found).toEqual([])
}, 60_000)

const told = ({ error }: { error?: unknown }) => (error instanceof Error ? `${error.message} ${error.stack}` : error)

/** Uses this server's marked service key instead of the one of other test servers. */
const withServiceKey: typeof server.call = (method, path, given = {}) =>
  server.call(method, path, { ...given, key: planted['service-key'] })
