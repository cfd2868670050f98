import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, inject, it } from 'vitest'
import { databaseUrl } from '../../test/database.ts'
import { makeDataDir, startEarshot } from '../../test/earshot.ts'
import {
  makeActiveWebhookEndpoint,
  makeAlertRule,
  makeConversations,
  makeDestination,
  makeMonitor,
  makeOrganization,
  makePerson,
} from '../../test/make.ts'
import { seededRandom } from '../../test/malformed.ts'
import { testServer } from '../../test/server.ts'
import { openFakes } from '../../test/support/destinations/fakes.ts'
import { openReceiver, receiverCertificate } from '../../test/support/webhooks/receiver.ts'
import { sendDigests } from '../notifications/digest/jobs.ts'
import type { OrgId } from '../platform/db/database.ts'
import { minuteMs } from '../platform/durations.ts'
import { newId, orgIdOf } from '../platform/ids.ts'
import { checkAlertRules } from './jobs.ts'

/**
 * Runs two workers, and kills one while rules fire and digests are sent. Each incident must open only once, with one
 * delivery to each destination and one notification for each person, and each period must have one digest.
 */

const seed = inject('seeds')[0] ?? 1
const rounds = inject('rounds')
const agents = ['leo', 'mia', 'noa']
const callsOfAgent = 35
const secretKey = 'a-secret-key-for-this-test-0123456789'
const routingKey = '0123456789abcdef0123456789abcdef'
const workerFile = join(import.meta.dirname, '../../test/support/destinations/worker-process.ts')

const server = await testServer({
  EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1/32',
  EARSHOT_SECRET_KEY: secretKey,
})
const { call, deps } = server

const openWorkers = async (origin: string) => {
  const dataDir = await makeDataDir()
  const certificates = join(dataDir, 'receiver.pem')
  await writeFile(certificates, receiverCertificate)
  const switches = {
    DATABASE_URL: databaseUrl(deps.database.connection),
    EARSHOT_DATA_DIR: dataDir,
    EARSHOT_SECRET_KEY: secretKey,
    EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1/32',
    NODE_EXTRA_CA_CERTS: certificates,
  }
  const args = ['--disable-warning=ExperimentalWarning', workerFile, origin]
  const start = () => startEarshot(switches, { file: process.execPath, args })
  const workers = [await start(), await start()]
  return {
    killOne: async (index: number) => {
      const worker = workers[index]
      worker?.child.kill('SIGKILL')
      await worker?.ended
    },
    startAgain: async (index: number) => {
      workers[index] = await start()
    },
  }
}

/** Creates a monitor that marks all recent calls of three agents as affected. */
const makeAffected = async (key: string): Promise<string> => {
  const { id: monitorId } = await makeMonitor(server, key)
  const startedAt = new Date(Date.now() - 60_000).toISOString()
  const ids = await makeConversations(
    server,
    key,
    Array.from({ length: agents.length * callsOfAgent }, (_, at) => {
      const name = agents[at % agents.length]
      return { startedAt, agent: { externalId: name, name, channel: 'voice' } }
    }),
  )
  const results = ids.map((conversationId) => ({ monitorId, conversationId, result: 'affected' }))
  const { status, text } = await call('POST', '/v1/monitor-results', { key, body: { results } })
  if (status >= 300) throw new Error(text)
  return monitorId
}

/** Invites a person who is notified of every incident and receives a digest each day. */
const makeReader = async (key: string) => {
  const person = await makePerson(server, key)
  const path = '/v1/notification-preferences'
  const { kinds, digest } = (await call('GET', path, person)).body
  const body = { kinds: { ...kinds, incident: { console: true, email: 'off' } }, incidents: 'all', digest }
  const withDigest = { ...body, kinds: { ...body.kinds, mention: { console: true, email: 'daily' } } }
  const { status, text } = await call('PUT', path, { headers: person.headers, body: withDigest })
  if (status !== 200) throw new Error(text)
  return person
}

/** Ends the person's current digest period while one notification is waiting for the digest. */
const endPeriod = async (org: OrgId, userId: string): Promise<void> => {
  const { db } = deps
  const period = () =>
    db
      .selectFrom('notification_preferences')
      .select('daily_next_at as nextAt')
      .where('organization_id', '=', org)
      .where('user_id', '=', userId)
      .executeTakeFirstOrThrow()
  await expect
    .poll(async () => (await period()).nextAt?.getTime(), { timeout: 60_000 })
    .toBeGreaterThan(Date.now() + minuteMs)
  await db.transaction().execute(async (trx) => {
    const waiting = { kind: 'mention', event: 'mentioned', subject_type: 'finding', subject_id: newId() }
    await trx
      .insertInto('notifications')
      .values({
        organization_id: org,
        id: newId(),
        user_id: userId,
        ...waiting,
        event_key: newId(),
        in_console: true,
        emailed: false,
        digest: 'daily',
        created_at: new Date(),
      })
      .execute()
    await trx
      .updateTable('notification_preferences')
      .set({ daily_next_at: new Date(Date.now() - minuteMs) })
      .where('organization_id', '=', org)
      .where('user_id', '=', userId)
      .execute()
  })
  await deps.jobs.enqueue(db, sendDigests, {})
}

const timesEach = (values: string[]): Map<string, number> =>
  new Map([...Map.groupBy(values, (value) => value)].map(([value, same]) => [value, same.length]))

it('opens one incident for each rule and group, with one delivery and notification, if processes are killed while rules fire', async () => {
  process.stdout.write(`alerts: seed ${seed}\n`)
  const random = seededRandom(seed)
  const made = await makeOrganization(server)
  const { key } = made
  const org = orgIdOf(made.id)
  const fakes = await openFakes(deps)
  const hooks = await openReceiver(204)
  const { id: endpointId } = await makeActiveWebhookEndpoint(server, key, { url: hooks.url, events: [] })
  const destinations = {
    slack: await makeDestination(server, key, {
      settings: { url: `${fakes.origin}/services/T0000/B0000/abcdefghijkl` },
    }),
    pagerduty: await makeDestination(server, key, { kind: 'pagerduty', settings: { routingKey } }),
    webhook: await makeDestination(server, key, { kind: 'webhook', settings: { endpointId } }),
  }
  const destinationIds = Object.values(destinations).map(({ id }) => id as string)
  const workers = await openWorkers(fakes.origin)
  const [owner, reader] = [await makePerson(server, key), await makeReader(key)]

  for (let round = 1; round <= rounds; round++) {
    const monitorId = await makeAffected(key)
    const sentBefore = fakes.sent.length
    const condition = { kind: 'rate', monitorId, direction: 'above', threshold: 0.2 }
    await makeAlertRule(server, key, { condition, groupBy: 'agent', destinationIds, ownerUserId: owner.userId })
    await endPeriod(org, reader.userId)
    await deps.jobs.enqueue(deps.db, checkAlertRules, {})
    // Kill the worker while it either checks rules or sends messages.
    const sent = random.chance(0.5) ? random.below(2 * agents.length) : undefined
    if (sent !== undefined) {
      await expect.poll(() => fakes.sent.length, { timeout: 30_000, interval: 1 }).toBeGreaterThan(sentBefore + sent)
    }
    await pause(random.below(sent === undefined ? 400 : 20))
    const index = random.below(2)
    await workers.killOne(index)
    await workers.startAgain(index)
  }

  const listIncidents = () =>
    deps.db.selectFrom('alert_incidents').select(['id', 'status']).where('organization_id', '=', org).execute()
  const listDeliveries = () =>
    deps.db
      .selectFrom('destination_deliveries')
      .select(['destination_id', 'subject_id', 'kind', 'status'])
      .where('organization_id', '=', org)
      .execute()
  const count = rounds * agents.length
  const expected = { incidents: count, succeeded: count * destinationIds.length }
  await expect
    .poll(
      async () => ({
        incidents: (await listIncidents()).length,
        succeeded: (await listDeliveries()).filter(({ status }) => status === 'succeeded').length,
      }),
      { timeout: 90_000 },
    )
    .toEqual(expected)
  await expect.poll(() => hooks.received.length, { timeout: 90_000 }).toBeGreaterThanOrEqual(count)

  const incidents = await listIncidents()
  expect(new Set(incidents.map(({ status }) => status))).toEqual(new Set(['firing']))
  const deliveries = await listDeliveries()
  expect(new Set(deliveries.map(({ kind }) => kind))).toEqual(new Set(['opened']))
  const openings = incidents.flatMap(({ id }) => destinationIds.map((destinationId) => `${id} ${destinationId}`))
  const delivered = deliveries.map(({ subject_id, destination_id }) => `${subject_id} ${destination_id}`)
  expect(delivered.toSorted()).toEqual(openings.toSorted())
  const ids = new Set(hooks.received.map(({ headers }) => headers['webhook-id']))
  expect(ids.size).toBe(count)

  const notified = await deps.db
    .selectFrom('notifications')
    .select(['user_id', 'subject_id'])
    .where('organization_id', '=', org)
    .where('kind', '=', 'incident')
    .execute()
  expect(notified.map(({ user_id, subject_id }) => `${subject_id} ${user_id}`).toSorted()).toEqual(
    incidents.flatMap(({ id }) => [`${id} ${owner.userId}`, `${id} ${reader.userId}`]).toSorted(),
  )
  const listDigests = () =>
    deps.db
      .selectFrom('mails')
      .select('id')
      .where('organization_id', '=', org)
      .where('recipient', '=', reader.email)
      .where('subject', 'like', 'Daily digest%')
      .execute()
  await expect.poll(async () => (await listDigests()).length, { timeout: 60_000 }).toBeGreaterThanOrEqual(rounds)
  expect(await listDigests()).toHaveLength(rounds)

  // A message can arrive twice if a worker was killed before it stored the response. PagerDuty opens only one incident
  // for each key.
  const events = fakes.sent.filter(({ path }) => path === '/v2/enqueue').map(({ body }) => body)
  expect(new Set(events.map(({ event_action }) => event_action))).toEqual(new Set(['trigger']))
  const keys = timesEach(events.map((event) => `${event.dedup_key} ${event.client_url}`))
  const incidentUrl = (id: string) => `${deps.baseUrl()}/alerts/incidents/${id}`
  const pathsOf = (from: Iterable<string>) => [...from].map((text) => text.replace(/ https?:\/\/[^/]+/, ' ')).toSorted()
  expect(pathsOf(keys.keys())).toEqual(pathsOf(incidents.map(({ id }) => `earshot-${id} ${incidentUrl(id)}`)))
  const repeats = fakes.sent.length - 2 * count
  process.stdout.write(
    `alerts: ${rounds} kills, ${count} incidents, ${repeats} repeated requests of ${fakes.sent.length}\n`,
  )
}, 3_600_000)
