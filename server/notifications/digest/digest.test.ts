import { sql } from 'kysely'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import {
  makeConversations,
  makeDispute,
  makeExperiment,
  makeFinding,
  makeMonitor,
  makeOrganization,
  makePerson,
} from '../../../test/make.ts'
import { testServer } from '../../../test/server.ts'
import { openMailServer } from '../../../test/support/mail-server.ts'
import type { OrgId } from '../../platform/db/database.ts'
import { dayMs, hourMs } from '../../platform/durations.ts'
import { newId, orgIdOf } from '../../platform/ids.ts'
import { readSmtpUrl } from '../../platform/mail/smtp-url.ts'
import { trust } from '../../platform/sweeps.ts'
import { sendDigests } from './jobs.ts'
import { writeDigest } from './write.ts'

const server = await testServer({ EARSHOT_TRUST_PROXY: '1' })
const { call, clock, deps } = server
const { db } = deps

type Person = Awaited<ReturnType<typeof makePerson>>
type Mail = { subject: string; text: string; html: string }

let org: OrgId
let key: string
let ada: Person
let name: string
beforeEach(async () => {
  const made = await makeOrganization(server)
  org = orgIdOf(made.id)
  key = made.key
  name = made.organization.name
  ada = await makePerson(server, key)
})

const off = { console: true, email: 'off' }
const kinds = { incident: off, assignment: off, mention: off, export: off, review_request: off, invitation: off }

const prefer = async (person: Person, digest: object, changed: object = {}) => {
  const body = {
    kinds: { ...kinds, ...changed },
    incidents: 'owned',
    digest: { summary: 'off', time: '08:00', weekday: 'monday', timezone: 'UTC', ...digest },
  }
  const answer = await call('PUT', '/v1/notification-preferences', { headers: person.headers, body })
  expect(answer.status).toBe(200)
}

/** Returns dependencies with this time. The clock used by sessions does not move. */
const depsAt = (at: Date) => ({ ...deps, clock: { now: () => at }, sweeps: trust({ now: () => at }) })
const sweep = async (now?: Date) => {
  await deps.jobs.enqueue(db, sendDigests, {})
  await deps.jobs.drain([sendDigests], depsAt(now ?? clock.now()))
}
const mailsTo = async ({ email }: Person): Promise<Mail[]> => {
  const { rows } = await sql<Mail>`
    SELECT subject, text, html FROM mails
    WHERE organization_id = ${org} AND recipient = ${email} AND subject LIKE '%digest%' ORDER BY id`.execute(db)
  return rows
}
const later = (ms: number) => new Date(clock.now().getTime() + ms)
const file = (title: string) => call('POST', '/v1/findings', { key, body: { title, assigneeUserId: ada.userId } })

it('sends waiting notifications once, at the next time of the day', async () => {
  await prefer(ada, {}, { assignment: { console: true, email: 'daily' } })
  await file('Refunds & <b>credit</b>')
  await sweep()
  expect(await mailsTo(ada)).toEqual([])
  await sweep(later(dayMs))
  await sweep(later(dayMs))
  const [mail, ...more] = await mailsTo(ada)
  expect(more).toEqual([])
  expect(mail?.subject).toBe(`Daily digest: ${name}`)
  expect(mail?.text).toContain('Your notifications\n- Olga Owner assigned “Refunds & <b>credit</b>” to you.')
  expect(mail?.html).toContain('“Refunds &amp; &lt;b&gt;credit&lt;/b&gt;”')
  expect(mail?.html).not.toContain('<b>')
  await sweep(later(2 * dayMs))
  expect(await mailsTo(ada)).toHaveLength(1)
})

it('sends nothing if there is nothing to say', async () => {
  await prefer(ada, { summary: 'daily' })
  for (const days of [1, 2, 3]) await sweep(later(days * dayMs))
  expect(await mailsTo(ada)).toEqual([])
})

it('is sent at the local time of the person, and on their weekday', async () => {
  await prefer(ada, { summary: 'weekly', time: '07:30', weekday: 'friday', timezone: 'Asia/Kathmandu' })
  const { rows } = await sql<{ at: Date; local: string }>`
    SELECT weekly_next_at AS at, to_char(weekly_next_at AT TIME ZONE 'Asia/Kathmandu', 'FMDay HH24:MI') AS local
    FROM notification_preferences WHERE organization_id = ${org} AND user_id = ${ada.userId}`.execute(db)
  expect(rows[0]?.local).toBe('Friday 07:30')
  const at = rows[0]?.at ?? new Date()
  await file('Refunds are promised')
  await sweep(new Date(at.getTime() - 1_000))
  expect(await mailsTo(ada)).toEqual([])
  await sweep(at)
  expect((await mailsTo(ada)).map(({ subject }) => subject)).toEqual([`Weekly digest: ${name}`])
})

it('after an outage, one digest covers the whole time', async () => {
  await prefer(ada, { summary: 'daily' })
  await file('Refunds are promised')
  await sweep(later(9 * dayMs))
  await sweep(later(9 * dayMs))
  expect(await mailsTo(ada)).toHaveLength(1)
})

it('is sent once by sweeps at the same time, and to every person who wants it', async () => {
  const bob = await makePerson(server, key)
  for (const person of [ada, bob]) await prefer(person, { summary: 'daily' })
  await file('Refunds are promised')
  const shifted = depsAt(later(dayMs))
  const [first, second] = [deps.jobs, deps.jobs]
  for (let index = 0; index < 6; index++) await deps.jobs.enqueue(db, sendDigests, { organizationId: org })
  await Promise.all([first.drain([sendDigests], shifted), second.drain([sendDigests], shifted)])
  expect([(await mailsTo(ada)).length, (await mailsTo(bob)).length]).toEqual([1, 1])
})

it('waits while the clocks are in doubt, whatever the process believes', async () => {
  await prefer(ada, { summary: 'daily' })
  await file('Refunds are promised')
  const inDoubt = { ...depsAt(later(dayMs)), sweeps: { time: async () => undefined, warning: () => 'in doubt' } }
  await deps.jobs.enqueue(db, sendDigests, { organizationId: org })
  await deps.jobs.drain([sendDigests], inDoubt)
  expect(await mailsTo(ada)).toEqual([])
  await sweep(later(dayMs))
  expect(await mailsTo(ada)).toHaveLength(1)
})

it('names an experiment that finished, however many newer ones run', async () => {
  await prefer(ada, { summary: 'daily' })
  const { id } = await makeExperiment(server, key, { name: 'The oldest' })
  for (let index = 0; index < 5; index++) await makeExperiment(server, key)
  expect((await call('POST', `/v1/experiments/${id}/finish`, { key })).status).toBe(200)
  await sweep(later(dayMs))
  expect((await mailsTo(ada))[0]?.text).toContain('The oldest (finished).')
})

it('is not sent to people who left, nor in a suspended organization', async () => {
  await prefer(ada, { summary: 'daily' })
  const bob = await makePerson(server, key)
  await prefer(bob, { summary: 'daily' })
  await file('Refunds are promised')
  await call('DELETE', `/v1/members/${bob.id}`, { key })
  await db.updateTable('organizations').set({ suspended_at: clock.now() }).where('id', '=', org).execute()
  await sweep(later(dayMs))
  await db.updateTable('organizations').set({ suspended_at: null }).where('id', '=', org).execute()
  expect([await mailsTo(ada), await mailsTo(bob)]).toEqual([[], []])
  await sweep(later(dayMs))
  expect([(await mailsTo(ada)).length, (await mailsTo(bob)).length]).toEqual([1, 0])
})

it('a changed preference keeps the period, and takes kinds out of the digest', async () => {
  await prefer(ada, {}, { assignment: { console: true, email: 'daily' } })
  await file('Refunds are promised')
  await prefer(ada, {}, { mention: { console: true, email: 'daily' } })
  await sweep(later(dayMs))
  expect(await mailsTo(ada)).toEqual([])
})

it('summarizes monitors with intervals, findings, incidents, reviews, and experiments', async () => {
  const monitor = await makeMonitor(server, key, { name: 'Refund promised' })
  const steady = await makeMonitor(server, key, { name: 'Steady' })
  // These are the day that has just ended, and the day before it.
  const until = new Date(Math.floor(clock.now().getTime() / 60_000) * 60_000)
  const before = (ms: number) => new Date(until.getTime() - ms)
  const times = Array.from({ length: 400 }, (_, index) =>
    before((index < 200 ? 2 : 1) * dayMs - ((index % 200) + 1) * 60_000),
  )
  const conversationIds = await makeConversations(
    server,
    key,
    times.map((startedAt) => ({ startedAt: startedAt.toISOString() })),
  )
  const results = conversationIds.flatMap((conversationId, index) => [
    { monitorId: monitor.id, conversationId, result: index % 10 < (index < 200 ? 1 : 5) ? 'affected' : 'not_affected' },
    { monitorId: steady.id, conversationId, result: index % 10 < 2 ? 'affected' : 'not_affected' },
  ])
  const stored = await call('POST', '/v1/monitor-results', { key, body: { results } })
  expect(stored.status).toBe(200)
  await prefer(ada, { summary: 'daily', time: until.toISOString().slice(11, 16) })
  await db
    .updateTable('notification_preferences')
    .set({ daily_since: before(dayMs), daily_next_at: until })
    .where('organization_id', '=', org)
    .where('user_id', '=', ada.userId)
    .execute()
  await makeFinding(server, key)
  await db
    .updateTable('findings')
    .set({ created_at: before(hourMs) })
    .where('organization_id', '=', org)
    .execute()
  const incident = {
    organization_id: org,
    id: newId(),
    alert_rule_id: newId(),
    rule_name: 'Too many refunds',
    severity: 'warning',
    status: 'firing',
    group_key: '',
    reading: JSON.stringify({ value: 0.5, interval: null, sample: 200, text: '50.0% of conversations were affected.' }),
    conversation_ids: [],
    opened_at: before(hourMs),
    notified_at: before(hourMs),
  }
  await db.insertInto('alert_incidents').values(incident).execute()
  await sweep()
  const [mail] = await mailsTo(ada)
  expect(mail?.text).toContain(
    'Refund promised: higher. 50.0% affected (43.1–56.9%, n = 200), before 10.0% (+40.0 points, +31.5 to +47.7).',
  )
  expect(mail?.text).not.toContain('Steady')
  expect(mail?.text).toContain('New findings\n- Refunds rise (1 conversation, medium priority)')
  expect(mail?.text).toContain('Too many refunds: still open. 50.0% of conversations were affected.')
  // A digest contains no individual conversations.
  for (const id of conversationIds) expect(mail?.text).not.toContain(id)
})

it('says how reviews of buckets progress, and what experiments show so far', async () => {
  const { id: bucketId } = await makeDispute(server, key, { name: 'Refund calls' })
  const { id: experimentId } = await makeExperiment(server, key, { name: 'Brevity' })
  const { id: silentId } = await makeExperiment(server, key, { name: 'Without news' })
  const until = new Date(Math.floor(clock.now().getTime() / 60_000) * 60_000)
  const before = (ms: number) => new Date(until.getTime() - ms)
  const at = before(hourMs).getTime()
  const point = [at, 120, 130, 0.2, 0.3, 0.1, 0.02, 0.18]
  await db
    .updateTable('reviews')
    .set({ completed_at: before(hourMs) })
    .where('organization_id', '=', org)
    .execute()
  for (const [id, timeline] of [
    [experimentId, [point]],
    [silentId, [[at - 3 * dayMs, ...point.slice(1)]]],
  ] as const) {
    await db
      .updateTable('experiment_outcomes')
      .set({ timeline: JSON.stringify(timeline) })
      .where('organization_id', '=', org)
      .where('experiment_id', '=', id)
      .execute()
    await db
      .updateTable('experiments')
      .set({ started_at: before(4 * dayMs) })
      .where('organization_id', '=', org)
      .where('id', '=', id)
      .execute()
  }
  await prefer(ada, { summary: 'daily', time: until.toISOString().slice(11, 16) })
  await db
    .updateTable('notification_preferences')
    .set({ daily_since: before(dayMs), daily_next_at: until })
    .where('organization_id', '=', org)
    .where('user_id', '=', ada.userId)
    .execute()
  await sweep()
  const [mail] = await mailsTo(ada)
  expect(mail?.text).toContain('Reviews\n- Refund calls: 2 reviews completed, 0 conversations waiting')
  expect(mail?.text).toContain(`/buckets/${bucketId}`)
  expect(mail?.text).toMatch(
    /Experiments\n- Brevity\. [^\n]+: B − A is \+10\.0 points \(\+2\.0 to \+18\.0, n = 250\)\./,
  )
  expect(mail?.text).toContain(`/experiments/${experimentId}`)
  expect(mail?.text).not.toContain('Without news')
})

it('is sent without its summary if that takes too long', async () => {
  await prefer(ada, { summary: 'daily' }, { assignment: { console: true, email: 'daily' } })
  await file('Refunds are promised')
  const logged = server.logged.length
  const slow = {
    ...depsAt(later(dayMs)),
    replica: {
      ...deps.replica,
      read: <T>(): Promise<T> =>
        db.transaction().execute(async (trx) => {
          await sql`SET LOCAL statement_timeout = 20`.execute(trx)
          return sql`SELECT pg_sleep(60)`.execute(trx) as Promise<T>
        }),
    },
  }
  await deps.jobs.enqueue(db, sendDigests, { organizationId: org })
  await deps.jobs.drain([sendDigests], slow)
  const [mail, ...more] = await mailsTo(ada)
  expect(more).toEqual([])
  expect(mail?.text).toContain('Olga Owner assigned “Refunds are promised” to you.')
  expect(mail?.text).toContain('The summary of this period took too long to compute.')
  expect(server.logged.slice(logged).join('')).toContain('the summary of a digest took too long')
})

it('arrives as plain and formatted text', async () => {
  const { port, received } = await openMailServer()
  deps.config.smtp = readSmtpUrl(`smtp://127.0.0.1:${port}`)
  onTestFinished(() => {
    deps.config.smtp = undefined
  })
  await prefer(ada, { summary: 'daily' })
  await file('Grüße & „Zitate“')
  await sweep(later(dayMs))
  await server.drain()
  const mail = received.find(({ recipients }) => recipients.includes(ada.email))
  expect(mail?.headers['content-type']).toMatch(/^multipart\/alternative/)
  expect(mail?.text).toContain('Grüße & „Zitate“')
  expect(mail?.text).toContain('Grüße &amp; „Zitate“')
})

it('encodes people’s words, and keeps them on one line', () => {
  const title = `"><script>alert('x')</script>\r\n${'x'.repeat(400)}`
  const { subject, text, html } = writeDigest({
    cadence: 'daily',
    organization: 'Acme\r\nBcc: <all@example.com>',
    period: { since: new Date('2026-03-28T08:00:00Z'), until: new Date('2026-03-29T07:00:00Z') },
    timezone: 'Europe/Berlin',
    sections: [{ title: 'New findings', lines: [{ text: title, path: '/findings/1' }] }],
    baseUrl: 'https://ears.example.com',
  })
  expect(subject).toBe('Daily digest: Acme Bcc: <all@example.com>')
  expect(text).toContain('28 Mar 2026, 09:00 to 29 Mar 2026, 09:00 (Europe/Berlin)')
  expect(html).not.toContain('<script')
  expect(html).toContain('&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; xx')
  expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThan(310)
})
