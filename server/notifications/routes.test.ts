import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  makeAlertIncident,
  makeAlertRule,
  makeBucket,
  makeComment,
  makeConversation,
  makeExport,
  makeExportConfig,
  makeFinding,
  makeMember,
  makeMonitor,
  makeOrganization,
  makePerson,
} from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { checkAlertRules } from '../alert-rules/jobs.ts'
import { generateExport } from '../exports/lifecycle.ts'
import type { OrgId } from '../platform/db/database.ts'
import { dayMs, hourMs } from '../platform/durations.ts'
import { orgIdOf } from '../platform/ids.ts'
import { sweepNotifications } from './jobs.ts'

const server = await testServer({ EARSHOT_TRUST_PROXY: '1' })
const { call, clock, deps } = server
const { db } = deps
const base = deps.baseUrl()

type Person = Awaited<ReturnType<typeof makePerson>>
type ListedNotification = { id: string; kind: string; event: string; text: string; url: string; readAt: string | null }

let org: OrgId
let key: string
let ada: Person
beforeEach(async () => {
  const made = await makeOrganization(server)
  org = orgIdOf(made.id)
  key = made.key
  ada = await makePerson(server, key)
  await db.updateTable('alert_rules').set({ enabled: false }).execute()
  await call('POST', '/v1/notifications/read', { key, body: { all: true } })
})

const inbox = async ({ headers }: Pick<Person, 'headers'>, query = '') =>
  (await call('GET', `/v1/notifications${query}`, { headers })).body as {
    data: ListedNotification[]
    nextCursor: string | null
    unreadCount: number
  }
const textsOf = async (person: Person) => (await inbox(person)).data.map(({ text }) => text)
/** Returns the texts of the owner's notifications. */
const ownTexts = async () =>
  ((await call('GET', '/v1/notifications?unread=true', { key })).body.data as ListedNotification[]).map(
    ({ text }) => text,
  )

const mentioning = (...ids: string[]) => ({
  type: 'doc',
  content: [
    {
      type: 'paragraph',
      content: [
        { type: 'text', text: 'Look: ' },
        ...ids.map((id) => ({ type: 'mention', attrs: { id, label: 'Ada' } })),
      ],
    },
  ],
})
const mailsTo = async (email: string) => {
  const mails = await db.selectFrom('mails').select(['subject', 'text']).where('recipient', '=', email).execute()
  return mails.filter(({ subject }) => !subject.includes('invitation'))
}
const preferencesOf = async ({ headers }: Person) =>
  (await call('GET', '/v1/notification-preferences', { headers })).body
const prefer = async ({ headers }: Person, change: object) => {
  const before = await preferencesOf({ headers } as Person)
  const body = { ...before, ...change, kinds: { ...before.kinds, ...(change as { kinds?: object }).kinds } }
  const answer = await call('PUT', '/v1/notification-preferences', { headers, body })
  expect(answer).toMatchObject({ status: 200, body })
  return answer.body
}
const checkRules = async () => {
  await db
    .updateTable('alert_rules')
    .set({ next_check_at: new Date(0) })
    .execute()
  await deps.jobs.enqueue(db, checkAlertRules, {})
  await deps.jobs.drain([checkAlertRules], deps)
}

describe('people are notified', () => {
  it('of findings that others assign to them', async () => {
    const body = { title: 'Refunds are promised', assigneeUserId: ada.userId }
    const { id } = (await call('POST', '/v1/findings', { key, body })).body
    expect((await inbox(ada)).data).toEqual([
      {
        id: expect.any(String),
        kind: 'assignment',
        event: 'assigned',
        subject: { type: 'finding', id, name: 'Refunds are promised' },
        text: 'Olga Owner assigned “Refunds are promised” to you.',
        url: `${base}/findings/${id}`,
        actorUserId: expect.any(String),
        createdAt: clock.now().toISOString(),
        readAt: null,
      },
    ])
    await call('PATCH', `/v1/findings/${id}`, { key, body })
    await call('POST', '/v1/findings', { headers: ada.headers, body })
    expect((await inbox(ada)).data).toHaveLength(1)
    await call('PATCH', `/v1/findings/${id}`, { key, body: { assigneeUserId: null } })
    clock.advance(1_000)
    await call('PATCH', `/v1/findings/${id}`, { key, body: { assigneeUserId: ada.userId, title: 'Renamed' } })
    expect(await textsOf(ada)).toEqual(Array(2).fill('Olga Owner assigned “Renamed” to you.'))
  })

  it('of comments that mention them, once, and nobody else is', async () => {
    const { id } = await makeFinding(server, key)
    const stranger = await makePerson(server, (await makeOrganization(server)).key)
    const { member } = (await call('GET', '/v1/me', { key })).body
    const body = { body: mentioning(ada.userId.toUpperCase(), ada.userId, stranger.userId, member.userId, 'nobody') }
    const comment = await call('POST', `/v1/findings/${id}/comments`, { key, body })
    expect(comment.status).toBe(201)
    await call('PATCH', `/v1/findings/${id}/comments/${comment.body.id}`, { key, body })
    expect(await textsOf(ada)).toEqual(['Olga Owner mentioned you in a comment on “Refunds rise”.'])
    expect(await ownTexts()).toEqual([])
    expect((await inbox(stranger)).data).toEqual([])
    const bob = await makePerson(server, key)
    const edited = { body: mentioning(ada.userId, bob.userId) }
    await call('PATCH', `/v1/findings/${id}/comments/${comment.body.id}`, { key, body: edited })
    expect([(await inbox(ada)).data.length, (await inbox(bob)).data.length]).toEqual([1, 1])
  })

  it('whatever the name and the title are, also by email', async () => {
    const { id } = await makeFinding(server, key, `Refunds ${'rise '.repeat(40)}`)
    const { member } = (await call('GET', '/v1/me', { key })).body
    const name = `Olga\nBcc: ${'Owner '.repeat(40)}`
    expect((await call('PATCH', `/v1/members/${member.id}`, { key, body: { name } })).status).toBe(200)
    const body = { body: mentioning(ada.userId) }
    expect((await call('POST', `/v1/findings/${id}/comments`, { key, body })).status).toBe(201)
    const [mail] = await mailsTo(ada.email)
    expect(mail?.subject).toMatch(/^Olga Bcc: Owner [^\n]{20,}… mentioned you in a comment on “Refunds [^\n]+…”$/)
  })

  it('of comments on incidents that mention them', async () => {
    const id = await makeAlertIncident(server, key)
    const body = { body: mentioning(ada.userId) }
    expect((await call('POST', `/v1/alert-incidents/${id}/comments`, { key, body })).status).toBe(201)
    const [notification] = (await inbox(ada)).data
    expect(notification?.text).toMatch(/^Olga Owner mentioned you in a comment on “Rule /)
    expect(notification?.url).toBe(`${base}/alerts/incidents/${id}`)
  })

  it('of incidents that they own, or of all, when they open and resolve', async () => {
    const bob = await makePerson(server, key)
    await prefer(bob, { incidents: 'all' })
    const mine = await makeAlertRule(server, key, { name: 'Mine', ownerUserId: ada.userId })
    const other = await makeAlertRule(server, key, { name: 'Other' })
    const startedAt = new Date(clock.now().getTime() - 60_000).toISOString()
    await makeConversation(server, key, { startedAt })
    await checkRules()
    await checkRules()
    expect(await textsOf(ada)).toEqual(['Alert: “Mine” is firing.'])
    expect((await textsOf(bob)).sort()).toEqual(['Alert: “Mine” is firing.', 'Alert: “Other” is firing.'])
    await call('PATCH', `/v1/alert-rules/${mine.id}`, { key, body: { enabled: false } })
    expect(await textsOf(ada)).toEqual(['Alert: “Mine” is resolved.', 'Alert: “Mine” is firing.'])
    expect(await textsOf(bob)).toHaveLength(3)
    await call('DELETE', `/v1/alert-rules/${other.id}`, { key })
    expect((await textsOf(bob))[0]).toBe('Alert: “Other” is resolved.')
  })

  it('of nothing while the rule is muted', async () => {
    const rule = await makeAlertRule(server, key, { name: 'Quiet', ownerUserId: ada.userId })
    const until = new Date(clock.now().getTime() + hourMs)
    await call('POST', `/v1/alert-rules/${rule.id}/mute`, { key, body: { until: until.toISOString() } })
    await makeConversation(server, key, { startedAt: new Date(clock.now().getTime() - 60_000).toISOString() })
    await checkRules()
    expect(await textsOf(ada)).toEqual([])
    await call('POST', `/v1/alert-rules/${rule.id}/mute`, { key, body: { until: null } })
    await checkRules()
    expect(await textsOf(ada)).toEqual(['Alert: “Quiet” is firing.'])
  })

  it('of their exports that are ready, but not of those that they cancel', async () => {
    const { id } = await makeExport(server, key)
    await deps.jobs.drain([generateExport], deps)
    expect(await ownTexts()).toEqual(['Your export “CSV export” is ready.'])
    expect(await textsOf(ada)).toEqual([])
    const [notification] = (await call('GET', '/v1/notifications?kinds=export', { key })).body.data
    expect(notification).toMatchObject({ subject: { type: 'monitorExport', id }, url: `${base}/exports` })
    const second = await makeExport(server, key)
    await call('DELETE', `/v1/monitor-exports/${second.id}`, { key })
    expect(await ownTexts()).toHaveLength(1)
  })

  it('of their exports that fail', async () => {
    const body = { operationId: randomUUID(), config: await makeExportConfig(server, key) }
    const { id } = (await call('POST', '/v1/monitor-exports', { key, body })).body
    await call('DELETE', `/v1/monitors/${body.config.monitors[0]?.id}`, { key })
    await deps.jobs.drain([generateExport], deps)
    const [notification, ...more] = (await call('GET', '/v1/notifications?kinds=export', { key })).body.data
    expect(more).toEqual([])
    expect(notification).toMatchObject({
      event: 'failed',
      text: 'Your export “CSV export” failed. The export could not be generated.',
      subject: { type: 'monitorExport', id },
    })
  })

  it('when they become reviewers of a bucket', async () => {
    const { id } = await makeBucket(server, key, { name: 'Refunds', reviewerUserIds: [ada.userId] })
    expect(await textsOf(ada)).toEqual(['Olga Owner asked you to review “Refunds”.'])
    const bob = await makePerson(server, key)
    const body = { reviewerUserIds: [ada.userId, bob.userId] }
    await call('PATCH', `/v1/buckets/${id}`, { key, body })
    expect([(await inbox(ada)).data.length, (await inbox(bob)).data.length]).toEqual([1, 1])
    await call('DELETE', `/v1/buckets/${id}`, { key })
    expect(await textsOf(ada)).toEqual(['Olga Owner asked you to review a deleted bucket.'])
  })

  it('when a person whom they invited joins', async () => {
    await makePerson(server, key)
    expect(await ownTexts()).toEqual(['Pia Person joined your organization.'])
  })

  it('when a person from another organization accepts their invitation', async () => {
    const elsewhere = await makePerson(server, (await makeOrganization(server)).key)
    const body = { email: elsewhere.email, name: 'Nia Neighbor', role: 'member' }
    expect((await call('POST', '/v1/members', { key, body })).status).toBe(201)
    expect(await ownTexts()).toEqual([])
    await db.updateTable('users').set({ email_verified: true }).where('id', '=', elsewhere.userId).execute()
    const accept = { headers: elsewhere.headers, body: { organizationId: org } }
    expect((await call('POST', '/auth/invitations/accept', accept)).status).toBeLessThan(300)
    expect(await ownTexts()).toEqual(['Nia Neighbor joined your organization.'])
  })

  it('of nothing that blind reviewers may not know: no notification names a conversation or its result', async () => {
    const monitor = await makeMonitor(server, key)
    const { id, conversationId } = await makeBucket(server, key, { blind: true, reviewerUserIds: [ada.userId] })
    expect((await call('POST', `/v1/buckets/${id}/claim`, { headers: ada.headers })).status).toBe(200)
    const results = [{ monitorId: monitor.id, conversationId, result: 'affected', reasoning: 'The agent shouted.' }]
    expect((await call('POST', '/v1/monitor-results', { key, body: { results } })).status).toBe(200)
    const finding = await call('POST', '/v1/findings', { key, body: { title: 'Loud', assigneeUserId: ada.userId } })
    const attach = { key, body: { conversationId } }
    expect((await call('POST', `/v1/findings/${finding.body.id}/conversations`, attach)).status).toBeLessThan(300)
    await prefer(ada, { incidents: 'all' })
    const incidentId = await makeAlertIncident(server, key)
    await db
      .updateTable('alert_incidents')
      .set({ conversation_ids: [conversationId] })
      .where('organization_id', '=', org)
      .where('id', '=', incidentId)
      .execute()
    const answer = await inbox(ada)
    const mails = await mailsTo(ada.email)
    expect(answer.data.map(({ kind }) => kind).sort()).toEqual(['assignment', 'incident', 'review_request'])
    for (const text of [JSON.stringify(answer), JSON.stringify(mails)]) {
      expect(text).not.toContain(conversationId)
      expect(text).not.toContain('affected')
      expect(text).not.toContain('shouted')
    }
  })
})

describe('an inbox', () => {
  const fill = async (count: number) => {
    const { id } = await makeFinding(server, key)
    for (let index = 0; index < count; index++) {
      await call('POST', `/v1/findings/${id}/comments`, { key, body: { body: mentioning(ada.userId) } })
    }
    await call('PATCH', `/v1/findings/${id}`, { key, body: { assigneeUserId: ada.userId } })
  }

  it('is paged and filtered, newest first', async () => {
    await fill(3)
    const all = await inbox(ada)
    expect(all).toMatchObject({ nextCursor: null, unreadCount: 4 })
    expect(all.data.map(({ kind }) => kind)).toEqual(['assignment', 'mention', 'mention', 'mention'])
    const first = await inbox(ada, '?limit=3')
    const rest = await inbox(ada, `?limit=3&cursor=${first.nextCursor}`)
    expect([...first.data, ...rest.data]).toEqual(all.data)
    expect((await inbox(ada, '?kinds=mention')).data).toEqual(all.data.slice(1))
    expect((await inbox(ada, '?kinds=export,assignment')).data).toEqual(all.data.slice(0, 1))
    const other = await call('GET', `/v1/notifications?unread=true&cursor=${first.nextCursor}`, ada)
    expect(other).toMatchObject({ status: 400, body: { details: { issues: [{ path: 'cursor' }] } } })
    const unknown = await call('GET', '/v1/notifications?kinds=news', ada)
    expect(unknown).toMatchObject({ status: 400, body: { details: { issues: [{ path: 'kinds' }] } } })
  })

  it('is marked as read, in part or as a whole', async () => {
    await fill(2)
    const [newest] = (await inbox(ada)).data
    const read = (body: object, person = ada) =>
      call('POST', '/v1/notifications/read', { headers: person.headers, body })
    expect(await read({ ids: [newest?.id, randomUUID()] })).toMatchObject({ status: 200, body: { unreadCount: 2 } })
    expect((await inbox(ada)).data[0]?.readAt).toBe(clock.now().toISOString())
    expect((await inbox(ada, '?unread=true')).data).toHaveLength(2)
    const ids = (await inbox(ada)).data.map(({ id }) => id)
    const bob = await makePerson(server, key)
    await read({ ids }, bob)
    expect((await inbox(ada)).unreadCount).toBe(2)
    expect(await read({ all: true })).toMatchObject({ body: { unreadCount: 0 } })
    for (const body of [{}, { all: false }, { all: true, ids }, { ids: [] }, { ids: Array(201).fill(randomUUID()) }]) {
      expect((await read(body)).status).toBe(400)
    }
  })

  it('is deleted after 90 days, and with the membership', async () => {
    await fill(1)
    const sweep = async (ageMs: number) => {
      const createdAt = new Date(clock.now().getTime() - ageMs)
      await db.updateTable('notifications').set({ created_at: createdAt }).execute()
      await deps.jobs.enqueue(db, sweepNotifications, {})
      await deps.jobs.drain([sweepNotifications], deps)
    }
    await sweep(89 * dayMs)
    expect(await countStored()).toBe(2)
    await sweep(90 * dayMs + 1)
    expect(await countStored()).toBe(0)
    await makeBucket(server, key, { reviewerUserIds: [ada.userId] })
    expect(await countStored()).toBe(1)
    expect((await call('DELETE', `/v1/members/${ada.id}`, { key })).status).toBe(204)
    expect(await countStored()).toBe(0)
  })

  const countStored = async () =>
    (
      await db
        .selectFrom('notifications')
        .select('id')
        .where('organization_id', '=', org)
        .where('user_id', '=', ada.userId)
        .execute()
    ).length
})

describe('preferences', () => {
  const off = { console: false, email: 'off' }

  it('start with emails for what waits for the person', async () => {
    expect(await preferencesOf(ada)).toEqual({
      kinds: {
        incident: { console: true, email: 'immediate' },
        assignment: { console: true, email: 'immediate' },
        mention: { console: true, email: 'immediate' },
        export: { console: true, email: 'off' },
        review_request: { console: true, email: 'immediate' },
        invitation: { console: true, email: 'off' },
      },
      incidents: 'owned',
      digest: { summary: 'off', time: '08:00', weekday: 'monday', timezone: 'UTC' },
    })
  })

  it('are stored with the time zone in its own spelling, and change nothing for others', async () => {
    const digest = { summary: 'weekly', time: '06:30', weekday: 'friday', timezone: 'europe/berlin' }
    const before = await preferencesOf(ada)
    const body = { ...before, digest, incidents: 'all' }
    const stored = await call('PUT', '/v1/notification-preferences', { headers: ada.headers, body })
    expect(stored.body).toEqual({ ...body, digest: { ...digest, timezone: 'Europe/Berlin' } })
    expect(await preferencesOf(ada)).toEqual(stored.body)
    expect((await call('GET', '/v1/notification-preferences', { key })).body).toEqual(before)
  })

  it.each<[object, string]>([
    [{ timezone: 'Mars/Olympus' }, 'digest.timezone'],
    [{ time: '24:00' }, 'digest.time'],
    [{ time: '8:00' }, 'digest.time'],
    [{ weekday: 'someday' }, 'digest.weekday'],
    [{ summary: 'hourly' }, 'digest.summary'],
  ])('with %j are rejected', async (change, path) => {
    const { digest, ...others } = await preferencesOf(ada)
    const body = { ...others, digest: { ...digest, ...change } }
    const answer = await call('PUT', '/v1/notification-preferences', { headers: ada.headers, body })
    expect(answer).toMatchObject({ status: 400, body: { details: { issues: [{ path }] } } })
  })

  it('decide whether the inbox shows a kind, and whether it is sent by email', async () => {
    const { id } = await makeFinding(server, key)
    const mention = () => call('POST', `/v1/findings/${id}/comments`, { key, body: { body: mentioning(ada.userId) } })
    await mention()
    expect(await mailsTo(ada.email)).toEqual([
      {
        subject: 'Olga Owner mentioned you in a comment on “Refunds rise”',
        text: `Olga Owner mentioned you in a comment on “Refunds rise”.

${base}/findings/${id}

Choose what you are notified of: ${base}/settings/notifications
`,
      },
    ])
    await prefer(ada, { kinds: { mention: { console: true, email: 'off' } } })
    await mention()
    expect([(await inbox(ada)).data.length, (await mailsTo(ada.email)).length]).toEqual([2, 1])
    await prefer(ada, { kinds: { mention: { console: false, email: 'immediate' } } })
    await mention()
    expect([(await inbox(ada)).data.length, (await mailsTo(ada.email)).length]).toEqual([2, 2])
    await prefer(ada, { kinds: { mention: off } })
    await mention()
    expect([(await inbox(ada)).data.length, (await mailsTo(ada.email)).length]).toEqual([2, 2])
  })

  it('limit emails at once to 60 an hour for each person', async () => {
    const { id } = await makeFinding(server, key)
    const mention = () => call('POST', `/v1/findings/${id}/comments`, { key, body: { body: mentioning(ada.userId) } })
    for (let index = 0; index < 62; index++) await mention()
    expect([(await inbox(ada)).unreadCount, (await mailsTo(ada.email)).length]).toEqual([62, 60])
    clock.advance(hourMs + 1)
    await mention()
    expect(await mailsTo(ada.email)).toHaveLength(61)
  })

  it('send no emails to people who have not joined', async () => {
    const invited = await makeMember(server, key, 'member')
    const body = { title: 'Later', assigneeUserId: invited.userId }
    expect((await call('POST', '/v1/findings', { key, body })).status).toBe(201)
    expect(await mailsTo(invited.email)).toEqual([])
  })
})

it('a title with line breaks and markup stays on one line', async () => {
  const title = `Line\nbreak <b>${'x'.repeat(300)}</b>`
  await call('POST', '/v1/findings', { key, body: { title, assigneeUserId: ada.userId } })
  const [mail] = await mailsTo(ada.email)
  expect(mail?.subject).toMatch(/^Olga Owner assigned “Line break <b>x+…” to you$/)
  expect(mail?.subject.length).toBeLessThan(200)
})

it('a comment without a mention notifies nobody', async () => {
  const { id } = await makeFinding(server, key)
  await makeComment(server, key, id)
  expect(await textsOf(ada)).toEqual([])
})
