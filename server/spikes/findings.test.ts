import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { onPlainPostgres } from '../../test/citus.ts'
import { makeActiveWebhookEndpoint, makeMonitor } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { countWaiting } from '../../test/support/count-waiting.ts'
import { affectedIn, days, hourMs, makeTimeline } from '../../test/support/spikes/timeline.ts'
import { newId } from '../platform/ids.ts'
import { jobList } from '../worker.ts'
import { detectInMonitor } from './detection-step.ts'

const { it: itWithTriggers } = onPlainPostgres('fails a write by a trigger')

const server = await testServer()
const { call, clock } = server
const { db, jobs } = server.deps

let line: Awaited<ReturnType<typeof makeTimeline>>
beforeEach(async () => {
  line = await makeTimeline(server)
})

describe('a doubling rate', () => {
  it('creates one finding with the affected conversations since then, and adds to it while it lasts', async () => {
    const { org, key, monitorId } = line
    const rise = await line.giveHistory()
    expect(await line.findings()).toEqual([])
    let told = 0
    for (; (await line.findings()).length === 0 && told < 24; told++) await line.live(1, 4)

    const [finding, ...more] = await line.findings()
    expect(more).toEqual([])
    expect(finding).toMatchObject({
      title: 'Refund promised: 67% affected, up from 33%',
      status: 'open',
      priority: 'medium',
      finding_type: 1,
      tags: [],
      created_by_user_id: null,
      source_kind: 'monitor',
      source_id: monitorId,
      created_at: clock.now(),
    })
    const since = new Date(rise * hourMs)
    const month = since.toLocaleString('en', { month: 'long', timeZone: 'UTC' })
    const time = since.toISOString().slice(11, 16)
    const paragraph = (text: unknown) => ({ type: 'paragraph', content: [{ type: 'text', text }] })
    expect(finding?.description).toEqual({
      type: 'doc',
      content: [
        paragraph(
          `Since ${since.getUTCDate()} ${month} ${since.getUTCFullYear()} at ${time} UTC, “Refund promised” (version 1) scored ` +
            `${told * 6} conversations and ${told * 4} are affected: 67%, up from 33%.`,
        ),
        paragraph(expect.stringContaining('attached')),
      ],
    })
    const id = finding?.id ?? ''
    expect(await line.attachedTo(id)).toEqual(affectedIn(rise, rise + told, 4))
    const audit = (await call('GET', '/v1/audit-events', { key })).body.data
    expect(audit.filter(({ action }: { action: string }) => action === 'finding.create')).toMatchObject([
      { actor: { kind: 'service' }, targets: [{ type: 'finding', id }] },
    ])

    // A conversation that was detached stays detached.
    const idOf = async (name: string) =>
      (await call('GET', `/v1/conversations?externalId=${name}`, { key })).body.data[0].id
    await db
      .deleteFrom('finding_conversations')
      .where('organization_id', '=', org)
      .where('conversation_id', '=', await idOf(`${rise}-0`))
      .execute()
    await line.live(5, 4)
    expect(await line.findings()).toEqual([finding])
    const expected = affectedIn(rise, rise + told + 5, 4).filter((name) => name !== `${rise}-0`)
    expect(await line.attachedTo(id)).toEqual(expected)

    // An erased conversation is detached.
    const erased = await call('DELETE', `/v1/conversations/${await idOf(`${rise}-1`)}`, { key })
    expect(erased.status).toBe(204)
    expect(await line.attachedTo(id)).toEqual(expected.filter((name) => name !== `${rise}-1`))

    // Nothing is attached after the end of the spike.
    for (let hours = 0; (await line.stateOf(monitorId))?.findingId && hours < 30; hours++) await line.live(1, 2)
    const gathered = (await line.attachedTo(id)).length
    await line.live(3, 2)
    expect(await line.attachedTo(id)).toHaveLength(gathered)
    expect(await line.stateOf(monitorId)).toMatchObject({ findingId: null, detector: { spike: null } })
    expect(await line.findings()).toEqual([finding])
  })

  it('attaches the newest hundred first, and five hundred in all', async () => {
    const rise = await line.giveHistory()
    await line.pass(12, 27, { calls: 30 })
    const [finding] = await line.findings()
    const attached = await line.attachedTo(finding?.id ?? '')
    expect(attached).toHaveLength(100)
    expect(attached).toEqual(expect.arrayContaining(affectedIn(rise + 9, rise + 12, 27)))
    for (let hour = 0; hour < 5; hour++) await line.pass(1, 90, { calls: 100 })
    expect(await line.attachedTo(finding?.id ?? '')).toHaveLength(500)
    expect(await line.findings()).toHaveLength(1)
  })

  itWithTriggers('is filed once when the database fails in between', async () => {
    const rise = await line.giveHistory()
    const before = await line.stateOf(line.monitorId)
    clock.advance(24 * hourMs)
    await line.give(rise, rise + 24, 4)
    await sql`CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'the disk is full'; END $$`.execute(db)
    await sql`CREATE TRIGGER fail BEFORE UPDATE ON monitor_spike_states FOR EACH ROW
      WHEN (NEW.finding_id IS NOT NULL) EXECUTE FUNCTION fail()`.execute(db)
    expect(await line.run({ allowFailures: true })).toEqual(['completed', 'retried'])
    expect(await line.findings()).toEqual([])
    expect(await line.stateOf(line.monitorId)).toEqual(before)
    await sql`DROP FUNCTION fail CASCADE`.execute(db)
    await jobs.drain(jobList, server.deps, { delayed: true })
    const [finding, ...more] = await line.findings()
    expect(more).toEqual([])
    expect(await line.attachedTo(finding?.id ?? '')).toEqual(affectedIn(rise, rise + 24, 4))
  })

  it('is detected for one monitor even if another fails', async () => {
    const monitors = [line.monitorId, (await makeMonitor(server, line.key)).id].sort()
    const [failing = '', sound = ''] = monitors
    const rise = await line.giveHistory(monitors)
    await db
      .updateTable('monitor_spike_states')
      .set({ detector: JSON.stringify({ form: 1 }) })
      .where('organization_id', '=', line.org)
      .where('monitor_id', '=', failing)
      .execute()
    clock.advance(24 * hourMs)
    await line.give(rise, rise + 24, 4, { monitors })
    expect(await line.run({ allowFailures: true })).toContain('retried')
    expect((await line.findings()).map((finding) => finding.source_id)).toEqual([sound])

    // Without its state, the detector reads the history again.
    await db
      .deleteFrom('monitor_spike_states')
      .where('organization_id', '=', line.org)
      .where('monitor_id', '=', failing)
      .execute()
    await jobs.drain(jobList, server.deps, { delayed: true })
    expect((await line.findings()).map((finding) => finding.source_id)).toEqual([sound, failing])
  })
})

describe('a finding that is', () => {
  const fileOne = async () => {
    await line.giveHistory()
    await line.pass(24, 4)
    const [finding] = await line.findings()
    return finding?.id ?? ''
  }

  const triage = async (id: string, status: string) => {
    const answer = await call('POST', `/v1/findings/${id}/triage`, { key: line.key, body: { status } })
    expect(answer.status).toBe(200)
  }
  const get = async (id: string) => (await call('GET', `/v1/findings/${id}`, { key: line.key })).body
  const historyOf = async (id: string) =>
    (await call('GET', `/v1/findings/${id}/history`, { key: line.key })).body.data as { kind: string }[]

  it('resolved is reopened by the service if the rate stays high, without counting earlier hours', async () => {
    const id = await fileOne()
    await call('PATCH', `/v1/findings/${id}`, { key: line.key, body: { title: 'Ours' } })
    const before = await line.attachedTo(id)
    await triage(id, 'resolved')
    const resolvedAt = clock.now().getTime() / hourMs
    const endpoint = await makeActiveWebhookEndpoint(server, line.key, { events: ['finding.updated'] })
    await line.pass(24, 4)
    expect(await line.findings()).toHaveLength(1)
    expect(await get(id)).toMatchObject({ status: 'open', title: 'Ours', priority: 'medium' })
    const [reopened, ...earlier] = await historyOf(id)
    expect(reopened).toMatchObject({
      kind: 'recurrence',
      byUserId: null,
      fromStatus: 'resolved',
      toStatus: 'open',
      reason: expect.stringMatching(
        /“Refund promised” \(version 1\) scored \d+ conversations and \d+ are affected: 67%, up from 33%/,
      ),
    })
    expect(earlier).toMatchObject([{ kind: 'triage', toStatus: 'resolved' }])
    const added = (await line.attachedTo(id)).filter((name) => !before.includes(name))
    expect(added.length).toBeGreaterThan(0)
    const hours = added.map((name) => Number(name?.split('-')[0]))
    expect(Math.min(...hours)).toBe(Math.ceil(resolvedAt))
    const audit = (await call('GET', '/v1/audit-events', { key: line.key })).body.data
    const reopening = audit.filter(({ action }: { action: string }) => action === 'finding.reopen')
    expect(reopening).toMatchObject([{ actor: { kind: 'service' }, targets: [{ type: 'finding', id }] }])
    const told = await call('GET', `/v1/webhook-endpoints/${endpoint.id}/deliveries`, { key: line.key })
    expect(told.body.data).toMatchObject([{ eventType: 'finding.updated' }])
  })

  it('resolved months ago is reopened when its monitor’s spike returns, and gets new conversations', async () => {
    const rise = await line.giveHistory()
    for (let hour = 0; hour < 7; hour++) await line.pass(1, 90, { calls: 100 })
    const [{ id = '' } = {}] = await line.findings()
    expect(await line.attachedTo(id)).toHaveLength(500)
    await triage(id, 'resolved')
    await line.pass(days(30), 2)
    expect(await get(id)).toMatchObject({ status: 'resolved', conversationCount: 500 })
    const returns = line.nextHour()
    expect(returns).toBeGreaterThan(rise + days(30))
    await line.pass(24, 4)
    expect(await line.findings()).toHaveLength(1)
    expect(await get(id)).toMatchObject({ status: 'open', conversationCount: 500 + 24 * 4 })
    expect((await historyOf(id)).map(({ kind }) => kind)).toEqual(['recurrence', 'triage'])
  })

  it('open gets more conversations when the spike returns', async () => {
    const id = await fileOne()
    await line.pass(days(30), 2)
    expect(await line.stateOf(line.monitorId)).toMatchObject({ findingId: null, detector: { spike: null } })
    const before = await line.attachedTo(id)
    await line.pass(24, 4)
    expect(await line.findings()).toHaveLength(1)
    expect((await line.attachedTo(id)).length).toBeGreaterThan(before.length)
    expect(await historyOf(id)).toEqual([])
  })

  it('resolved during a check of its monitor is not created again immediately', async () => {
    const id = await fileOne()
    clock.advance(hourMs)
    await line.give(line.nextHour() - 1, line.nextHour(), 4)
    const [locked, looked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const locking = db.transaction().execute(async (trx) => {
      await sql`LOCK TABLE monitor_results IN ACCESS EXCLUSIVE MODE`.execute(trx)
      locked.resolve()
      await looked.promise
    })
    await locked.promise
    const step = { now: clock.now(), jobId: newId() }
    const looking = db.transaction().execute((trx) => detectInMonitor(server.deps, trx, line.org, line.monitorId, step))
    await expect.poll(() => countWaiting(db, 'select date_bin')).toBe(1)
    let resolved = false
    const resolving = triage(id, 'resolved').then(() => {
      resolved = true
    })
    await expect.poll(async () => resolved || (await countWaiting(db, 'select "id", status')) === 1).toBe(true)
    looked.resolve()
    await Promise.all([locking, looking, resolving])
    expect(await line.findings()).toHaveLength(1)
    expect(await get(id)).toMatchObject({ status: 'resolved' })
  })

  it('resolved stays resolved if the rate is back', async () => {
    const id = await fileOne()
    await triage(id, 'resolved')
    // The last hours before the finding was resolved are counted afterwards.
    await line.live(3, 4)
    await line.pass(24, 2)
    expect(await line.findings()).toHaveLength(1)
    expect(await get(id)).toMatchObject({ status: 'resolved' })
  })

  it('ignored makes the rate the new baseline, and suppresses further increases for thirty days', async () => {
    const id = await fileOne()
    await triage(id, 'ignored')
    const ignored = await get(id)
    await line.pass(days(14), 4)
    await line.pass(days(2), 6)
    expect(await line.stateOf(line.monitorId)).toMatchObject({ findingId: null, detector: { spike: {} } })
    expect(await get(id)).toEqual(ignored)
    await line.pass(days(13) + 23, 6)
    expect(await get(id)).toEqual(ignored)
    await line.pass(2, 6)
    expect(await line.findings()).toHaveLength(1)
    expect(await get(id)).toMatchObject({ status: 'open' })
    expect(await historyOf(id)).toMatchObject([
      { kind: 'recurrence', fromStatus: 'ignored', reason: expect.stringContaining('100%, up from 67%') },
      { kind: 'triage', toStatus: 'ignored' },
    ])
  })

  it('acknowledged gets more conversations', async () => {
    const id = await fileOne()
    await triage(id, 'acknowledged')
    const before = await line.attachedTo(id)
    await line.live(2, 4)
    expect(await line.findings()).toHaveLength(1)
    expect(await line.attachedTo(id)).toHaveLength(before.length + 8)
  })

  it('merged continues as its target, and ends when that is closed', async () => {
    const id = await fileOne()
    const other = (await call('POST', '/v1/findings', { key: line.key, body: { title: 'Refunds' } })).body.id
    await call('POST', `/v1/findings/${id}/merge`, { key: line.key, body: { intoId: other } })
    const before = await line.attachedTo(other)
    await line.live(2, 4)
    expect(await line.attachedTo(other)).toHaveLength(before.length + 8)
    expect(await line.stateOf(line.monitorId)).toMatchObject({ findingId: other })
    await triage(other, 'resolved')
    await line.pass(24, 2)
    expect(await line.stateOf(line.monitorId)).toMatchObject({ findingId: null })
    expect((await line.findings()).map(({ status }) => status)).toEqual(['resolved', 'resolved'])
  })
})
