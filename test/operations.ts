import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { alignMonitor } from '../server/alignments/lifecycle.ts'
import { runBulkAction } from '../server/bulk-actions/lifecycle.ts'
import { deliverMessage } from '../server/destinations/deliveries/jobs.ts'
import { generateExport } from '../server/exports/lifecycle.ts'
import type { Access } from '../server/platform/http/access.ts'
import { exampleOf } from '../server/platform/http/examples.ts'
import { type Operation, openApiDocument } from '../server/platform/http/openapi.ts'
import { hashKey } from '../server/platform/identity/keys.ts'
import { newId } from '../server/platform/ids.ts'
import { readSmtpUrl } from '../server/platform/mail/smtp-url.ts'
import { replaceAddressChange } from '../server/sign-in/address/queries.ts'
import { deliver } from '../server/webhooks/deliveries/jobs.ts'
import {
  acceptance,
  elsewhere,
  makeActiveWebhookEndpoint,
  makeAgent,
  makeAgentGroup,
  makeAgentVersion,
  makeAlertIncident,
  makeAlertRule,
  makeBoard,
  makeBoardShare,
  makeBucket,
  makeBulkAction,
  makeClaim,
  makeComment,
  makeCompany,
  makeConversation,
  makeConversationExport,
  makeConversationExportConfig,
  makeDelivery,
  makeDestination,
  makeDispute,
  makeExperiment,
  makeExperimentExport,
  makeExport,
  makeExportConfig,
  makeExportSchedule,
  makeFailedMessageDelivery,
  makeFailedWebhookDelivery,
  makeFinding,
  makeIntegration,
  makeKey,
  makeLaunch,
  makeMember,
  makeMetric,
  makeMonitor,
  makeMonitorGroup,
  makeOrganization,
  makeOwnershipRule,
  makePerson,
  makeRecording,
  makeRegion,
  makeRun,
  makeSavedView,
  makeScheduleBody,
  makeSealedRecording,
  makeSilentModelProvider,
  makeSoundRun,
  makeSyncedIntegration,
  makeTopic,
  makeWebhookEndpoint,
  password,
  wav,
  webhookHeaders,
} from './make.ts'
import { sampleBytes } from './samples/ingest/sample.ts'
import type { TestCall, TestServer } from './server.ts'
import { makeAlignable, makeAlignment, makeCompletedAlignment } from './support/alignments.ts'

/**
 * Deletes jobs that other operations enqueued and no test waits for. They would create files, or request URLs that do
 * not exist.
 */
const forget = ({ deps }: TestServer, { name }: { name: string }) =>
  sql`DELETE FROM jobs WHERE name = ${name} AND state IN ('delayed', 'waiting')`.execute(deps.db)

/** Lists the operations of the API, and everything that a test of all operations needs to call each of them. */

export type Org = { id: string; key: string }

export type SweptOperation = {
  name: string
  method: string
  path: string
  access: Access
  foreign: boolean
  /** The reason why an operation that writes leaves no audit event. */
  unaudited: string | undefined
  /** Whether an operation that only reads leaves an audit event. */
  audited: boolean
  operation: Operation
}

const makeFailedJob = async ({ deps }: TestServer, { id }: Org): Promise<string> => {
  const jobId = newId()
  const job = { organization_id: id, id: jobId, name: 'test.failed', payload: '{}', state: 'dead', priority: 0 }
  const now = new Date()
  await deps.db
    .insertInto('jobs')
    .values({ ...job, due_at: now, ended_at: now, error: 'It failed.' })
    .execute()
  return jobId
}

/** Create the resources in a path's parameters in the given organization. A new resource needs a line here. */
const idMakers: Record<string, (server: TestServer, org: Org) => Promise<string | string[]>> = {
  '/v1/agents/{id}/versions/{versionId}': async (server, { key }) => {
    const { id } = await makeAgent(server, key)
    return [id, (await makeAgentVersion(server, key, id)).id]
  },
  '/v1/agents/{id}': async (server, { key }) => (await makeAgent(server, key)).id,
  '/v1/agent-groups/{id}': async (server, { key }) => (await makeAgentGroup(server, key)).id,
  '/v1/conversations/bulk/{id}/undo': async (server, { key }) => {
    const { id } = await makeBulkAction(server, key)
    await server.deps.jobs.drain([runBulkAction], server.deps)
    return id
  },
  '/v1/conversations/bulk/{id}': async (server, { key }) => (await makeBulkAction(server, key)).id,
  '/v1/conversations/{id}/metrics/{key}': async (server, { key }) => [(await makeMetric(server, key)).id, 'csat'],
  '/v1/conversations/{id}/recording/original': async (server, { key }) => (await makeSealedRecording(server, key)).id,
  '/v1/conversations/{id}/recording': async (server, { key }) => (await makeRecording(server, key)).id,
  '/v1/sound-runs/{id}': async (server, { key }) => (await makeSoundRun(server, key)).id,
  '/v1/conversations/{id}/regions/{regionId}': async (server, { key }) => {
    const { id, conversationId } = await makeRegion(server, key)
    return [conversationId, id]
  },
  '/v1/conversations/{id}/regions': async (server, { key }) => (await makeRecording(server, key)).id,
  '/v1/conversations/{id}/sound': async (server, { key }) => (await makeRecording(server, key)).id,
  '/v1/conversations/{id}': async (server, { key }) => (await makeConversation(server, key)).id,
  '/v1/integrations/{id}/deliveries/{deliveryId}': async (server, { key }) => {
    const { integrationId, deliveryId } = await makeDelivery(server, key)
    return [integrationId, deliveryId]
  },
  '/v1/integrations/{id}/sync': async (server, { key }) => makeSyncedIntegration(server, key),
  '/v1/integrations/{id}': async (server, { key }) => (await makeIntegration(server, key)).id,
  '/v1/buckets/{id}/conversations/{conversationId}': async (server, { key }) => {
    const { id, conversationId } = await makeBucket(server, key)
    return [id, conversationId]
  },
  '/v1/buckets/{id}': async (server, { key }) => (await makeBucket(server, key)).id,
  '/v1/reviews/{id}/adjudicate': async (server, { key }) => (await makeDispute(server, key)).reviewIds,
  '/v1/reviews/{id}': async (server, { key }) => (await makeClaim(server, key)).id,
  '/v1/companies/{id}': async (server, { key }) => (await makeCompany(server, key)).id,
  '/v1/experiments/monitor-groups/{id}': async (server, { key }) => makeMonitorGroup(server, key),
  '/v1/experiments/{id}/exports/{exportId}/download': async (server, { key }) => {
    await forget(server, generateExport)
    const { experimentId, id } = await makeExperimentExport(server, key)
    await server.deps.jobs.drain([generateExport], server.deps)
    return [experimentId, id]
  },
  '/v1/experiments/{id}/exports/{exportId}': async (server, { key }) => {
    const { experimentId, id } = await makeExperimentExport(server, key)
    return [experimentId, id]
  },
  '/v1/experiments/{id}': async (server, { key }) => (await makeExperiment(server, key)).id,
  '/v1/findings/{id}/conversations/{conversationId}': async (server, { key }) => {
    const { id, conversationId } = await makeFinding(server, key)
    return [id, conversationId]
  },
  '/v1/findings/{id}/comments/{commentId}': async (server, { key }) => {
    const { id } = await makeFinding(server, key)
    return [id, await makeComment(server, key, id)]
  },
  '/v1/findings/{id}': async (server, { key }) => (await makeFinding(server, key)).id,
  '/v1/monitors/{id}/evaluations/{runId}/resume': async (server, { key }) => {
    const { id, monitorId } = await makeRun(server, key)
    await server.call('POST', `/v1/monitors/${monitorId}/evaluations/${id}/cancel`, { key })
    return [monitorId, id]
  },
  '/v1/monitors/{id}/evaluations/{runId}': async (server, { key }) => {
    const { id, monitorId } = await makeRun(server, key)
    return [monitorId, id]
  },
  '/v1/monitors/{id}/alignments/{alignmentId}/apply': async (server, { key }) => {
    await forget(server, alignMonitor)
    const { id, monitorId } = await makeCompletedAlignment(server, key)
    return [monitorId, id]
  },
  '/v1/monitors/{id}/alignments/{alignmentId}/resume': async (server, { key }) => {
    const { id, monitorId } = await makeAlignment(server, key)
    await server.call('POST', `/v1/monitors/${monitorId}/alignments/${id}/cancel`, { key })
    return [monitorId, id]
  },
  '/v1/monitors/{id}/alignments/{alignmentId}': async (server, { key }) => {
    const { id, monitorId } = await makeAlignment(server, key)
    return [monitorId, id]
  },
  '/v1/monitors/{id}/alignments': async (server, { key }) => (await makeAlignable(server, key)).monitorId,
  '/v1/monitors/{id}/evaluations': async (server, { key }) =>
    (await makeMonitor(server, key, { kind: 'rule', definition: { expression: 'true' } })).id,
  '/v1/monitors/{id}/test': async (server, { key }) =>
    (await makeMonitor(server, key, { kind: 'rule', definition: { expression: 'true' } })).id,
  // Templates are the same for every organization.
  '/v1/monitor-templates/{key}/install': async () => 'tool-failed',
  '/v1/monitors/{id}': async (server, { key }) => (await makeMonitor(server, key)).id,
  '/v1/conversation-exports/{id}/download': async (server, { key }) => {
    await forget(server, generateExport)
    const { id } = await makeConversationExport(server, key)
    await server.deps.jobs.drain([generateExport], server.deps)
    return id
  },
  '/v1/conversation-exports/{id}': async (server, { key }) => (await makeConversationExport(server, key)).id,
  '/v1/monitor-exports/{id}/download': async (server, { key }) => {
    await forget(server, generateExport)
    const { id } = await makeExport(server, key)
    await server.deps.jobs.drain([generateExport], server.deps)
    return id
  },
  '/v1/monitor-exports/{id}': async (server, { key }) => (await makeExport(server, key)).id,
  '/v1/export-schedules/{id}': async (server, { key }) => (await makeExportSchedule(server, key)).id,
  '/v1/boards/{id}/shares/{shareId}': async (server, { key }) => {
    const { boardId, id } = await makeBoardShare(server, key)
    return [boardId, id]
  },
  '/v1/boards/{id}': async (server, { key }) => (await makeBoard(server, key)).id,
  '/v1/metadata-keys/{key}/values': async (server, { key }) => {
    const name = `key-${newId()}`
    await makeConversation(server, key, { metadata: { [name]: 'gold' } })
    return name
  },
  '/v1/saved-views/{id}': async (server, { key }) => (await makeSavedView(server, key)).id,
  '/v1/webhook-endpoints/{id}/deliveries/{deliveryId}': async (server, { key }) => {
    await forget(server, deliver)
    const { endpointId, deliveryId } = await makeFailedWebhookDelivery(server, key)
    return [endpointId, deliveryId]
  },
  '/v1/webhook-endpoints/{id}/test': async (server, { key }) => (await makeActiveWebhookEndpoint(server, key)).id,
  '/v1/webhook-endpoints/{id}': async (server, { key }) => (await makeWebhookEndpoint(server, key)).id,
  '/v1/failed-jobs/{id}': makeFailedJob,
  '/v1/topics/{id}': async (server, { key }) => makeTopic(server, key),
  '/v1/ownership-rules/{id}': async (server, { key }) => (await makeOwnershipRule(server, key)).id,
  '/v1/alert-rules/{id}': async (server, { key }) => (await makeAlertRule(server, key)).id,
  '/v1/alert-incidents/{id}/comments/{commentId}': async (server, { key }) => {
    const id = await makeAlertIncident(server, key)
    const body = { body: { type: 'doc', content: [{ type: 'paragraph', content: [{ type: 'text', text: 'Seen' }] }] } }
    const comment = await server.call('POST', `/v1/alert-incidents/${id}/comments`, { key, body })
    return [id, comment.body.id]
  },
  '/v1/alert-incidents/{id}': async (server, { key }) => makeAlertIncident(server, key),
  '/v1/destinations/{id}/deliveries/{deliveryId}': async (server, { key }) => {
    await forget(server, deliverMessage)
    const { destinationId, deliveryId } = await makeFailedMessageDelivery(server, key)
    return [destinationId, deliveryId]
  },
  '/v1/destinations/{id}': async (server, { key }) => (await makeDestination(server, key)).id,
  '/v1/model-providers/{id}': async (server, { key }) => (await makeSilentModelProvider(server, key)).id,
  '/v1/members/{id}': async (server, { key }) => (await makeMember(server, key, 'member')).id,
  '/v1/api-keys/{id}': async (server, { key }) => (await makeKey(server, key, 'viewer')).id,
  '/v1/organizations/{id}': async (_server, { id }) => id,
}

const unique = () => Math.random().toString(36).slice(2)
const png = Buffer.from('89504e470d0a1a0a0000', 'hex')

/** Valid bodies of operations for which the document's example is not valid here. */
const bodies: Record<string, () => Partial<TestCall>> = {
  createAlertRule: () => ({ body: { name: 'Silence', condition: { kind: 'no_data', forMinutes: 60 } } }),
  previewAlertRule: () => ({ body: { condition: { kind: 'no_data', forMinutes: 60 } } }),
  muteAlertRule: () => ({ body: { until: null } }),
  mergeTopic: () => ({ body: { into: null } }),
  createAgent: () => ({ body: { name: 'Leo', channel: 'voice' } }),
  updateAgent: () => ({ body: { name: 'Leo' } }),
  updateConversation: () => ({ body: { customerId: unique() } }),
  createAgentGroup: () => ({ body: { name: unique() } }),
  updateReview: () => ({ body: { rating: 4 } }),
  updateMonitorGroup: () => ({ body: { name: unique() } }),
  updateAgentGroup: () => ({ body: { name: unique() } }),
  createFinding: () => ({ body: { title: 'Refunds are promised' } }),
  updateFinding: () => ({ body: { title: 'Refunds are promised', description: null } }),
  createOrganization: () => ({
    body: { name: 'Acme', slug: `acme-${unique()}`, owner: { email: `${unique()}@example.com`, name: 'Ada' } },
  }),
  updateOrganization: () => ({ body: { name: 'Renamed' } }),
  inviteMember: () => ({ body: { email: `${unique()}@example.com`, name: 'Ada', role: 'viewer' } }),
  updateMember: () => ({ body: { role: 'viewer' } }),
  createApiKey: () => ({ body: { name: 'A key', role: 'viewer' } }),
  provisionApiKey: () => ({ body: { name: 'A key', role: 'viewer' } }),
  receiveWebhook: () => ({
    raw: new Uint8Array(sampleBytes('vapi_end_of_call_report.json')),
    headers: { 'content-type': 'application/json', ...webhookHeaders },
  }),
  receiveTraces: () => ({
    raw: new Uint8Array(sampleBytes('otel_genai_traces.json')),
    headers: { 'content-type': 'application/json' },
  }),
  uploadRecording: () => ({ raw: wav(), headers: { 'content-type': 'audio/wav' } }),
  uploadCompanyLogo: () => ({ raw: png, headers: { 'content-type': 'image/png' } }),
}

export const listOperations = (server: TestServer): SweptOperation[] =>
  Object.entries(openApiDocument(server.app).paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path,
      access: operation['x-access'],
      foreign: operation['x-foreign'] === true,
      unaudited: operation['x-unaudited'],
      audited: operation['x-audited'] === true,
      operation,
    })),
  )

const makerOf = (path: string) => Object.entries(idMakers).find(([prefix]) => path.startsWith(prefix))

/** Returns whether the path names something that belongs to an organization. Templates belong to all of them. */
export const hasId = ({ path }: SweptOperation): boolean =>
  path.includes('{') && !path.startsWith('/v1/monitor-templates/')

/** Returns the required query parameters with the values of their examples. */
const requiredQuery = ({ operation: { parameters = [] } }: SweptOperation): string => {
  const needed = parameters.filter((parameter) => parameter.in === 'query' && parameter.required)
  if (needed.length === 0) return ''
  const query = new URLSearchParams(
    Object.fromEntries(needed.map(({ name, schema }) => [name, String(exampleOf(schema))])),
  )
  return `?${query}`
}

/** Creates the resources in the path's parameters in the given organization, and returns their IDs. */
export const makeIds = async (server: TestServer, { path, name }: SweptOperation, org: Org): Promise<string[]> => {
  if (!path.includes('{')) return []
  const make = makerOf(path)?.[1]
  if (!make) throw new Error(`test/operations.ts does not say what the id of ${name} names`)
  return [await make(server, org)].flat()
}

/**
 * Returns a function like `makeIds` that creates the resources only once for a path and its subpaths. The operations
 * must not change them.
 */
export const sharedIds = (server: TestServer, org: Org) => {
  const made = new Map<string, string[]>()
  return async (swept: SweptOperation): Promise<string[]> => {
    const prefix = makerOf(swept.path)?.[0] ?? swept.path
    const ids = made.get(prefix) ?? (await makeIds(server, swept, org))
    made.set(prefix, ids)
    return ids
  }
}

/** Returns the path with these parameters. */
export const pathWith = (swept: SweptOperation, ids: string[]): string => {
  const [prefix = swept.path] = makerOf(swept.path) ?? []
  const filled = ids.reduce((text, next) => text.replace(/\{\w+\}/, next), prefix) + swept.path.slice(prefix.length)
  if (filled.includes('{')) throw new Error(`test/operations.ts does not say what all parameters of ${swept.name} name`)
  return filled + requiredQuery(swept)
}

/**
 * Returns the path with parameters from the organization's resources, but with the given ID, if any, as the first one.
 */
export const fillPath = async (server: TestServer, swept: SweptOperation, org: Org, id?: string) => {
  const [first, ...others] = await makeIds(server, swept, org)
  return pathWith(swept, first === undefined ? [] : [id ?? first, ...others])
}

/** Returns a valid call of the operation. */
export const acceptedCall = ({ operation }: SweptOperation): Partial<TestCall> => {
  const special = bodies[operation.operationId]
  if (special) return special()
  const content = operation.requestBody?.content['application/json']
  return content ? { body: content.example } : {}
}

const bySession = async (server: TestServer, { key }: Org, body?: unknown): Promise<Partial<TestCall>> => {
  const { headers } = await makePerson(server, key)
  return { headers, body }
}

const withInvitation = async (server: TestServer, { key }: Org) => {
  const { invitationUrl } = await makeMember(server, key, 'member')
  return acceptance(invitationUrl)
}

/** Creates a person with a verified address whom another organization has invited. */
const withOwnInvitation = async (server: TestServer, { key }: Org): Promise<Partial<TestCall>> => {
  const { email, userId, headers } = await makePerson(server, key)
  const other = await makeOrganization(server)
  await server.call('POST', '/v1/members', { key: other.key, body: { email, name: 'Ada', role: 'viewer' } })
  await server.deps.db.updateTable('users').set({ email_verified: true }).where('id', '=', userId).execute()
  return { headers, body: { organizationId: other.id } }
}

/** Create the prerequisites of operations that the document does not state: a session, an invitation, or a monitor. */
const preparations: Record<string, (server: TestServer, org: Org) => Promise<Partial<TestCall>>> = {
  signIn: async (server, { key }) => {
    const { email } = await makePerson(server, key)
    return { headers: elsewhere(), body: { email, password } }
  },
  createBulkAction: async (server, { key }) => ({
    body: { ids: [(await makeConversation(server, key)).id], action: { kind: 'tag', add: ['escalated'] } },
  }),
  signOut: (server, org) => bySession(server, org, {}),
  signOutEverywhere: (server, org) => bySession(server, org, {}),
  forgetPassword: async () => ({ headers: elsewhere(), body: { email: 'ada@example.com' } }),
  changePassword: (server, org) =>
    bySession(server, org, { currentPassword: password, newPassword: 'another one of them' }),
  // Nothing drains the emails that this enqueues.
  changeEmail: (server, org) => {
    server.deps.config.smtp ??= readSmtpUrl('smtp://127.0.0.1:9')
    return bySession(server, org, { email: `${unique()}@example.com`, currentPassword: password })
  },
  confirmEmail: async (server, { key }) => {
    const { userId } = await makePerson(server, key)
    const token = unique()
    const change = { userId, email: `${unique()}@example.com`, tokenHash: hashKey(token) }
    const [createdAt, expiresAt] = [server.clock.now(), new Date(server.clock.now().getTime() + 60_000)]
    await replaceAddressChange(server.deps.db, { ...change, createdAt, expiresAt })
    return { headers: elsewhere(), body: { token } }
  },
  acceptInvitation: async (server, org) => ({ headers: elsewhere(), body: await withInvitation(server, org) }),
  checkInvitation: async (server, org) => {
    const { token } = await withInvitation(server, org)
    return { headers: elsewhere(), body: { token } }
  },
  listJoinedOrganizations: bySession,
  listOwnInvitations: bySession,
  acceptOwnInvitation: withOwnInvitation,
  declineOwnInvitation: withOwnInvitation,
  createBoardShare: async (server, { key }) => ({ body: { companyId: (await makeCompany(server, key)).id } }),
  getSharedBoard: async (server, { key }) => {
    const { token } = await makeBoardShare(server, key)
    return { headers: elsewhere(), body: { token } }
  },
  querySharedChart: async (server, { key }) => {
    const { token, chartIds } = await makeBoardShare(server, key)
    return { headers: elsewhere(), body: { token, chartId: chartIds[0] } }
  },
  attachConversation: async (server, { key }) => ({
    body: { conversationId: (await makeConversation(server, key)).id },
  }),
  mergeFinding: async (server, { key }) => ({ body: { intoId: (await makeFinding(server, key)).id } }),
  createMonitorExport: async (server, { key }) => ({
    body: { operationId: randomUUID(), config: await makeExportConfig(server, key) },
  }),
  createConversationExport: async () => ({
    body: { operationId: randomUUID(), config: makeConversationExportConfig() },
  }),
  previewConversationExport: async () => ({ body: { config: makeConversationExportConfig() } }),
  createOwnershipRule: async (server, { key }) => ({
    body: { name: 'All', destinationIds: [(await makeDestination(server, key)).id] },
  }),
  createExportSchedule: async (server, { key }) => ({ body: await makeScheduleBody(server, key) }),
  createReview: async (server, { key }) => ({ body: { conversationId: (await makeConversation(server, key)).id } }),
  // The disagreement is about the newest monitor.
  adjudicateReview: async (server, { key }) => {
    const [monitor] = (await server.call('GET', '/v1/monitors?limit=1', { key })).body.data
    return { body: { judgments: [{ monitorId: monitor?.id ?? randomUUID(), correctResult: 'affected' }] } }
  },
  launchExperiment: async (server, { key }) => ({ body: await makeLaunch(server, key) }),
  previewMonitorExport: async (server, { key }) => ({ body: { config: await makeExportConfig(server, key) } }),
  switchOrganization: (server, org) => bySession(server, org, { organizationId: org.id }),
}

/** Returns a valid call of the operation, and creates everything that the call needs. */
export const preparedCall = async (server: TestServer, swept: SweptOperation, org: Org): Promise<Partial<TestCall>> =>
  (await preparations[swept.operation.operationId]?.(server, org)) ?? acceptedCall(swept)
