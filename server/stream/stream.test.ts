import { connect } from 'node:net'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import {
  makeBucket,
  makeClaim,
  makeConversation,
  makeConversations,
  makeKey,
  makeMonitor,
  makeOrganization,
  makePerson,
} from '../../test/make.ts'
import { serviceKey, testServer } from '../../test/server.ts'
import { openEventStream } from '../../test/support/event-stream.ts'
import { publishChanges } from '../platform/changes/changes.ts'
import { resourceNames, ruleOf } from '../platform/changes/resources.ts'
import type { OrgId } from '../platform/db/database.ts'
import { openApiDocument } from '../platform/http/openapi.ts'
import { newId } from '../platform/ids.ts'

const server = await testServer({
  EARSHOT_TRUST_PROXY: '1',
  EARSHOT_LIMITS: 'streamsPerPerson=4,streamsPerOrganization=6',
})
const { call, deps, origin } = server

let org: OrgId
let key: string
let keyId: string
beforeEach(async () => {
  const made = await makeOrganization(server)
  org = made.id as OrgId
  key = made.key
  keyId = made.keyId
})

const open = async (headers: Record<string, string>) => {
  const stream = await openEventStream(origin, headers)
  onTestFinished(stream.close)
  if (stream.status === 200) await stream.ready()
  return stream
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** Publishes a change that everyone may learn about. When it arrives, all earlier changes have arrived, too. */
const marker = () => publishChanges(deps.db, org, { resource: 'companies', kind: 'updated' })
const arrived = { resource: 'companies', kind: 'updated' }

describe('what a stream sends', () => {
  it('is an event for each stored conversation, without content', async () => {
    const stream = await open(bearer(key))
    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    })
    expect(stream.headers['content-encoding']).toBeUndefined()
    const { id } = await makeConversation(server, key)
    await stream.until({ kind: 'created', resource: 'conversations', id })
    await call('PATCH', `/v1/conversations/${id}`, { key, body: { customerId: 'c-1' } })
    await stream.until({ kind: 'updated', resource: 'conversations', id })
    await call('DELETE', `/v1/conversations/${id}`, { key })
    await stream.until({ kind: 'deleted', resource: 'conversations', id })
    for (const event of stream.events) expect(Object.keys(event).sort()).toEqual(['id', 'kind', 'resource'])
  })

  it('is one event for a batch of 500 conversations', async () => {
    const stream = await open(bearer(key))
    await makeConversations(
      server,
      key,
      Array.from({ length: 500 }, () => ({})),
    )
    // On a cluster, notifications from other nodes arrive a moment later.
    await stream.until({ resource: 'conversations' })
    await marker()
    await stream.until(arrived)
    const stored = stream.events.filter(({ resource }) => resource === 'conversations')
    expect(stored.length).toBeLessThanOrEqual(5)
  })

  it('includes results, findings, exports, and what members do', async () => {
    const stream = await open(bearer(key))
    const { id: monitorId } = await makeMonitor(server, key)
    await stream.until({ kind: 'created', resource: 'monitors', id: monitorId })
    const { id: conversationId } = await makeConversation(server, key)
    const results = [{ monitorId, conversationId, result: 'affected' }]
    await call('POST', '/v1/monitor-results', { key, body: { results } })
    await stream.until({ kind: 'created', resource: 'results', id: conversationId })
    const { id: findingId } = (await call('POST', '/v1/findings', { key, body: { title: 'Refunds' } })).body
    await stream.until({ kind: 'created', resource: 'findings', id: findingId })
    await call('POST', `/v1/findings/${findingId}/triage`, { key, body: { status: 'resolved' } })
    await stream.until({ kind: 'updated', resource: 'findings', id: findingId })
    const { id: bucketId } = await makeBucket(server, key)
    await stream.until({ kind: 'created', resource: 'buckets', id: bucketId })
    await call('DELETE', `/v1/buckets/${bucketId}`, { key })
    await stream.until({ kind: 'deleted', resource: 'buckets', id: bucketId })
  })

  it('is nothing if the transaction is rolled back', async () => {
    const stream = await open(bearer(key))
    const rolledBack = deps.db.transaction().execute(async (trx) => {
      await publishChanges(trx, org, { resource: 'findings', kind: 'created', ids: [newId()] })
      throw new Error('rolled back')
    })
    await expect(rolledBack).rejects.toThrow('rolled back')
    await marker()
    await stream.until(arrived)
    expect(stream.events).toEqual([arrived])
  })

  it('fits into notifications, however much changes at once', async () => {
    const stream = await open(bearer(key))
    const ids = Array.from({ length: 20 }, newId)
    const changes = Array.from({ length: 40 }, () => ({ resource: 'findings', kind: 'updated', ids }) as const)
    await publishChanges(deps.db, org, ...changes)
    await stream.until({ resource: 'findings' })
  })

  it('responds to HEAD without opening a stream', async () => {
    const answer = await call('HEAD', '/v1/stream', { key })
    expect([answer.status, answer.text]).toEqual([200, ''])
  })
})

describe('reconnecting', () => {
  it('sends what was missed after the last event', async () => {
    const first = await open(bearer(key))
    const before = first.lastEventId()
    const { id: seen } = await makeConversation(server, key)
    await first.until({ resource: 'conversations', id: seen })
    expect(first.lastEventId()).not.toBe(before)
    await first.close()
    const { id: missed } = await makeConversation(server, key)
    const again = await open({ ...bearer(key), 'last-event-id': first.lastEventId() ?? '' })
    await again.until({ kind: 'created', resource: 'conversations', id: missed })
    expect(again.events.filter(({ id }) => id === seen)).toEqual([])
  })

  it('tells the client to request everything again if something may be missing', async () => {
    for (const lastEventId of [newId(), 'not one of ours']) {
      const stream = await open({ ...bearer(key), 'last-event-id': lastEventId })
      expect(stream.events).toEqual([{ kind: 'resync', resource: 'all' }])
      await stream.close()
    }
  })

  it('only remembers the latest changes', async () => {
    const first = await open(bearer(key))
    await first.close()
    for (let at = 0; at < 300; at++) await marker()
    const again = await open({ ...bearer(key), 'last-event-id': first.lastEventId() ?? '' })
    expect(again.events[0]).toEqual({ kind: 'resync', resource: 'all' })
  })
})

describe('access to events', () => {
  it('depends on the organization', async () => {
    const other = await makeOrganization(server)
    const stream = await open(bearer(key))
    await makeConversation(server, other.key)
    await marker()
    await stream.until(arrived)
    expect(stream.events).toEqual([arrived])
  })

  it('depends on the role, and follows its changes', async () => {
    const { id: viewerId, key: viewerKey } = await makeKey(server, key, 'viewer')
    const viewer = await open(bearer(viewerKey))
    const admin = await open(bearer(key))
    const made = await makeKey(server, key, 'member')
    await admin.until({ kind: 'created', resource: 'api-keys', id: made.id })
    await publishChanges(
      deps.db,
      org,
      { resource: 'failed-jobs', kind: 'updated' },
      { resource: 'health', kind: 'updated' },
      { resource: 'integrations', kind: 'updated' },
    )
    await marker()
    await viewer.until(arrived)
    await admin.until(arrived)
    expect(viewer.events).toEqual([{ resource: 'health', kind: 'updated' }, arrived])
    expect(admin.events).toContainEqual({ resource: 'failed-jobs', kind: 'updated' })
    expect(viewerId).toBeDefined()
  })

  it('matches who can request the resources', () => {
    const { paths } = openApiDocument(server.app)
    const pathOf: Record<string, string> = {
      results: '/v1/conversations/{id}/results',
      'bulk-actions': '/v1/conversations/bulk',
      'evaluation-runs': '/v1/monitors/{id}/evaluations',
      alignments: '/v1/monitors/{id}/alignments',
      'experiment-exports': '/v1/experiments/{id}/exports',
      'monitor-groups': '/v1/experiments/monitor-groups',
    }
    for (const name of resourceNames) {
      const { role, entitlement, feature } = ruleOf(name)
      const access = paths[pathOf[name] ?? `/v1/${name}`]?.get?.['x-access']
      expect({ role, entitlement, feature }, name).toEqual(access)
    }
  })

  it('depends on the entitlement, and follows its changes', async () => {
    const stream = await open(bearer(key))
    const body = { entitlements: { monitors: false } }
    expect((await call('PATCH', `/v1/organizations/${org}`, { key: serviceKey, body })).status).toBe(200)
    await publishChanges(deps.db, org, { resource: 'results', kind: 'created' })
    await marker()
    await stream.until(arrived)
    expect(stream.events.filter(({ resource }) => resource === 'results')).toEqual([])
    expect(stream.hasEnded()).toBe(false)
  })

  it('is limited to one person if the event only concerns that person', async () => {
    const [ada, ben] = [await makePerson(server, key), await makePerson(server, key)]
    const [forAda, forBen] = [await open(ada.headers), await open(ben.headers)]
    await publishChanges(deps.db, org, { resource: 'notifications', kind: 'created', userIds: [ada.userId] })
    await marker()
    await forAda.until({ resource: 'notifications' })
    await forBen.until(arrived)
    expect(forBen.events.filter(({ resource }) => resource === 'notifications')).toEqual([])
  })
})

describe('a blind reviewer', () => {
  const judge = async (conversationId: string) => {
    const { id: monitorId } = await makeMonitor(server, key)
    const results = [{ monitorId, conversationId, result: 'affected' }]
    expect((await call('POST', '/v1/monitor-results', { key, body: { results } })).status).toBe(200)
  }
  const hidden = (events: { resource: string }[]) =>
    events.filter(({ resource }) => resource === 'results' || resource === 'reviews')

  it('learns nothing about results and other reviews before submitting their own', async () => {
    const bucket = await makeBucket(server, key, { blind: true, reviewsPerConversation: 2 })
    const ada = await makePerson(server, key)
    const stream = await open(ada.headers)
    const { body: review } = await call('POST', `/v1/buckets/${bucket.id}/claim`, { headers: ada.headers })
    await judge(bucket.conversationId)
    const { body: other } = await call('POST', `/v1/buckets/${bucket.id}/claim`, { key })
    await call('PATCH', `/v1/reviews/${other.id}`, { key, body: { status: 'completed', rating: 3 } })
    await marker()
    await stream.until(arrived)
    expect(hidden(stream.events)).toEqual([])
    const body = { status: 'completed', rating: 4 }
    expect((await call('PATCH', `/v1/reviews/${review.id}`, { headers: ada.headers, body })).status).toBe(200)
    await stream.until({ kind: 'updated', resource: 'results' })
    await judge((await makeConversation(server, key)).id)
    await stream.until({ kind: 'created', resource: 'results' })
  })

  it('is recognized when the stream opens, also for replayed events', async () => {
    const { conversationId } = await makeClaim(server, key, { blind: true })
    const first = await open(bearer(key))
    await judge(conversationId)
    await marker()
    await first.until(arrived)
    const again = await open({ ...bearer(key), 'last-event-id': first.lastEventId() ?? '' })
    await judge(conversationId)
    await marker()
    await again.until(arrived)
    expect(hidden([...first.events, ...again.events])).toEqual([])
  })
})

describe('a stream ends immediately', () => {
  it('when its key is revoked', async () => {
    const made = await makeKey(server, key, 'member')
    const [stream, others] = [await open(bearer(made.key)), await open(bearer(key))]
    expect((await call('DELETE', `/v1/api-keys/${made.id}`, { key })).status).toBe(204)
    await expect.poll(stream.hasEnded).toBe(true)
    expect(others.hasEnded()).toBe(false)
    expect((await open(bearer(made.key))).status).toBe(401)
    expect(keyId).toBeDefined()
  })

  it('when the person signs out', async () => {
    const { headers } = await makePerson(server, key)
    const stream = await open(headers)
    await call('POST', '/auth/sign-out', { headers, body: {} })
    await expect.poll(stream.hasEnded).toBe(true)
  })

  it('when the person is no longer a member', async () => {
    const { id, headers } = await makePerson(server, key)
    const stream = await open(headers)
    expect((await call('DELETE', `/v1/members/${id}`, { key })).status).toBe(204)
    await expect.poll(stream.hasEnded).toBe(true)
  })

  it('when the organization is suspended', async () => {
    const stream = await open(bearer(key))
    await call('POST', `/v1/organizations/${org}/suspend`, { key: serviceKey })
    await expect.poll(stream.hasEnded).toBe(true)
    expect((await open(bearer(key))).status).toBe(403)
  })

  it('before it sends what happened afterwards', async () => {
    const made = await makeKey(server, key, 'member')
    const stream = await open(bearer(made.key))
    await deps.identity.change(org, async (trx) => {
      await trx.updateTable('api_keys').set({ revoked_at: new Date() }).where('id', '=', made.id).execute()
    })
    await marker()
    await stream.ended
    expect(stream.events.filter(({ resource }) => resource === 'companies')).toEqual([])
  })
})

describe('limits', () => {
  it('apply to each person and to each organization', async () => {
    for (let at = 0; at < 4; at++) expect((await open(bearer(key))).status).toBe(200)
    const fifth = await open(bearer(key))
    expect([fifth.status, fifth.headers['retry-after']]).toEqual([429, '30'])
    const people = [await makePerson(server, key), await makePerson(server, key), await makePerson(server, key)]
    const statuses: number[] = []
    for (const { headers } of people) statuses.push((await open(headers)).status)
    expect(statuses).toEqual([200, 200, 429])
  })

  it('no longer count streams that closed', async () => {
    for (let at = 0; at < 8; at++) {
      const stream = await open(bearer(key))
      expect(stream.status).toBe(200)
      await stream.close()
      await expect
        .poll(async () => (await deps.metrics.registry.getSingleMetric('earshot_streams')?.get())?.values[0]?.value)
        .toBe(0)
    }
  })

  it('disconnect a reader who does not read', async () => {
    const socket = connect(Number(new URL(origin).port), '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.on('error', () => {})
    socket.write(`GET /v1/stream HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${key}\r\n\r\n`)
    await new Promise((resolve) => socket.once('data', resolve))
    socket.pause()
    const cuts = async () =>
      (await deps.metrics.registry.getSingleMetric('earshot_streams_cut_total')?.get())?.values[0]?.value ?? 0
    const before = await cuts()
    const ids = ['long'.repeat(1_500)]
    // The kernel buffers some megabytes before anything has to wait.
    await expect
      .poll(
        async () => {
          await deps.db.transaction().execute(async (trx) => {
            for (const name of resourceNames)
              for (const kind of ['created', 'updated', 'deleted'] as const)
                await publishChanges(trx, org, { resource: name, kind, ids })
          })
          return cuts()
        },
        { timeout: 60_000, interval: 100 },
      )
      .toBe(before + 1)
    socket.resume()
    await closed
  }, 90_000)
})
