import { decode } from 'fast-png'
import { beforeEach, describe, expect, it } from 'vitest'
import { makeActiveWebhookEndpoint, makeOrganization } from '../../../test/make.ts'
import { testServer } from '../../../test/server.ts'
import { depsWith } from '../../../test/support/deps-with.ts'
import { openFakes } from '../../../test/support/destinations/fakes.ts'
import { moveDue } from '../../../test/support/jobs/move-due.ts'
import { openMailServer } from '../../../test/support/mail-server.ts'
import { openReceiver } from '../../../test/support/webhooks/receiver.ts'
import { loadConfig } from '../../platform/config.ts'
import type { OrgId } from '../../platform/db/database.ts'
import { dayMs } from '../../platform/durations.ts'
import { newId, orgIdOf } from '../../platform/ids.ts'
import { deliverMail } from '../../platform/mail/jobs.ts'
import { deliver } from '../../webhooks/deliveries/jobs.ts'
import type { Message, MessageKind } from '../message.ts'
import { sendMessage } from '../send.ts'
import { deliverMessage } from './jobs.ts'

const server = await testServer({ EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1/32' })
const { call } = server
let fakes: Awaited<ReturnType<typeof openFakes>>
let org: OrgId
let key: string
beforeEach(async () => {
  const made = await makeOrganization(server)
  org = orgIdOf(made.id)
  key = made.key
  fakes = await openFakes(server.deps)
})

const routingKey = '0123456789abcdef0123456789abcdef'

const settingsOf = (kind: Kind) => settingsByKind()[kind]

const settingsByKind = () => ({
  slack: { url: `${fakes.origin}/services/T0000/B0000/abcdefghijklmnop` },
  teams: { url: `${fakes.origin}/workflows/abc?sig=abcdefghijklmnop` },
  pagerduty: { routingKey },
  opsgenie: { apiKey: routingKey, region: 'eu' },
})

const kinds = ['slack', 'teams', 'pagerduty', 'opsgenie'] as const
type Kind = (typeof kinds)[number]

const makeDestination = async (kind: string, settings: object): Promise<string> => {
  const { status, body, text } = await call('POST', '/v1/destinations', { key, body: { name: kind, kind, settings } })
  if (status !== 201) throw new Error(text)
  return body.id
}

const messageOf = (kind: MessageKind, change: Partial<Message> = {}): Message => ({
  kind,
  severity: 'critical',
  title: 'Asks for a person: above 20%',
  text: '31.0% of conversations (27.4–34.8%, n = 612) since 09:00.',
  facts: [{ label: 'Monitor', value: 'Asks for a person' }],
  examples: [{ label: '25 Nov, 09:12', url: 'https://ears.example.com/conversations/0197a3b0' }],
  links: [{ label: 'Open incident', url: 'https://ears.example.com/alerts/incidents/0197a3b0' }],
  ...change,
})

const send = (destinationId: string, message: Message, subjectId = newId()) =>
  fakes.deps.db
    .transaction()
    .execute((trx) => sendMessage(fakes.deps, trx, org, { destinationId, subjectId, message })) as Promise<string>

const run = (delayed = false) => fakes.deps.jobs.drain([deliverMessage], fakes.deps, { delayed })
/** Runs the jobs that are due. The result does not depend on how fast the test runs. */
const runDue = async () => {
  await run()
  await moveDue(fakes.deps.db, deliverMessage.name, dayMs, 0)
}

const deliveryOf = async (destinationId: string, id: string) =>
  (await call('GET', `/v1/destinations/${destinationId}/deliveries/${id}`, { key })).body

describe.each(kinds)('a message to %s', (kind) => {
  it.each(['opened', 'repeated', 'acknowledged', 'resolved', 'test'] as const)('is accepted when %s', async (state) => {
    const id = await makeDestination(kind, settingsOf(kind))
    const deliveryId = await send(id, messageOf(state))
    await run()
    expect(await deliveryOf(id, deliveryId)).toMatchObject({ status: 'succeeded', reason: null, attemptCount: 1 })
    expect(fakes.sent).toHaveLength(1)
    expect((await call('GET', `/v1/destinations/${id}`, { key })).body.failingSince).toBeNull()
  })

  it('is accepted whatever it contains', async () => {
    const odd = '<!channel> & *bold* _x_ [a](http://b) `c` | 😀'.repeat(2_000)
    const id = await makeDestination(kind, settingsOf(kind))
    const change: Partial<Message> = {
      title: odd,
      text: odd,
      facts: Array.from({ length: 30 }, (_, index) => ({ label: `Fact ${index}`, value: odd.slice(0, 5_000) })),
      examples: Array.from({ length: 3 }, (_, index) => ({
        label: odd.slice(0, 100),
        url: `https://a.example/${index}`,
      })),
    }
    const deliveryId = await send(id, messageOf('opened', change))
    await run()
    expect(await deliveryOf(id, deliveryId)).toMatchObject({ status: 'succeeded' })
    if (kind === 'slack') expect(JSON.stringify(fakes.sent[0]?.body.text)).not.toContain('<!channel>')
  })

  it('is tried again after 429 and 503, and not after 400', async () => {
    const id = await makeDestination(kind, settingsOf(kind))
    fakes.refusals.push({ status: 429, headers: { 'retry-after': '120' } }, { status: 503 })
    const deliveryId = await send(id, messageOf('opened'))
    await runDue()
    const first = await deliveryOf(id, deliveryId)
    expect(first).toMatchObject({ status: 'pending', reason: 'The destination responded with 429.' })
    expect(Date.parse(first.nextAttemptAt) - server.clock.now().getTime()).toBeGreaterThanOrEqual(120_000)
    expect((await call('GET', `/v1/destinations/${id}`, { key })).body.failingSince).not.toBeNull()
    await run(true)
    expect(await deliveryOf(id, deliveryId)).toMatchObject({ status: 'succeeded', attemptCount: 3 })
    fakes.refusals.push({ status: 400 })
    const rejected = await send(id, messageOf('opened'))
    await run(true)
    expect(await deliveryOf(id, rejected)).toMatchObject({ status: 'failed', attemptCount: 1 })
  })
})

describe('a chart', () => {
  const points = Array.from({ length: 24 }, (_, at) => ({ value: at / 24, low: at / 24 - 0.1, high: at / 24 + 0.1 }))
  const chart = { points: [...points, { value: null, low: null, high: null }], threshold: 0.5, label: 'The last day' }
  type Card = { attachments: [{ content: { body: { type: string; url: string; altText: string }[] } }] }
  const imageOf = (body: object | undefined) =>
    (body as Card | undefined)?.attachments[0].content.body.find(({ type }) => type === 'Image')

  it('is part of a message to Teams, as an image in which the line rises above the threshold', async () => {
    await send(await makeDestination('teams', settingsOf('teams')), messageOf('opened', { chart }))
    await run()
    const image = imageOf(fakes.sent[0]?.body)
    expect(image?.altText).toBe('The last day')
    const { width, height, data } = decode(Buffer.from(image?.url.split(',')[1] ?? '', 'base64'))
    expect([width, height]).toEqual([480, 120])
    const isBlue = (x: number, y: number) => {
      const [red = 0, , blue = 0] = data.subarray((y * width + x) * 3)
      return blue - red > 150
    }
    const rowOf = (x: number) => Array.from({ length: height }, (_, y) => y).find((y) => isBlue(x, y))
    const [early, late] = [rowOf(60), rowOf(420)]
    expect(early).toBeGreaterThan(height / 2)
    expect(late).toBeLessThan(height / 2)
  })

  it('is left out where the message would be too long with it, and where images cannot be sent', async () => {
    const long = messageOf('opened', {
      chart,
      text: '*'.repeat(12_000),
      facts: [{ label: 'a', value: '*'.repeat(2_000) }],
    })
    const many = { ...long, facts: Array.from({ length: 10 }, () => ({ label: 'a', value: '*'.repeat(2_000) })) }
    await send(await makeDestination('teams', settingsOf('teams')), many)
    for (const kind of ['slack', 'pagerduty', 'opsgenie'] as const) {
      await send(await makeDestination(kind, settingsOf(kind)), messageOf('opened', { chart }))
    }
    await run()
    expect(fakes.sent).toHaveLength(4)
    expect(JSON.stringify(fakes.sent)).not.toContain('image/png')
  })
})

describe('messages about one subject', () => {
  it('share their key at PagerDuty and Opsgenie', async () => {
    const subjectId = newId()
    for (const kind of ['pagerduty', 'opsgenie'] as const) {
      const id = await makeDestination(kind, settingsOf(kind))
      for (const state of ['opened', 'acknowledged', 'resolved'] as const) {
        await send(id, messageOf(state), subjectId)
        await run()
      }
    }
    const name = `earshot-${subjectId}`
    expect(fakes.sent.slice(0, 3).map(({ body }) => [body.event_action, body.dedup_key])).toEqual([
      ['trigger', name],
      ['acknowledge', name],
      ['resolve', name],
    ])
    expect(fakes.sent.slice(3).map(({ path, authorization }) => [path, authorization])).toEqual([
      ['/v2/alerts', `GenieKey ${routingKey}`],
      [`/v2/alerts/${name}/acknowledge?identifierType=alias`, `GenieKey ${routingKey}`],
      [`/v2/alerts/${name}/close?identifierType=alias`, `GenieKey ${routingKey}`],
    ])
    expect(fakes.sent[3]?.body).toMatchObject({ alias: name, priority: 'P1' })
  })

  it('are not sent after a newer one: only the newest reaches a destination that was down', async () => {
    const id = await makeDestination('slack', settingsOf('slack'))
    const subjectId = newId()
    fakes.refusals.push({ status: 503 })
    const opened = await send(id, messageOf('opened'), subjectId)
    await runDue()
    const resolved = await send(id, messageOf('resolved', { title: 'It is over' }), subjectId)
    await run(true)
    expect((await deliveryOf(id, opened)).status).toBe('superseded')
    expect((await deliveryOf(id, resolved)).status).toBe('succeeded')
    expect(fakes.sent.map(({ body }) => body.text)).toEqual([expect.stringMatching(/^It is over/)])
    const { status } = await call('POST', `/v1/destinations/${id}/deliveries/${opened}/redeliver`, { key })
    expect(status).toBe(409)
  })
})

describe('a destination that is down', () => {
  it('delays no other', async () => {
    const { url } = await openReceiver((_request, response) => response.socket?.destroy())
    const down = await makeDestination('slack', { url })
    for (let count = 0; count < 8; count++) await send(down, messageOf('opened'))
    const up = await makeDestination('teams', settingsOf('teams'))
    const deliveryId = await send(up, messageOf('opened'))
    await runDue()
    expect((await deliveryOf(up, deliveryId)).status).toBe('succeeded')
    const { data } = (await call('GET', `/v1/destinations/${down}/deliveries?status=pending`, { key })).body
    expect(data).toHaveLength(8)
  })
})

describe('a disabled destination', () => {
  it('receives nothing until it is enabled and the message redelivered', async () => {
    const id = await makeDestination('slack', settingsOf('slack'))
    await call('PATCH', `/v1/destinations/${id}`, { key, body: { status: 'disabled' } })
    const deliveryId = await send(id, messageOf('opened'))
    await run()
    expect(await deliveryOf(id, deliveryId)).toMatchObject({ status: 'failed', reason: 'The destination is disabled.' })
    expect((await call('POST', `/v1/destinations/${id}/test`, { key })).status).toBe(409)
    await call('PATCH', `/v1/destinations/${id}`, { key, body: { status: 'active' } })
    const path = `/v1/destinations/${id}/deliveries/${deliveryId}/redeliver`
    expect((await call('POST', path, { key })).status).toBe(202)
    await run()
    expect(await deliveryOf(id, deliveryId)).toMatchObject({ status: 'succeeded', attemptCount: 1 })
  })
})

describe('an email destination', () => {
  it('sends one email to each address', async () => {
    const { port, received } = await openMailServer()
    const { smtp } = loadConfig({ EARSHOT_SMTP_URL: `smtp://127.0.0.1:${port}` })
    const mailing = depsWith(fakes.deps, { config: { ...fakes.deps.config, smtp } })
    const id = await makeDestination('email', { addresses: ['ada@example.com', 'bob@example.com'] })
    const deliveryId = await send(id, messageOf('opened'))
    await fakes.deps.jobs.drain([deliverMessage, deliverMail], mailing)
    expect(await deliveryOf(id, deliveryId)).toMatchObject({ status: 'succeeded', attempts: [] })
    expect(received.map(({ recipients, headers }) => [recipients, headers.subject])).toEqual([
      [['ada@example.com'], 'Asks for a person: above 20%'],
      [['bob@example.com'], 'Asks for a person: above 20%'],
    ])
    expect(received[0]?.text).toContain('https://ears.example.com/conversations/0197a3b0')
  })

  it('is formatted as well, with its chart attached, and shows names as they were written', async () => {
    const { port, received } = await openMailServer()
    const { smtp } = loadConfig({ EARSHOT_SMTP_URL: `smtp://127.0.0.1:${port}` })
    const mailing = depsWith(fakes.deps, { config: { ...fakes.deps.config, smtp } })
    const points = [0.1, 0.2, 0.4].map((value) => ({ value, low: value / 2, high: value * 2 }))
    const chart = { points, threshold: 0.3, label: 'The last <b>day</b>' }
    await send(
      await makeDestination('email', { addresses: ['ada@example.com'] }),
      messageOf('opened', { chart, title: '"><script>alert(1)</script>' }),
    )
    await fakes.deps.jobs.drain([deliverMessage, deliverMail], mailing)
    const [mail] = received
    expect(mail?.raw).toContain('Content-Type: image/png')
    expect(mail?.text).toMatch(/<img src="cid:[^"]+" alt="The last &lt;b&gt;day&lt;\/b&gt;"/)
    expect(mail?.text).toContain('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(mail?.text.split('<!doctype html>')[1]).not.toContain('<script')
  })

  it('says that no mail server is configured', async () => {
    const id = await makeDestination('email', { addresses: ['ada@example.com'] })
    const deliveryId = await send(id, messageOf('opened'))
    await run()
    expect(await deliveryOf(id, deliveryId)).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('EARSHOT_SMTP_URL'),
    })
  })
})

describe('a webhook destination', () => {
  it('sends the event to the endpoint', async () => {
    const receiver = await openReceiver(204)
    const endpoint = await makeActiveWebhookEndpoint(server, key, { url: receiver.url })
    const id = await makeDestination('webhook', { endpointId: endpoint.id })
    const { body } = await call('POST', `/v1/destinations/${id}/test`, { key })
    await fakes.deps.jobs.drain([deliverMessage, deliver], fakes.deps)
    expect((await deliveryOf(id, body.id)).status).toBe('succeeded')
    expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({ type: 'webhook.test' })
  })
})

describe('a delivery log', () => {
  it('takes the next message about the same subject after its oldest messages were deleted', async () => {
    const id = await makeDestination('slack', settingsOf('slack'))
    const subjectId = newId()
    const oldest = await send(id, messageOf('opened'), subjectId)
    await run()
    await send(id, messageOf('repeated'), subjectId)
    await run()
    await fakes.deps.db
      .deleteFrom('destination_deliveries')
      .where('organization_id', '=', org)
      .where('id', '=', oldest)
      .execute()
    const last = await send(id, messageOf('resolved'), subjectId)
    await run()
    expect((await deliveryOf(id, last)).status).toBe('succeeded')
  })

  it('redelivers no message after a newer one about the same subject', async () => {
    const id = await makeDestination('slack', settingsOf('slack'))
    const subjectId = newId()
    fakes.refusals.push({ status: 400 })
    const opened = await send(id, messageOf('opened'), subjectId)
    await run()
    await send(id, messageOf('resolved'), subjectId)
    await run()
    const { status } = await call('POST', `/v1/destinations/${id}/deliveries/${opened}/redeliver`, { key })
    expect([status, (await deliveryOf(id, opened)).status]).toEqual([409, 'failed'])
  })
})

it('a message to Slack notifies nobody whom its text names', async () => {
  const id = await makeDestination('slack', settingsOf('slack'))
  await send(id, messageOf('opened', { text: '@here #general http://b.example' }))
  await run()
  const texts = JSON.stringify(fakes.sent[0]?.body.blocks).match(/"type":"mrkdwn"[^}]*/g) ?? []
  expect(texts.filter((text) => !text.includes('"verbatim":true'))).toEqual([])
})

it('an email’s subject is one line, whatever the title contains', async () => {
  const id = await makeDestination('email', { addresses: ['ada@example.com'] })
  const deliveryId = await send(id, messageOf('opened', { title: 'A finding\nof\ttwo lines' }))
  await run()
  expect((await deliveryOf(id, deliveryId)).reason).toContain('EARSHOT_SMTP_URL')
})
