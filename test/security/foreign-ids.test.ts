import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { alignMonitor } from '../../server/alignments/lifecycle.ts'
import { exampleOf, type JsonSchema } from '../../server/platform/http/examples.ts'
import { openApiDocument } from '../../server/platform/http/openapi.ts'
import {
  makeActiveWebhookEndpoint,
  makeAgent,
  makeAgentGroup,
  makeAgentVersion,
  makeAlertRule,
  makeBucket,
  makeCompany,
  makeConversation,
  makeConversationExportConfig,
  makeDestination,
  makeFinding,
  makeMonitor,
  makeMonitorGroup,
  makeOrganization,
  makePerson,
  makeScheduleBody,
  makeSilentModelProvider,
  makeTopic,
} from '../make.ts'
import {
  hasId,
  listOperations,
  makeIds,
  type Org,
  pathWith,
  preparedCall,
  type SweptOperation,
  sharedIds,
} from '../operations.ts'
import { serviceKey, type TestCall, testServer } from '../server.ts'
import { changedRows, storedRows } from '../stored.ts'

/**
 * Tests that wherever an ID is accepted, one from another organization gets the same response as one that doesn't
 * exist.
 */

const server = await testServer({
  EARSHOT_EMBEDDINGS: 'on',
  EARSHOT_SMTP_URL: 'smtp://127.0.0.1:1',
  EARSHOT_TRUST_PROXY: '1',
  EARSHOT_LIMITS: 'ratePerSecond=1000000,rateBurst=1000000',
})
const operations = listOperations(server)
const schemas = openApiDocument(server.app).components.schemas
const owner = await makeOrganization(server)
const stranger = await makeOrganization(server)

const isUuid = (text: string | undefined) => text !== undefined && /^[0-9a-f]{8}-/.test(text)

/** Sends a request. Two requests differ only in this ID, which is replaced in the response. */
const ask = async (key: string, { method }: SweptOperation, path: string, prepared: Partial<TestCall>, id: string) => {
  const headers = { ...prepared.headers, 'x-request-id': 'the-same' }
  const { status, text } = await server.call(method, path, { key, ...prepared, headers })
  return { status, text: text.replaceAll(id, 'the id') }
}

/** Creates related resources, so that a filter by any of them would match the conversation. */
const makeTheirs = async ({ id, key }: Org) => {
  const [group, company] = [(await makeAgentGroup(server, key)).id, (await makeCompany(server, key)).id]
  const agent = (await makeAgent(server, key, { groupIds: [group], companyId: company })).id
  const version = (await makeAgentVersion(server, key, agent)).id
  const of = { agent: undefined, agentId: agent, agentVersionId: version }
  const conversation = (await makeConversation(server, key, of)).id
  const monitor = (await makeMonitor(server, key)).id
  const bucket = (await makeBucket(server, key)).id
  const results = [{ monitorId: monitor, conversationId: conversation, result: 'affected' }]
  await server.call('POST', '/v1/monitor-results', { key, body: { results } })
  await server.call('POST', `/v1/buckets/${bucket}/conversations`, { key, body: { conversationIds: [conversation] } })
  const person = (await makePerson(server, key)).userId
  await server.call('POST', '/v1/findings', { key, body: { title: 'Refunds', assigneeUserId: person } })
  const notification = await server.deps.db
    .selectFrom('notifications')
    .select('id')
    .where('organization_id', '=', id)
    .executeTakeFirstOrThrow()
  return {
    agent,
    version,
    group,
    company,
    conversation,
    monitor,
    bucket,
    organization: id,
    monitorGroup: await makeMonitorGroup(server, key),
    endpoint: (await makeActiveWebhookEndpoint(server, key)).id,
    rule: (await makeAlertRule(server, key)).id,
    destination: (await makeDestination(server, key)).id,
    provider: (await makeSilentModelProvider(server, key)).id,
    finding: (await makeFinding(server, key)).id,
    topic: await makeTopic(server, key, conversation),
    person,
    notification: notification.id,
  }
}
type Kind = keyof Awaited<ReturnType<typeof makeTheirs>>

/**
 * The kind of resource that a property of a request refers to, by the property's name. It is undefined for IDs that the
 * caller invents.
 */
const kinds: [place: RegExp, kind: Kind | undefined][] = [
  [/(operationId|charts\.0\.id|chartId)$/, undefined],
  [/(agentVersionIds?|arm[AB]VersionId)$/i, 'version'],
  [/(agentGroupIds?|groupIds?)$/, 'group'],
  [/agentIds?$/, 'agent'],
  [/companyIds?$/, 'company'],
  [/conversationIds?$/, 'conversation'],
  [/(monitorIds?|monitors\.0\.id|outcomeMetricIds|primaryMetricId|metricIds|onfig\.results)$/, 'monitor'],
  [/monitorGroupId$/, 'monitorGroup'],
  [/bucketId$/, 'bucket'],
  [/(webhookEndpointId|notificationEndpointId)$/, 'endpoint'],
  [/ruleId$/, 'rule'],
  [/destinationIds?$/, 'destination'],
  [/fallbackProviderIds$/, 'provider'],
  [/(intoId|findingIds?)$/, 'finding'],
  [/(topicIds|mergeTopic into)$/, 'topic'],
  [/^createBulkAction ids$/, 'conversation'],
  [/^markNotificationsRead ids$/, 'notification'],
  [/userIds?$/i, 'person'],
  [/organizationId$/, 'organization'],
]
const kindOf = (place: string, operationId: string): Kind | undefined => {
  const known = kinds.find(([fits]) => fits.test(`${operationId} ${place.replace(/\.0$/, '')}`))
  if (!known) throw new Error(`test/security/foreign-ids.test.ts does not know what ${place} names`)
  return known[1]
}

const resolved = (schema: JsonSchema): JsonSchema =>
  schema.$ref ? (schemas[schema.$ref.replace('#/components/schemas/', '')] ?? {}) : schema

type IdLocation = { steps: string[]; parents: JsonSchema[] }

/** Returns every position in a body that contains an ID, with the schemas on its path. */
const placesOf = (given: JsonSchema, steps: string[] = [], parents: JsonSchema[] = []): IdLocation[] => {
  const schema = resolved(given)
  if (schema.format === 'uuid') return [{ steps, parents }]
  const inside = (part: JsonSchema, step: string) => placesOf(part, [...steps, step], [...parents, schema])
  return [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, part]) => inside(part, name)),
    ...(schema.items ? inside(schema.items, '0') : []),
    ...(schema.anyOf ?? []).flatMap((choice) => placesOf(choice, steps, parents)),
  ]
}

/** Returns the value with `id` at this position, and with the properties that its objects require. */
const withId = (
  value: unknown,
  { steps: [step, ...steps], parents: [parent, ...parents] }: IdLocation,
  id: string,
): unknown => {
  if (step === undefined) return id
  if (parent?.items) {
    const present = Array.isArray(value) ? value : []
    return [withId(present[0] ?? requiredOf(resolved(parent.items)), { steps, parents }, id), ...present]
  }
  const object = (value ?? requiredOf(parent ?? {})) as Record<string, unknown>
  return { ...object, [step]: withId(object[step], { steps, parents }, id) }
}
const requiredOf = ({ properties = {}, required = [] }: JsonSchema) => {
  const filled = Object.fromEntries(required.map((name) => [name, exampleOf(resolved(properties[name] ?? {}))]))
  // The first operator of these conditions requires a value.
  return required.includes('op') && required.includes('field') ? { ...filled, value: '100' } : filled
}

type Body = Record<string, unknown>

const scheduleBodies = new Map<string, Promise<Body>>()

/** Returns the body of a schedule. Each organization can only have a few endpoints, so its schedules share one. */
const scheduleBodyOf = (key: string): Promise<Body> => {
  const known = scheduleBodies.get(key) ?? makeScheduleBody(server, key)
  scheduleBodies.set(key, known)
  return known
}

/** Removes the configuration of monitor results, because a schedule exports either these or conversations. */
const withoutCalls = ({ config: _, ...body }: Body): Body => ({
  ...body,
  conversationConfig: { ...makeConversationExportConfig(), filter: {}, timezone: 'UTC' },
})

/** Returns the object around the position, without properties that exclude it or would match nothing. */
const around = async ({ operation: { operationId } }: SweptOperation, at: string, given: unknown, key: string) => {
  const { agent, filter, limit, ids, ...body } = given as Body
  if (at.startsWith('conversationConfig.')) return withoutCalls(await scheduleBodyOf(key))
  if (operationId === 'createConversation') return at === 'agentId' ? body : { ...body, agent }
  if (operationId === 'updateExportSchedule') return scheduleBodyOf(key)
  if (operationId === 'markNotificationsRead') return {}
  if (operationId === 'createBulkAction' && at.startsWith('ids.')) return { ...body, ids }
  // Counts over time would require `filter.since`.
  if (operationId === 'countConversations') return { filter: {} }
  if (at.startsWith('filter.')) return { ...body, filter: {} }
  if (operationId === 'createMonitorEvaluation' && at.startsWith('conversationIds.')) return {}
  if (at.startsWith('conversationIds.')) return body
  return given
}

type Sought = { swept: SweptOperation; theirIds: string[]; places: { at: string; place: IdLocation; kind: Kind }[] }

const placesIn = ({ operation, foreign }: SweptOperation): Sought['places'] => {
  const schema = operation.requestBody?.content['application/json']?.schema
  if (!schema || foreign) return []
  const places = new Map(placesOf(schema).map((place) => [place.steps.join('.'), place]))
  return [...places].flatMap(([at, place]) => {
    const kind = kindOf(at, operation.operationId)
    return kind ? [{ at, place, kind }] : []
  })
}

const theirs = await makeTheirs(owner)
const idsOfOwner = sharedIds(server, owner)
const sought: Sought[] = []
for (const swept of operations) {
  const withParameters = hasId(swept) && swept.access !== 'public'
  const places = placesIn(swept)
  const ids = withParameters ? await idsOfOwner(swept) : []
  // Several created resources may fit the path.
  const theirIds = ids.slice(0, swept.path.split('{').length - 1)
  if (theirIds.length + places.length > 0) sought.push({ swept, theirIds, places })
}

const ownersRows = async () => (await storedRows(server)).filter((row) => row.includes(owner.id))
// Creating the IDs of other operations deletes such jobs, for any organization.
await server.deps.jobs.drain([alignMonitor], server.deps)
const before = await ownersRows()

it.each(sought)('$swept.name', async ({ swept, theirIds, places }) => {
  const makeTarget = async () => {
    const org = await makeOrganization(server)
    const ids = await makeIds(server, swept, org)
    return {
      key: swept.access === 'service' ? serviceKey : org.key,
      ids,
      prepared: await preparedCall(server, swept, org),
    }
  }
  let target = await makeTarget()

  for (const [position, foreign] of theirIds.entries()) {
    if (!isUuid(foreign)) continue
    const answer = (id: string) =>
      ask(target.key, swept, pathWith(swept, target.ids.with(position, id)), target.prepared, id)
    const refused = await answer(randomUUID())
    expect(refused).toMatchObject({ status: 404, text: expect.stringContaining('"not found"') })
    // A service key can access every organization.
    if (swept.access !== 'service') expect(await answer(foreign)).toEqual(refused)
  }

  for (const { at, place: holder, kind } of places) {
    const answer = async (id: string) => {
      const { key, ids, prepared } = target
      const body = await around(swept, at, prepared.body, key)
      const answered = await ask(key, swept, pathWith(swept, ids), { ...prepared, body: withId(body, holder, id) }, id)
      // Some resources can only be created once.
      if (answered.status === 201 || answered.status === 202) target = await makeTarget()
      return answered
    }
    const refused = await answer(randomUUID())
    const { status, text } = await answer(theirs[kind])
    expect(status, at).toBe(refused.status)
    if (status >= 400) expect(text, at).toBe(refused.text)
    if (status !== 400) continue
    const paths: string[] = JSON.parse(text).details.issues.map((issue: { path: string }) => issue.path)
    const place = at.replace(/\.0/g, '[0]')
    expect(
      paths.some((path) => place.startsWith(path)),
      `${at} is what ${text} is about`,
    ).toBe(true)
  }
})

const queries = operations.flatMap((swept) =>
  (swept.operation.parameters ?? []).flatMap(({ in: where, name, schema }) => {
    const isId = schema.format === 'uuid' || kinds.some(([fits]) => fits.test(name))
    const kind = where === 'query' && isId ? kindOf(name, swept.operation.operationId) : undefined
    return kind ? [{ swept, parameter: name, kind, named: `${swept.name}?${name}` }] : []
  }),
)

it.each(queries)('$named', async ({ swept, parameter, kind }) => {
  const answer = (id: string) => ask(stranger.key, swept, `${swept.path}?${parameter}=${id}`, {}, id)
  expect(await answer(theirs[kind])).toEqual(await answer(randomUUID()))
})

it('no request changed anything of the owner', async () => {
  expect(changedRows(before, await ownersRows())).toEqual({ came: [], went: [] })
})
