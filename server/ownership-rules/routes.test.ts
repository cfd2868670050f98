import { randomUUID } from 'node:crypto'
import { beforeEach, expect, it } from 'vitest'
import {
  makeAgent,
  makeAlertRule,
  makeCompany,
  makeConversation,
  makeDestination,
  makeMonitor,
  makeOrganization,
  makeOwnershipRule,
  makePerson,
} from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { checkAlertRules } from '../alert-rules/jobs.ts'
import { fileSpike } from '../findings/file.ts'
import type { OrgId } from '../platform/db/database.ts'
import { orgIdOf } from '../platform/ids.ts'

const server = await testServer({ EARSHOT_TRUST_PROXY: '1' })
const { call, clock, deps } = server
const { db } = deps

type Person = Awaited<ReturnType<typeof makePerson>>

let org: OrgId
let key: string
let ada: Person
beforeEach(async () => {
  const made = await makeOrganization(server)
  org = orgIdOf(made.id)
  key = made.key
  ada = await makePerson(server, key)
  await db.updateTable('alert_rules').set({ enabled: false }).execute()
})

const path = '/v1/ownership-rules'
const create = async (body: object) => (await call('POST', path, { key, body })).body
const names = async () => (await call('GET', path, { key })).body.data.map(({ name }: { name: string }) => name)
const positions = async () =>
  (await call('GET', path, { key })).body.data.map(({ position }: { position: number }) => position)

it('rules are created, listed in their order, moved, and deleted', async () => {
  const agent = await makeAgent(server, key)
  const body = { name: 'B', agentIds: [agent.id.toUpperCase()], tags: [' Refund '], ownerUserId: ada.userId }
  const made = await call('POST', path, { key, body })
  expect(made.status).toBe(201)
  expect(made.headers.get('location')).toBe(`${path}/${made.body.id}`)
  expect(made.body).toEqual({
    id: expect.any(String),
    name: 'B',
    position: 1,
    agentIds: [agent.id],
    companyIds: [],
    tags: ['Refund'],
    ownerUserId: ada.userId,
    destinationIds: [],
    createdAt: clock.now().toISOString(),
    updatedAt: clock.now().toISOString(),
  })
  expect((await call('GET', `${path}/${made.body.id}`, { key })).body).toEqual(made.body)
  await create({ name: 'C', ownerUserId: ada.userId, position: 900 })
  await create({ name: 'A', ownerUserId: ada.userId, position: 1 })
  expect(await names()).toEqual(['A', 'B', 'C'])
  const first = (await call('GET', `${path}?limit=2`, { key })).body
  const rest = (await call('GET', `${path}?limit=2&cursor=${first.nextCursor}`, { key })).body
  expect([...first.data, ...rest.data].map(({ name }) => name)).toEqual(['A', 'B', 'C'])
  const move = (position: number) => call('PATCH', `${path}/${made.body.id}`, { key, body: { position } })
  expect((await move(3)).body.position).toBe(3)
  expect(await names()).toEqual(['A', 'C', 'B'])
  await move(1)
  expect(await names()).toEqual(['B', 'A', 'C'])
  expect((await call('PATCH', `${path}/${made.body.id}`, { key, body: { name: 'Renamed' } })).body).toMatchObject({
    name: 'Renamed',
    position: 1,
    agentIds: [agent.id],
  })
  expect((await call('DELETE', `${path}/${made.body.id}`, { key })).status).toBe(204)
  expect([await names(), await positions()]).toEqual([
    ['A', 'C'],
    [1, 2],
  ])
  for (const method of ['GET', 'DELETE']) {
    expect((await call(method, `${path}/${made.body.id}`, { key })).status).toBe(404)
  }
})

it('concurrent changes keep the order without gaps', async () => {
  await Promise.all(
    Array.from({ length: 8 }, (_, index) => create({ name: `${index}`, ownerUserId: ada.userId, position: 1 })),
  )
  const { data } = (await call('GET', path, { key })).body
  await Promise.all(
    (data as { id: string }[]).map(({ id }, index) =>
      index % 2 === 0
        ? call('DELETE', `${path}/${id}`, { key })
        : call('PATCH', `${path}/${id}`, { key, body: { position: 8 - index } }),
    ),
  )
  expect(await positions()).toEqual([1, 2, 3, 4])
})

it.each<[object, string]>([
  [{ ownerUserId: null }, 'ownerUserId'],
  [{ ownerUserId: randomUUID() }, 'ownerUserId'],
  [{ agentIds: [randomUUID()] }, 'agentIds[0]'],
  [{ companyIds: [randomUUID()] }, 'companyIds[0]'],
  [{ destinationIds: [randomUUID()] }, 'destinationIds[0]'],
  [{ tags: [' '] }, 'tags[0]'],
  [{ position: 0 }, 'position'],
])('a rule with %j is rejected', async (change, at) => {
  const { id } = await create({ name: 'A', ownerUserId: ada.userId })
  for (const [method, where, body] of [
    ['POST', path, { name: 'B', ownerUserId: ada.userId, ...change }],
    ['PATCH', `${path}/${id}`, change],
  ] as const) {
    const answer = await call(method, where, { key, body })
    expect(answer).toMatchObject({ status: 400, body: { details: { issues: [{ path: at }] } } })
  }
})

it('an organization has at most 100 rules', async () => {
  const rules = Array.from({ length: 100 }, () => create({ name: 'A', ownerUserId: ada.userId }))
  await Promise.all(rules)
  const answer = await call('POST', path, { key, body: { name: 'B', ownerUserId: ada.userId } })
  expect(answer).toMatchObject({ status: 409, body: { error: 'conflict' } })
})

const spike = async (conversationIds: string[]) => {
  const { id: monitorId } = await makeMonitor(server, key)
  const tell = async () => ({ title: 'Refunds rise', paragraphs: ['From one to two in a hundred.'] })
  const about = { monitorId, now: clock.now(), affected: async () => conversationIds, tell }
  const filed = await db.transaction().execute((trx) => fileSpike(deps, trx, org, about))
  return (await call('GET', `/v1/findings/${filed?.id}`, { key })).body.assigneeUserId
}
const converse = async (agent: { id: string }) =>
  (await makeConversation(server, key, { agent: undefined, agentId: agent.id })).id

it('a finding without an assignee gets the owner of the first rule that matches most of its conversations', async () => {
  const bob = await makePerson(server, key)
  const company = await makeCompany(server, key)
  const [leo, mia] = [await makeAgent(server, key), await makeAgent(server, key, { companyId: company.id })]
  const { id: destinationId } = await makeDestination(server, key)
  // The first rule names no owner, so the next rule determines who is assigned.
  await create({ name: 'Send', agentIds: [leo.id], destinationIds: [destinationId] })
  await create({ name: 'Leo', agentIds: [leo.id], ownerUserId: ada.userId })
  await create({ name: 'Company', companyIds: [company.id], ownerUserId: bob.userId })
  const [a, b, c] = [await converse(leo), await converse(leo), await converse(mia)]
  expect(await spike([a, b, c])).toBe(ada.userId)
  expect(await spike([c])).toBe(bob.userId)
  // The finding has equally many conversations of the two agents, so a rule must list both.
  expect(await spike([a, c])).toBe(bob.userId)
  expect(await spike([])).toBe(undefined)
  const inbox = (await call('GET', '/v1/notifications', { headers: ada.headers })).body.data
  expect(inbox.map(({ text }: { text: string }) => text)).toEqual(['Earshot assigned “Refunds rise” to you.'])
})

it('a finding that people create is assigned by its tags, unless they assign it', async () => {
  const bob = await makePerson(server, key)
  await create({ name: 'Refunds', tags: ['Refund'], ownerUserId: ada.userId })
  await create({ name: 'Everything else', ownerUserId: bob.userId })
  const file = async (body: object) =>
    (await call('POST', '/v1/findings', { key, body: { title: 'A', ...body } })).body.assigneeUserId
  expect(await file({ tags: ['refund', 'tone'] })).toBe(ada.userId)
  expect(await file({ tags: ['tone'] })).toBe(bob.userId)
  expect(await file({ tags: ['refund'], assigneeUserId: bob.userId })).toBe(bob.userId)
})

const checkRules = async () => {
  await db
    .updateTable('alert_rules')
    .set({ next_check_at: new Date(0) })
    .execute()
  await deps.jobs.enqueue(db, checkAlertRules, {})
  await deps.jobs.drain([checkAlertRules], deps)
}
const incidentOf = async (ruleId: string) =>
  (await call('GET', `/v1/alert-incidents?ruleId=${ruleId}`, { key })).body.data[0]
const deliveriesOf = async (destinationId: string) =>
  (await call('GET', `/v1/destinations/${destinationId}/deliveries`, { key })).body.data
const recent = () => ({ startedAt: new Date(clock.now().getTime() - 60_000).toISOString() })

it('an incident without an owner gets one, and is also sent to the destinations of the rule', async () => {
  const [own, routed] = [await makeDestination(server, key), await makeDestination(server, key)]
  const leo = await makeAgent(server, key)
  await create({ name: 'Leo', agentIds: [leo.id], ownerUserId: ada.userId, destinationIds: [routed.id, own.id] })
  await makeConversation(server, key, { agent: undefined, agentId: leo.id, ...recent() })
  const grouped = await makeAlertRule(server, key, { groupBy: 'agent', destinationIds: [own.id] })
  const filtered = await makeAlertRule(server, key, { filter: { agentIds: [leo.id] } })
  const everything = await makeAlertRule(server, key)
  const bob = await makePerson(server, key)
  const owned = await makeAlertRule(server, key, { groupBy: 'agent', ownerUserId: bob.userId })
  await checkRules()
  expect((await incidentOf(grouped.id)).ownerUserId).toBe(ada.userId)
  expect((await incidentOf(filtered.id)).ownerUserId).toBe(ada.userId)
  expect((await incidentOf(everything.id)).ownerUserId).toBe(null)
  expect((await incidentOf(owned.id)).ownerUserId).toBe(bob.userId)
  expect([(await deliveriesOf(own.id)).length, (await deliveriesOf(routed.id)).length]).toEqual([2, 2])
  // Later messages about the incident have the same destinations, even if the rules were deleted.
  for (const { id } of (await call('GET', path, { key })).body.data) await call('DELETE', `${path}/${id}`, { key })
  const { id } = await incidentOf(grouped.id)
  await call('POST', `/v1/alert-incidents/${id}/resolve`, { key })
  expect(await deliveriesOf(routed.id)).toHaveLength(3)
  const inbox = (await call('GET', '/v1/notifications?kinds=incident', { headers: ada.headers })).body.data
  expect(inbox.map(({ event }: { event: string }) => event)).toEqual(['resolved', 'opened', 'opened'])
})

it('incidents about findings are routed by their tags', async () => {
  await create({ name: 'Refunds', tags: ['refund'], ownerUserId: ada.userId })
  const rule = await makeAlertRule(server, key, { condition: { kind: 'finding', events: ['created'] } })
  clock.advance(1_000)
  await call('POST', '/v1/findings', { key, body: { title: 'A', tags: ['Refund'] } })
  await checkRules()
  expect((await incidentOf(rule.id)).ownerUserId).toBe(ada.userId)
})

it('an owner who leaves and a destination that is deleted are cleared', async () => {
  const { id: destinationId } = await makeDestination(server, key)
  const { id } = await create({ name: 'A', ownerUserId: ada.userId, destinationIds: [destinationId] })
  const rule = await makeAlertRule(server, key, { ownerUserId: ada.userId })
  expect((await call('DELETE', `/v1/members/${ada.id}`, { key })).status).toBe(204)
  expect((await call('GET', `${path}/${id}`, { key })).body.ownerUserId).toBe(null)
  expect((await call('GET', `/v1/alert-rules/${rule.id}`, { key })).body.ownerUserId).toBe(null)
  expect((await call('DELETE', `/v1/destinations/${destinationId}`, { key })).status).toBe(204)
  expect((await call('GET', `${path}/${id}`, { key })).body.destinationIds).toEqual([])
  const body = { title: 'Nobody is in charge' }
  expect((await call('POST', '/v1/findings', { key, body })).body.assigneeUserId).toBe(undefined)
})

it('rules of other organizations do not count', async () => {
  const other = await makeOrganization(server)
  await makeOwnershipRule(server, other.key, { ownerUserId: (await makePerson(server, other.key)).userId })
  expect((await call('POST', '/v1/findings', { key, body: { title: 'A' } })).body.assigneeUserId).toBe(undefined)
  expect(await names()).toEqual([])
})
