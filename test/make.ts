import { randomInt, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { checkAlertRules } from '../server/alert-rules/jobs.ts'
import { deliverMessage } from '../server/destinations/deliveries/jobs.ts'
import { fileSpike } from '../server/findings/file.ts'
import type { Role } from '../server/platform/identity/actor.ts'
import { newId, orgIdOf } from '../server/platform/ids.ts'
import { deliver } from '../server/webhooks/deliveries/jobs.ts'
import { sampleBytes } from './samples/ingest/sample.ts'
import { serviceKey, type TestServer } from './server.ts'

/** Creates what tests need, through the API. */

const made = async <T>(answer: Promise<{ status: number; text: string; body: T }>): Promise<T> => {
  const { status, text, body } = await answer
  if (status !== 201) throw new Error(`expected 201, got ${status}: ${text}`)
  return body
}

type Switches = { entitlements?: Record<string, boolean>; features?: Record<string, boolean> }

/** Creates a separate organization, and returns it with its owner's key. */
export const makeOrganization = async (server: TestServer, switches: Switches = {}) => {
  const name = `Organization ${randomUUID()}`
  const owner = { email: `${randomUUID()}@example.com`, name: 'Olga Owner' }
  const body = { name, slug: `o-${randomUUID()}`, owner, ...switches }
  const { organization, apiKey } = await made(server.call('POST', '/v1/organizations', { key: serviceKey, body }))
  return { id: organization.id as string, key: apiKey.key as string, keyId: apiKey.id as string, organization }
}

/** Creates a key with a role, for the creator of `key`. */
export const makeKey = async (server: TestServer, key: string, role: Role, expiresAt?: string) => {
  const body = { name: `A ${role}'s key`, role, ...(expiresAt && { expiresAt }) }
  const created = await made(server.call('POST', '/v1/api-keys', { key, body }))
  return { id: created.id as string, key: created.key as string }
}

export const makeMember = (server: TestServer, key: string, role: Role) =>
  made(
    server.call('POST', '/v1/members', {
      key,
      body: { email: `${randomUUID()}@example.com`, name: 'Max Member', role },
    }),
  )

export const makeAgent = (server: TestServer, key: string, fields: object = {}) =>
  made(server.call('POST', '/v1/agents', { key, body: { name: 'Leo', channel: 'voice', ...fields } }))

export const makeAgentVersion = (server: TestServer, key: string, agentId: string, systemPrompt = 'You are Leo.') =>
  made(server.call('POST', `/v1/agents/${agentId}/versions`, { key, body: { systemPrompt } }))

export const makeAgentGroup = (server: TestServer, key: string, name = `Group ${randomUUID()}`) =>
  made(server.call('POST', '/v1/agent-groups', { key, body: { name } }))

export const makeCompany = (server: TestServer, key: string, name = 'Acme Dental') =>
  made(server.call('POST', '/v1/companies', { key, body: { name } }))

const conversationOf = (fields: object) => ({
  externalId: `call-${randomUUID()}`,
  agent: { externalId: 'leo', name: 'Leo', channel: 'voice' },
  channel: 'call',
  startedAt: '2026-11-20T09:00:00.000Z',
  ...fields,
})

export const makeConversation = (server: TestServer, key: string, fields: object = {}) =>
  made(server.call('POST', '/v1/conversations', { key, body: conversationOf(fields) }))

/** Creates a conversation from each of the given properties, with one request. Returns their IDs in the same order. */
export const makeConversations = async (server: TestServer, key: string, each: object[]): Promise<string[]> => {
  const conversations = each.map(conversationOf)
  const { status, text, body } = await server.call('POST', '/v1/conversations/batch', { key, body: { conversations } })
  const isCreated = (item: { status: string }) => item.status === 'created'
  if (status !== 200 || !body.data.every(isCreated)) throw new Error(`not all were created, ${status}: ${text}`)
  return body.data.map(({ id }: { id: string }) => id)
}

/** Returns a complete WAV file of the given length, which is at least a second of silence. */
export const wav = (bytes = 1_044): Uint8Array<ArrayBuffer> => {
  const file = Buffer.alloc(bytes)
  file.write('RIFF', 0)
  file.writeUInt32LE(bytes - 8, 4)
  file.write('WAVEfmt ', 8)
  file.writeUInt32LE(16, 16)
  for (const [value, at] of [
    [1, 20],
    [1, 22],
    [8_000, 24],
    [8_000, 28],
    [1, 32],
    [8, 34],
  ] as const) {
    file.writeUInt16LE(value, at)
  }
  file.write('data', 36)
  file.writeUInt32LE(bytes - 44, 40)
  return new Uint8Array(file)
}

/** Creates a conversation with an uploaded recording. */
export const makeRecording = async (server: TestServer, key: string, raw = wav()) => {
  const conversation = await makeConversation(server, key)
  const headers = { 'content-type': 'audio/wav' }
  const answer = await server.call('PUT', `/v1/conversations/${conversation.id}/recording`, { key, raw, headers })
  if (answer.status !== 200) throw new Error(`expected 200, got ${answer.status}: ${answer.text}`)
  return conversation
}

/** Creates a conversation with a recording that has a sealed original, without running the job that redacts it. */
export const makeSealedRecording = async (server: TestServer, key: string) => {
  const { db, blobs } = server.deps
  const conversation = await makeRecording(server, key)
  const { organization } = (await server.call('GET', '/v1/me', { key })).body
  const originalKey = `${organization.id}/recordings/${newId()}`
  await blobs.put(originalKey, [wav()], { contentType: 'audio/wav' })
  await db
    .updateTable('recordings')
    .set({ original_key: originalKey })
    .where('organization_id', '=', organization.id)
    .where('conversation_id', '=', conversation.id)
    .execute()
  return conversation
}

/** Stores a topic of a conversation, which otherwise only jobs create. */
export const makeTopic = async (server: TestServer, key: string, conversationId?: string): Promise<string> => {
  const { organization } = (await server.call('GET', '/v1/me', { key })).body
  const id = newId()
  const values = { organization_id: organization.id, id, is_group: false, terms: ['refund'], created_at: new Date() }
  const { db } = server.deps
  await db.insertInto('topics').values(values).execute()
  if (conversationId === undefined) return id
  const of = { organization_id: organization.id, conversation_id: conversationId }
  await db
    .insertInto('conversation_embeddings')
    .values({ ...of, model: 1 })
    // Storing the conversation has marked it, if embeddings are on.
    .onConflict((conflict) => conflict.constraint('conversation_embeddings_pkey').doUpdateSet({ model: 1 }))
    .execute()
  const passage = { ...of, position: 0, model: 1, code: '0'.repeat(512), first_turn: 0, last_turn: 0 }
  await db
    .insertInto('conversation_passages')
    .values({ ...passage, vector: Buffer.alloc(512) })
    .execute()
  await db
    .insertInto('conversation_topics')
    .values({ ...of, topic_id: id, similarity: 1, build: 1, started_at: new Date() })
    .execute()
  return id
}

/** Starts a run that measures recordings. */
export const makeSoundRun = async (server: TestServer, key: string) => {
  const answer = await server.call('POST', '/v1/sound-runs', { key, body: {} })
  if (answer.status !== 202) throw new Error(`expected 202, got ${answer.status}: ${answer.text}`)
  return answer.body
}

/** Marks a region of a new recording. */
export const makeRegion = async (server: TestServer, key: string, fields: object = {}) => {
  const { id } = await makeRecording(server, key)
  const body = { startMs: 100, endMs: 900, note: 'The agent talks over the customer.', ...fields }
  return made(server.call('POST', `/v1/conversations/${id}/regions`, { key, body }))
}

/** Creates a conversation with a metric that has the key `csat`. */
export const makeMetric = async (server: TestServer, key: string) => {
  const conversation = await makeConversation(server, key)
  await made(server.call('PUT', `/v1/conversations/${conversation.id}/metrics/csat`, { key, body: { value: 4.5 } }))
  return conversation
}

/** Starts a bulk action that tags a new conversation. */
export const makeBulkAction = async (server: TestServer, key: string, fields: object = {}) => {
  const { id } = await makeConversation(server, key)
  const body = { ids: [id], action: { kind: 'tag', add: ['escalated'] }, ...fields }
  const answer = await server.call('POST', '/v1/conversations/bulk', { key, body })
  if (answer.status !== 202) throw new Error(`expected 202, got ${answer.status}: ${answer.text}`)
  return { ...answer.body, conversationId: id as string }
}

/** Creates an external monitor. */
export const makeMonitor = (server: TestServer, key: string, fields: object = {}) => {
  const body = { name: `Monitor ${randomUUID()}`, kind: 'external', definition: {}, ...fields }
  return made(server.call('POST', '/v1/monitors', { key, body }))
}

/** Creates a bucket without filters that contains a conversation. */
export const makeBucket = async (server: TestServer, key: string, fields: object = {}) => {
  const { id } = await makeConversation(server, key)
  const bucket = await made(
    server.call('POST', '/v1/buckets', { key, body: { name: `Bucket ${randomUUID()}`, type: 'static', ...fields } }),
  )
  const body = { conversationIds: [id] }
  const { status, text } = await server.call('POST', `/v1/buckets/${bucket.id}/conversations`, { key, body })
  if (status !== 200) throw new Error(`expected 200, got ${status}: ${text}`)
  return { id: bucket.id as string, conversationId: id as string }
}

/** Claims a review in a new bucket. */
export const makeClaim = async (server: TestServer, key: string, fields: object = {}) => {
  const bucket = await makeBucket(server, key, fields)
  const { status, text, body } = await server.call('POST', `/v1/buckets/${bucket.id}/claim`, { key })
  if (status !== 200) throw new Error(`expected 200, got ${status}: ${text}`)
  return { id: body.id as string, bucketId: bucket.id, conversationId: bucket.conversationId }
}

/** Creates a bucket with a conversation that two people have judged differently, and returns the disagreement. */
export const makeDispute = async (server: TestServer, key: string, fields: object = {}) => {
  const { id: monitorId } = await makeMonitor(server, key)
  const bucket = await makeBucket(server, key, { reviewsPerConversation: 2, ...fields })
  const results = [{ monitorId, conversationId: bucket.conversationId, result: 'affected' }]
  await server.call('POST', '/v1/monitor-results', { key, body: { results } })
  const reviewIds: string[] = []
  for (const correctResult of ['affected', 'not_affected']) {
    const { headers } = await makePerson(server, key)
    const { body: review } = await server.call('POST', `/v1/buckets/${bucket.id}/claim`, { headers })
    const body = { status: 'completed', judgments: [{ monitorId, correctResult }] }
    const { status, text } = await server.call('PATCH', `/v1/reviews/${review.id}`, { headers, body })
    if (status !== 200) throw new Error(`expected 200, got ${status}: ${text}`)
    reviewIds.push(review.id)
  }
  return { ...bucket, monitorId: monitorId as string, reviewIds }
}

type Judgment = { monitorId: string; monitorVersion?: number; correctResult: 'affected' | 'not_affected' | 'unsure' }

/**
 * Creates a review by the creator of `key`. It is written directly to the database, because the API rejects judgments
 * without a result.
 */
export const makeReview = async (
  { call, deps: { db } }: TestServer,
  { key, conversationId }: { key: string; conversationId: string },
  judgments: Judgment[],
  status: 'in_progress' | 'completed' | 'skipped' = 'completed',
) => {
  const { organization, member } = (await call('GET', '/v1/me', { key })).body
  // The service has just returned this ID, so it is valid.
  const org = orgIdOf(organization.id)
  const id = newId()
  await db.transaction().execute(async (trx) => {
    await trx
      .insertInto('reviews')
      .values({
        organization_id: org,
        id,
        conversation_id: conversationId,
        reviewer_user_id: member.userId,
        status,
        completed_at: status === 'completed' ? new Date() : null,
      })
      .execute()
    for (const { monitorId, monitorVersion = 1, correctResult } of judgments) {
      await trx
        .insertInto('review_judgments')
        .values({
          organization_id: org,
          review_id: id,
          monitor_id: monitorId,
          monitor_version: monitorVersion,
          correct_result: correctResult,
        })
        .execute()
    }
  })
  return id
}

/** Starts a run of a new rule over a year of conversations. */
export const makeRun = async (server: TestServer, key: string) => {
  const monitor = await makeMonitor(server, key, { kind: 'rule', definition: { expression: 'true' } })
  const body = { since: '2026-01-01T00:00:00Z', until: '2027-01-01T00:00:00Z' }
  const { status, text, body: run } = await server.call('POST', `/v1/monitors/${monitor.id}/evaluations`, { key, body })
  if (status !== 202) throw new Error(`expected 202, got ${status}: ${text}`)
  return { id: run.id as string, monitorId: monitor.id as string }
}

/** Creates an agent with two versions of its prompt. */
export const makeArms = async (server: TestServer, key: string) => {
  const agent = await makeAgent(server, key)
  const [a, b] = [
    await makeAgentVersion(server, key, agent.id),
    await makeAgentVersion(server, key, agent.id, 'Be brief.'),
  ]
  return { agentId: agent.id as string, armAVersionId: a.id as string, armBVersionId: b.id as string }
}

/** Returns the body that launches an experiment on a new monitor. */
export const makeLaunch = async (server: TestServer, key: string, fields: object = {}) => {
  const monitor = await makeMonitor(server, key)
  const outcomes = { outcomeMetricIds: [monitor.id as string], primaryMetricId: monitor.id as string }
  return { name: 'Brevity', ...(await makeArms(server, key)), ...outcomes, stableRoutingConfirmed: true, ...fields }
}

export const makeExperiment = async (server: TestServer, key: string, fields: object = {}) =>
  made(server.call('POST', '/v1/experiments', { key, body: await makeLaunch(server, key, fields) }))

/** Creates a group by launching an experiment. */
export const makeMonitorGroup = async (server: TestServer, key: string) => {
  const { monitorGroupId } = await makeExperiment(server, key, { newMonitorGroupName: `Group ${randomUUID()}` })
  return monitorGroupId as string
}

export const makeExportConfig = async (server: TestServer, key: string) => ({
  monitors: [{ id: (await makeMonitor(server, key)).id as string }],
  since: '2026-11-01T00:00:00Z',
  until: '2026-12-01T00:00:00Z',
  timezone: 'UTC',
})

export const makeExport = async (server: TestServer, key: string) => {
  const body = { operationId: randomUUID(), config: await makeExportConfig(server, key) }
  const answer = await server.call('POST', '/v1/monitor-exports', { key, body })
  if (answer.status !== 202) throw new Error(`expected 202, got ${answer.status}: ${answer.text}`)
  return answer.body
}

export const makeConversationExportConfig = () => ({
  filter: { since: '2026-11-01T00:00:00Z', until: '2026-12-01T00:00:00Z' },
  columns: [{ key: 'startedAt' }, { key: 'agentId' }],
})

export const makeConversationExport = async (server: TestServer, key: string) => {
  const body = { operationId: randomUUID(), config: makeConversationExportConfig() }
  const answer = await server.call('POST', '/v1/conversation-exports', { key, body })
  if (answer.status !== 202) throw new Error(`expected 202, got ${answer.status}: ${answer.text}`)
  return answer.body
}

/** Returns the body of a schedule that notifies a new endpoint of each run. */
export const makeScheduleBody = async (server: TestServer, key: string) => {
  const { since: _since, until: _until, ...config } = await makeExportConfig(server, key)
  return {
    name: 'Yesterday’s refunds',
    config,
    recurrence: { every: 'day', at: '02:30' },
    window: { kind: 'last', days: 1 },
    destination: { type: 'webhook', webhookEndpointId: (await makeActiveWebhookEndpoint(server, key)).id as string },
  }
}

export const makeExportSchedule = async (server: TestServer, key: string) =>
  made(server.call('POST', '/v1/export-schedules', { key, body: await makeScheduleBody(server, key) }))

/** Exports a new experiment. */
export const makeExperimentExport = async (server: TestServer, key: string) => {
  const { id: experimentId } = await makeExperiment(server, key)
  const body = { operationId: randomUUID(), config: {} }
  const answer = await server.call('POST', `/v1/experiments/${experimentId}/exports`, { key, body })
  if (answer.status !== 202) throw new Error(`expected 202, got ${answer.status}: ${answer.text}`)
  return { experimentId: experimentId as string, id: answer.body.id as string }
}

/** Creates a finding about a spike of a new monitor, with one conversation. */
export const makeFinding = async (server: TestServer, key: string, title = 'Refunds rise') => {
  const { db } = server.deps
  // The service has just returned this ID, so it is valid.
  const org = orgIdOf((await server.call('GET', '/v1/me', { key })).body.organization.id)
  const [monitor, conversation] = [await makeMonitor(server, key), await makeConversation(server, key)]
  const [monitorId, conversationId] = [monitor.id as string, conversation.id as string]
  const tell = async () => ({ title, paragraphs: ['From one to two in a hundred.'] })
  const spike = { monitorId, now: server.clock.now(), affected: async () => [conversationId], tell }
  const filed = await db.transaction().execute((trx) => fileSpike(server.deps, trx, org, spike))
  if (!filed) throw new Error('nothing was filed')
  return { id: filed.id, monitorId, conversationId }
}

/** Returns rich text with one paragraph. */
export const richText = (text: string) => ({
  type: 'doc',
  content: [{ type: 'paragraph', content: [{ type: 'text', text }] }],
})

export const makeComment = async (server: TestServer, key: string, findingId: string, text = 'Looking at it.') => {
  const body = { body: richText(text) }
  const comment = await made(server.call('POST', `/v1/findings/${findingId}/comments`, { key, body }))
  return comment.id as string
}

export const makeBoard = (server: TestServer, key: string, fields: object = {}) =>
  made(server.call('POST', '/v1/boards', { key, body: { name: 'Front desk', ...fields } }))

/** Creates a board with a chart, and a link to it for one company. */
export const makeBoardShare = async (server: TestServer, key: string, fields: object = {}, companyId?: string) => {
  const charts = [{ title: 'Calls', kind: 'number', width: 'half', query: { measure: { kind: 'volume' } } }]
  const board = await makeBoard(server, key, { charts, ...fields })
  const body = { companyId: companyId ?? (await makeCompany(server, key)).id }
  const { id, url } = await made(server.call('POST', `/v1/boards/${board.id}/shares`, { key, body }))
  return {
    id: id as string,
    boardId: board.id as string,
    companyId: body.companyId as string,
    token: new URL(url).hash.slice(1),
    chartIds: board.charts.map((chart: { id: string }) => chart.id) as string[],
  }
}

export const makeSavedView = (server: TestServer, key: string, filter: object = {}) =>
  made(server.call('POST', '/v1/saved-views', { key, body: { name: `View ${randomUUID()}`, filter } }))

/** The headers that authenticate webhooks of test integrations. Vapi sends only the secret. */
export const webhookHeaders = { 'x-vapi-secret': 'the-secret-of-a-provider' }

export const makeIntegration = (server: TestServer, key: string, fields: object = {}) => {
  const body = { provider: 'vapi', name: 'Front desk', secret: webhookHeaders['x-vapi-secret'], ...fields }
  return made(server.call('POST', '/v1/integrations', { key, body }))
}

/** Creates an integration that has received one call. */
export const makeDelivery = async (server: TestServer, key: string) => {
  const integration = await makeIntegration(server, key)
  const raw = new Uint8Array(sampleBytes('vapi_end_of_call_report.json'))
  const headers = { 'content-type': 'application/json', ...webhookHeaders }
  const answer = await server.call('POST', integration.webhookPath, { raw, headers })
  if (answer.status !== 200) throw new Error(`expected 200, got ${answer.status}: ${answer.text}`)
  return { integrationId: integration.id as string, deliveryId: answer.body.deliveryId as string }
}

/** Creates an integration that syncs calls from its provider. */
export const makeSyncedIntegration = async (server: TestServer, key: string) => {
  const { id } = await makeIntegration(server, key)
  const body = { apiKey: 'an-api-key' }
  const { status, text } = await server.call('PUT', `/v1/integrations/${id}/sync`, { key, body })
  if (status !== 200) throw new Error(`expected 200, got ${status}: ${text}`)
  return id as string
}

/** Creates a webhook endpoint that waits for approval. */
export const makeWebhookEndpoint = (server: TestServer, key: string, fields: object = {}) => {
  const body = { name: 'Warehouse', url: 'https://hooks.example.com/earshot', ...fields }
  return made(server.call('POST', '/v1/webhook-endpoints', { key, body }))
}

/** Creates a webhook endpoint that an admin has approved. */
export const makeActiveWebhookEndpoint = async (server: TestServer, key: string, fields: object = {}) => {
  const endpoint = await makeWebhookEndpoint(server, key, fields)
  const { status, text } = await server.call('POST', `/v1/webhook-endpoints/${endpoint.id}/approve`, { key })
  if (status !== 200) throw new Error(`expected 200, got ${status}: ${text}`)
  return endpoint
}

/** Creates a test event that was never sent, because its endpoint was disabled. The endpoint is active again. */
export const makeFailedWebhookDelivery = async (server: TestServer, key: string) => {
  const { id } = await makeActiveWebhookEndpoint(server, key)
  const post = (verb: string) => server.call('POST', `/v1/webhook-endpoints/${id}/${verb}`, { key })
  const { body: delivery } = await post('test')
  await post('disable')
  await server.deps.jobs.drain([deliver], server.deps)
  await post('approve')
  return { endpointId: id as string, deliveryId: delivery.id as string }
}

export const makeDestination = (server: TestServer, key: string, fields: object = {}) => {
  const settings = { url: 'https://hooks.slack.com/services/T0000/B0000/abcdefghijklmnop' }
  return made(
    server.call('POST', '/v1/destinations', { key, body: { name: 'On call', kind: 'slack', settings, ...fields } }),
  )
}

/** Creates a provider that is never reached: it can't list its models, and has no model that could be tested. */
export const makeSilentModelProvider = (server: TestServer, key: string) =>
  makeModelProvider(server, key, {
    kind: 'azure-openai',
    settings: { baseUrl: 'https://acme.openai.azure.com', apiKey: 'key-0123456789abcdefghij' },
  })

export const makeModelProvider = (server: TestServer, key: string, fields: object = {}) => {
  const settings = { apiKey: 'sk-ant-0123456789abcdefghij', model: 'claude-sonnet-5' }
  const body = { name: `Provider ${randomUUID()}`, kind: 'anthropic', settings, ...fields }
  return made(server.call('POST', '/v1/model-providers', { key, body }))
}

/**
 * Creates a test message that was never sent, because its destination was disabled. The destination is active again.
 */
export const makeFailedMessageDelivery = async (server: TestServer, key: string) => {
  const { id } = await makeDestination(server, key)
  const { body: delivery } = await server.call('POST', `/v1/destinations/${id}/test`, { key })
  const set = (status: string) => server.call('PATCH', `/v1/destinations/${id}`, { key, body: { status } })
  await set('disabled')
  await server.deps.jobs.drain([deliverMessage], server.deps)
  await set('active')
  return { destinationId: id as string, deliveryId: delivery.id as string }
}

/** Creates an ownership rule that sends every incident to a new destination. */
export const makeOwnershipRule = async (server: TestServer, key: string, fields: object = {}) => {
  const destinationIds = [(await makeDestination(server, key)).id]
  const body = { name: `Rule ${randomUUID()}`, destinationIds, ...fields }
  return made(server.call('POST', '/v1/ownership-rules', { key, body }))
}

export const makeAlertRule = (server: TestServer, key: string, fields: object = {}) => {
  const condition = { kind: 'volume', direction: 'above', threshold: 0 }
  return made(
    server.call('POST', '/v1/alert-rules', { key, body: { name: `Rule ${randomUUID()}`, condition, ...fields } }),
  )
}

/** Creates a firing incident of a rule that every conversation meets. */
export const makeAlertIncident = async (server: TestServer, key: string): Promise<string> => {
  const rule = await makeAlertRule(server, key)
  await makeConversation(server, key, { startedAt: new Date(server.clock.now().getTime() - 60_000).toISOString() })
  // The rule is due by the clock of any process that checks it.
  const due = { next_check_at: new Date(0) }
  await server.deps.db.updateTable('alert_rules').set(due).where('id', '=', rule.id).execute()
  await server.deps.jobs.enqueue(server.deps.db, checkAlertRules, {})
  await server.deps.jobs.drain([checkAlertRules], server.deps)
  // If there are several processes, another one may check the rule.
  for (let polls = 0; polls < 300; polls++) {
    const { body } = await server.call('GET', `/v1/alert-incidents?ruleId=${rule.id}`, { key })
    if (body.data[0]) return body.data[0].id
    await pause(50)
  }
  throw new Error('no incident has opened')
}

/** The password of everyone in tests. */
export const password = 'correct horse battery staple'

/**
 * Returns headers with a random IP address, because attempts to sign in are counted by address. A server with
 * EARSHOT_TRUST_PROXY=1 trusts them.
 */
export const elsewhere = () => ({ 'x-forwarded-for': Array.from({ length: 4 }, () => randomInt(1, 255)).join('.') })

/** Returns the body that accepts an invitation. */
export const acceptance = (invitationUrl: string) => ({
  token: new URL(invitationUrl).hash.slice(1),
  name: 'Pia Person',
  password,
})

/** Returns the Cookie header that a browser would send after a response. */
export const cookieOf = ({ headers }: { headers: Headers }): string =>
  headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ')

/** Creates a signed-in member. The headers are those of a page of this origin. */
export const makePerson = async (server: TestServer, key: string, role: Role = 'member', from = elsewhere()) => {
  const member = await makeMember(server, key, role)
  const body = acceptance(member.invitationUrl)
  const joined = await server.call('POST', '/auth/invitation', { body, headers: from })
  if (joined.status !== 200) throw new Error(`expected 200, got ${joined.status}: ${joined.text}`)
  const headers: Record<string, string> = { ...from, origin: server.origin, cookie: cookieOf(joined) }
  return { id: member.id as string, userId: member.userId as string, email: member.email as string, headers }
}
