import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { makeArms, makeCompany, makeKey, makeLaunch, makeMonitor, makeOrganization } from '../../test/make.ts'
import { serviceKey, testServer } from '../../test/server.ts'
import { type Experiments, openExperiments } from '../../test/support/experiments/experiments.ts'

const server = await testServer()
const { call } = server

let own: Experiments
let key: string
beforeEach(async () => {
  own = await openExperiments(server)
  key = own.key
})

const pathsOf = (answer: { body: { details?: { issues?: { path: string }[] } } }) =>
  answer.body.details?.issues?.map(({ path }) => path)

const refused = async (fields: object, ...paths: string[]) => {
  const answer = await own.tryLaunch(fields)
  expect(answer.status, answer.text).toBe(400)
  expect([...new Set(pathsOf(answer))]).toEqual(paths)
  expect((await call('GET', '/v1/experiments', { key })).body.data).toEqual([])
}

const monitorsOf = async (count: number, fields: object = {}) => {
  const ids: string[] = []
  while (ids.length < count) ids.push((await makeMonitor(server, key, fields)).id)
  return ids
}

const outcomes = ([first, ...others]: string[]) => ({ outcomeMetricIds: [first, ...others], primaryMetricId: first })

describe('a launch', () => {
  it("returns everything that was sent, and starts at the server's time", async () => {
    const [a, b] = await monitorsOf(2)
    const given = {
      name: 'Brevity',
      description: 'Shorter greeting.',
      armAName: 'Long',
      armBName: 'Short',
      outcomeMetricIds: [a, b],
      primaryMetricId: b,
      expectedArmAPercent: 40,
      cohortFilters: [{ field: 'metadata', key: 'plan', op: 'eq', value: 'gold' }],
      assignmentUnit: { kind: 'metadata', key: 'household' },
      notifications: { emails: ['lead@example.com'] },
    }
    const answer = await own.tryLaunch(given)
    expect(answer.status).toBe(201)
    expect(answer.headers.get('location')).toBe(`/v1/experiments/${answer.body.id}`)
    expect(answer.body).toMatchObject({
      ...given,
      ...own.arms,
      status: 'running',
      stableRoutingConfirmed: true,
      monitorGroupId: null,
      startedAt: server.clock.now().toISOString(),
      finishedAt: null,
      finishedByUserId: null,
    })
    expect(
      answer.body.outcomes.map(({ metricId, primary }: { metricId: string; primary: boolean }) => [metricId, primary]),
    ).toEqual([
      [a, false],
      [b, true],
    ])
    const read = (await call('GET', `/v1/experiments/${answer.body.id}`, { key })).body
    expect(read).toEqual(answer.body)
    const { outcomes: _, health: __, alpha: ___, tuningConversations: ____, countedAt: _____, ...summary } = read
    expect((await call('GET', '/v1/experiments', { key })).body).toEqual({ data: [summary], nextCursor: null })
  })

  it('needs little more than the arms and an outcome', async () => {
    const { id } = await own.launch()
    expect(await own.read({ id })).toMatchObject({
      description: null,
      armAName: null,
      armBName: null,
      cohortFilters: [],
      assignmentUnit: { kind: 'auto' },
      expectedArmAPercent: null,
      monitorGroupId: null,
      notifications: { emails: [] },
      outcomes: [{ verdict: { verdict: 'too_early' }, timeline: [], difference: { estimate: null } }],
      health: { sampleRatio: { status: 'not_configured' }, routing: { status: 'cannot_tell' } },
    })
  })

  it('requires confirmed routing, two versions of the agent, and valid outcomes', async () => {
    const { agentId, armAVersionId } = own.arms
    const other = await makeArms(server, key)
    const [monitorId] = await monitorsOf(1)
    const [disabled] = await monitorsOf(1, { enabled: false })
    await refused({ stableRoutingConfirmed: false }, 'stableRoutingConfirmed')
    await refused({ armBVersionId: armAVersionId.toUpperCase() }, 'armBVersionId')
    await refused({ armBVersionId: other.armBVersionId }, 'armBVersionId')
    await refused({ agentId: randomUUID() }, 'agentId')
    await refused({ agentId: other.agentId }, 'armAVersionId', 'armBVersionId')
    await refused({ agentId, primaryMetricId: randomUUID() }, 'primaryMetricId')
    await refused(outcomes([randomUUID()]), 'outcomeMetricIds[0]')
    await refused(outcomes([monitorId as string, disabled as string]), 'outcomeMetricIds[1]')
    await refused(outcomes([monitorId as string, (monitorId as string).toUpperCase()]), 'outcomeMetricIds[1]')
    const stranger = await makeOrganization(server)
    await refused(outcomes([(await makeMonitor(server, stranger.key)).id]), 'outcomeMetricIds[0]')
    const strange = await makeArms(server, stranger.key)
    await refused(strange, 'agentId')
  })

  it('enforces its limits', async () => {
    const most = await monitorsOf(20)
    const fits = {
      name: 'n'.repeat(255),
      description: 'd'.repeat(2_000),
      armAName: 'a'.repeat(100),
      armBName: 'b'.repeat(100),
      ...outcomes(most),
      expectedArmAPercent: 99,
      newMonitorGroupName: 'g'.repeat(255),
      cohortFilters: Array(8).fill({ field: 'metadata', key: 'k'.repeat(120), op: 'eq', value: 'v'.repeat(500) }),
      notifications: { emails: Array.from({ length: 20 }, (_, at) => `lead${at}@example.com`) },
    }
    expect((await own.tryLaunch(fits)).status).toBe(201)
    own = await openExperiments(server)
    key = own.key
    const emails = Array.from({ length: 21 }, (_, at) => `lead${at}@example.com`)
    await refused({ name: '' }, 'name')
    await refused({ name: ' ' }, 'name')
    await refused({ name: 'n'.repeat(256) }, 'name')
    await refused({ description: 'd'.repeat(2_001) }, 'description')
    await refused({ armAName: 'a'.repeat(101), armBName: '' }, 'armAName', 'armBName')
    await refused({ newMonitorGroupName: '' }, 'newMonitorGroupName')
    await refused({ newMonitorGroupName: 'g'.repeat(256) }, 'newMonitorGroupName')
    await refused({ expectedArmAPercent: 0 }, 'expectedArmAPercent')
    await refused({ expectedArmAPercent: 100 }, 'expectedArmAPercent')
    await refused({ expectedArmAPercent: 49.5 }, 'expectedArmAPercent')
    await refused({ outcomeMetricIds: [] }, 'outcomeMetricIds')
    await refused({ outcomeMetricIds: Array.from({ length: 21 }, () => randomUUID()) }, 'outcomeMetricIds')
    await refused({ notifications: { emails } }, 'notifications.emails')
    await refused({ notifications: { emails: ['nobody'] } }, 'notifications.emails[0]')
    await refused({ cohortFilters: Array(9).fill({ field: 'channel', op: 'eq', value: 'call' }) }, 'cohortFilters')
    await refused({ stoppingRule: 'soon' }, 'stoppingRule')
  })

  it('reports all faults of cohort and unit', async () => {
    const company = randomUUID()
    await refused(
      {
        cohortFilters: [
          { field: 'metadata', op: 'eq', value: 'gold' },
          { field: 'metadata', key: 'plan', op: 'contains' },
          { field: 'channel', key: 'plan', op: 'eq', value: 'call' },
          { field: 'channel', op: 'contains', value: 'call' },
          { field: 'channel', op: 'eq', value: 'fax' },
          { field: 'direction', op: 'neq' },
          { field: 'companyId', op: 'eq', value: 'Acme' },
          { field: 'metadata', key: 'plan', op: 'is_set' },
        ],
      },
      ...['key', 'value', 'key', 'op', 'value', 'value', 'value'].map((path, at) => `cohortFilters[${at}].${path}`),
    )
    await refused({ cohortFilters: [{ field: 'companyId', op: 'neq', value: company }] }, 'cohortFilters[0].value')
    const { id } = await makeCompany(server, key)
    expect((await own.tryLaunch({ cohortFilters: [{ field: 'companyId', op: 'neq', value: id }] })).status).toBe(201)
    own = await openExperiments(server)
    key = own.key
    await refused({ assignmentUnit: { kind: 'metadata' } }, 'assignmentUnit.key')
    await refused({ assignmentUnit: { kind: 'auto', key: 'household' } }, 'assignmentUnit.key')
    await refused({ assignmentUnit: { kind: 'caller' } }, 'assignmentUnit.kind')
  })

  it('requires the entitlement, the feature, and an admin', async () => {
    const body = await makeLaunch(server, key, own.arms)
    const post = (as: string) => call('POST', '/v1/experiments', { key: as, body })
    for (const role of ['viewer', 'member'] as const) {
      expect((await post((await makeKey(server, key, role)).id && (await makeKey(server, key, role)).key)).status).toBe(
        403,
      )
    }
    const set = (switches: object) => call('PATCH', `/v1/organizations/${own.org}`, { key: serviceKey, body: switches })
    await set({ entitlements: { observability: false } })
    expect(await post(key)).toMatchObject({ status: 403, body: { error: 'forbidden' } })
    await set({ entitlements: { observability: true }, features: { experimentsV2: false } })
    expect(await post(key)).toMatchObject({ status: 403, body: { error: 'forbidden' } })
    await set({ features: { experimentsV2: true } })
    expect((await post((await makeKey(server, key, 'admin')).key)).status).toBe(201)
  })

  it('is limited to twenty running ones per agent', async () => {
    const first = await own.launch()
    for (let count = 1; count < 20; count++) await own.launch()
    const more = await own.tryLaunch()
    expect([more.status, pathsOf(more)]).toEqual([400, ['agentId']])
    await own.finish(first)
    expect((await own.tryLaunch()).status).toBe(201)
  })

  it('warns of another experiment on the same versions', async () => {
    const first = await own.launch()
    const second = await own.launch({ name: 'The same again' })
    expect((await own.read(first)).health.overlapping).toEqual([{ id: second.id, name: 'The same again' }])
    await own.finish(second)
    expect((await own.read(first)).health.overlapping).toEqual([])
  })
})

describe('monitor groups', () => {
  const list = async () => (await call('GET', '/v1/experiments/monitor-groups', { key })).body.data

  it('are created with a launch and used by another', async () => {
    const ids = await monitorsOf(2)
    const { monitorGroupId } = (await own.tryLaunch({ ...outcomes(ids), newMonitorGroupName: 'Refunds' })).body
    expect(await list()).toMatchObject([{ id: monitorGroupId, name: 'Refunds', metricIds: ids }])
    const again = await own.tryLaunch({ ...outcomes(ids.toReversed()), monitorGroupId })
    expect(again).toMatchObject({ status: 201, body: { monitorGroupId } })
    const [third] = await monitorsOf(1)
    const clash = await own.tryLaunch({ ...outcomes(ids), monitorGroupId, newMonitorGroupName: 'Others' })
    expect([clash.status, pathsOf(clash)]).toEqual([400, ['newMonitorGroupName']])
    const fewer = await own.tryLaunch({ ...outcomes([ids[0] as string]), monitorGroupId })
    expect([fewer.status, pathsOf(fewer)]).toEqual([400, ['outcomeMetricIds']])
    const more = await own.tryLaunch({ ...outcomes([...ids, third as string]), monitorGroupId })
    expect([more.status, pathsOf(more)]).toEqual([400, ['outcomeMetricIds']])
    const unknown = await own.tryLaunch({ ...outcomes(ids), monitorGroupId: randomUUID() })
    expect([unknown.status, pathsOf(unknown)]).toEqual([400, ['monitorGroupId']])
    const taken = await own.tryLaunch({ ...outcomes(ids), newMonitorGroupName: 'REFUNDS' })
    expect([taken.status, pathsOf(taken)]).toEqual([400, ['newMonitorGroupName']])
    expect(await list()).toHaveLength(1)
  })

  it('only affect future experiments when they change', async () => {
    const ids = await monitorsOf(2)
    const launched = (await own.tryLaunch({ ...outcomes(ids), newMonitorGroupName: 'Refunds' })).body
    const path = `/v1/experiments/monitor-groups/${launched.monitorGroupId}`
    const changed = await call('PATCH', path, { key, body: { name: 'Money', metricIds: [ids[1]] } })
    expect(changed).toMatchObject({ status: 200, body: { name: 'Money', metricIds: [ids[1]] } })
    expect((await call('GET', path, { key })).body).toEqual(changed.body)
    expect((await call('PATCH', path, { key, body: { metricIds: [ids[1], randomUUID()] } })).status).toBe(400)
    expect((await own.read(launched)).outcomeMetricIds).toEqual(ids)
    expect((await call('DELETE', path, { key })).status).toBe(204)
    expect((await call('GET', path, { key })).status).toBe(404)
    expect(await own.read(launched)).toMatchObject({ monitorGroupId: null, outcomeMetricIds: ids })
  })
})
