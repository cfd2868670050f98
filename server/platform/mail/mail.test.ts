import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { makeOrganization } from '../../../test/make.ts'
import { testServer } from '../../../test/server.ts'
import { openMailServer } from '../../../test/support/mail-server.ts'
import type { ServiceDeps } from '../../deps.ts'
import { loadConfig } from '../config.ts'
import type { OrgId } from '../db/database.ts'
import { dayMs } from '../durations.ts'
import { orgIdOf } from '../ids.ts'
import { deliverMail, sweepMails } from './jobs.ts'
import { type Mail, queueMail } from './mail.ts'

const server = await testServer({ EARSHOT_BASE_URL: 'https://ears.example.com' })

let org: OrgId
beforeEach(async () => {
  org = orgIdOf((await makeOrganization(server)).id)
})

/** Returns a service that uses this mail server. */
const withSmtp = (url: string | undefined): ServiceDeps => {
  const { smtp } = loadConfig(url === undefined ? {} : { EARSHOT_SMTP_URL: url })
  return { ...server.deps, config: { ...server.deps.config, smtp } }
}

const mail: Mail = { to: ['ada@example.com'], subject: 'A notice', text: 'Something happened.\n' }
const write = (deps: ServiceDeps, change: Partial<Mail> = {}, options = {}) =>
  deps.db.transaction().execute((trx) => queueMail(deps, trx, org, { ...mail, ...change }, options))

/** Runs the due jobs until none is left. With `delayed`, also runs delayed jobs. */
const drain = (deps: ServiceDeps, delayed = false) =>
  deps.jobs.drain([deliverMail], deps, { delayed, allowFailures: true })

type Row = { id: string; recipient: string; text: string; status: string; error: string | null; attempts: number }
const stored = async (): Promise<Row[]> => {
  const { rows } = await sql<Row>`
    SELECT id, recipient, text, status, error, attempts FROM mails WHERE organization_id = ${org} ORDER BY id`.execute(
    server.deps.db,
  )
  return rows
}
const only = async (): Promise<Row> => {
  const [row, ...more] = await stored()
  if (!row || more.length > 0) throw new Error('expected one mail')
  return row
}

describe('an email', () => {
  it('arrives unchanged, one for each recipient, with the service as sender', async () => {
    const { port, received } = await openMailServer()
    const deps = withSmtp(`smtp://127.0.0.1:${port}`)
    const text = `Grüße, 世界\n.\nhttps://ears.example.com/${'x'.repeat(1_200)}\nlast`
    const subject = `Versuch „Begrüßung“ läuft 🎧 ${'und läuft '.repeat(10)}`.trim()
    await write(deps, { to: ['ada@example.com', 'Bob@example.com', 'ADA@example.com'], subject, text })
    expect(received).toEqual([])
    await drain(deps)
    const rows = await stored()
    expect(rows).toMatchObject([
      { recipient: 'ADA@example.com', status: 'sent', error: null, attempts: 1 },
      { recipient: 'Bob@example.com', status: 'sent', error: null, attempts: 1 },
    ])
    expect(received.map(({ recipients }) => recipients)).toEqual([['ADA@example.com'], ['Bob@example.com']])
    for (const [index, { sender, headers, text: arrived, raw }] of received.entries()) {
      expect(sender).toBe('earshot@ears.example.com')
      expect(headers).toMatchObject({
        from: 'Earshot <earshot@ears.example.com>',
        to: rows[index]?.recipient,
        subject,
        date: server.clock.now().toUTCString().replace('GMT', '+0000'),
        'message-id': `<${rows[index]?.id}@ears.example.com>`,
        'auto-submitted': 'auto-generated',
        'content-type': 'text/plain; charset=utf-8',
      })
      expect(arrived.trimEnd()).toBe(text)
      expect(Math.max(...raw.split('\r\n').map((line) => line.length))).toBeLessThan(200)
    }
  })

  it('shows the configured sender', async () => {
    const { port, received } = await openMailServer()
    const from = encodeURIComponent('Bürö Ohr <ohr@mail.example.com>')
    const deps = withSmtp(`smtp://127.0.0.1:${port}?from=${from}`)
    await write(deps)
    await drain(deps)
    expect(received).toMatchObject([
      { sender: 'ohr@mail.example.com', headers: { from: 'Bürö Ohr <ohr@mail.example.com>' } },
    ])
    expect(received[0]?.headers['message-id']).toBe(`<${(await only()).id}@mail.example.com>`)
  })

  it('is written together with its change, or not at all', async () => {
    const { port, received } = await openMailServer()
    const deps = withSmtp(`smtp://127.0.0.1:${port}`)
    const fails = deps.db.transaction().execute(async (trx) => {
      await queueMail(deps, trx, org, mail)
      throw new Error('the change did not come about')
    })
    await expect(fails).rejects.toThrow('did not come about')
    expect(await drain(deps)).toEqual([])
    expect([await stored(), received]).toEqual([[], []])
  })

  it.each<[string, Partial<Mail>]>([
    ['subject', { subject: 'Hello\r\nBcc: all@example.com' }],
    ['subject', { subject: 'Hello\nthere' }],
    ['subject', { subject: 'x'.repeat(251) }],
    ['text', { text: 'x'.repeat(100_001) }],
    ['to', { to: Array.from({ length: 101 }, (_, index) => `a${index}@example.com`) }],
    ...[
      'a@example.com\r\nBcc: b@example.com',
      'a@example.com, b@example.com',
      'Ada <a@example.com>',
      '@x',
      'a@',
      'a b@x',
    ].map((address): [string, Partial<Mail>] => ['to[1]', { to: ['ada@example.com', address] }]),
  ])('is rejected for its %s, and nothing is written: %#', async (path, change) => {
    await expect(write(withSmtp('smtp://127.0.0.1:1'), change)).rejects.toMatchObject({
      kind: 'invalid',
      details: { issues: [{ path }] },
    })
    expect(await stored()).toEqual([])
  })

  it('with a link is stored encrypted', async () => {
    const { port, received } = await openMailServer()
    const deps = withSmtp(`smtp://127.0.0.1:${port}`)
    await write(deps, { text: 'a link to join by' }, { sealWith: deps.secrets })
    expect((await only()).text).toMatch(/^v1\.[\w-]+$/)
    await drain(deps)
    expect(received[0]?.text.trimEnd()).toBe('a link to join by')
  })
})

describe('without a mail server', () => {
  it('emails are stored, not sent when one is configured later, and deleted after 30 days', async () => {
    const { port, received } = await openMailServer()
    await write(withSmtp(undefined))
    expect(await only()).toMatchObject({ status: 'kept', text: mail.text, attempts: 0 })
    expect(await drain(withSmtp(`smtp://127.0.0.1:${port}`), true)).toEqual([])
    expect(received).toEqual([])

    const { deps, clock } = server
    const sweep = async () => {
      await deps.jobs.enqueue(deps.db, sweepMails, {})
      await deps.jobs.drain([sweepMails], deps)
    }
    clock.advance(30 * dayMs)
    await sweep()
    expect(await stored()).toHaveLength(1)
    clock.advance(1)
    await sweep()
    expect(await stored()).toEqual([])
  })

  it('an email that is waiting when the mail server is removed stays stored', async () => {
    await write(withSmtp('smtp://127.0.0.1:1'))
    expect(await drain(withSmtp(undefined))).toMatchObject([{ result: 'completed' }])
    expect(await only()).toMatchObject({ status: 'kept', attempts: 0 })
  })
})

describe('a rejected email', () => {
  it('is retried if that is temporary', async () => {
    const busy = { code: 451, message: 'Try again later' }
    const { port, received } = await openMailServer({}, { ...busy, at: 'recipient' }, busy)
    const deps = withSmtp(`smtp://127.0.0.1:${port}`)
    await write(deps)
    expect(await drain(deps)).toMatchObject([{ result: 'retried' }])
    expect(await only()).toMatchObject({
      status: 'queued',
      error: expect.stringContaining('451 Try again later'),
      attempts: 1,
    })
    expect(await drain(deps)).toEqual([])
    expect(await drain(deps, true)).toMatchObject([{ result: 'retried' }, { result: 'completed' }])
    expect(received).toHaveLength(1)
    expect(await only()).toMatchObject({ status: 'sent', error: null, attempts: 3 })
  })

  it.each([{ at: 'recipient' as const }, {}])('fails permanently, with the server’s response: %o', async (at) => {
    const refusal = { code: 550, message: 'No such mailbox here', ...at }
    const { port, received, offered } = await openMailServer({}, refusal)
    const deps = withSmtp(`smtp://127.0.0.1:${port}`)
    await write(deps)
    expect(await drain(deps, true)).toMatchObject([{ result: 'completed' }])
    expect(await only()).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/: 550 No such mailbox here$/),
      attempts: 1,
    })
    expect([offered(), received]).toEqual([1, []])
  })

  it('fails after a day, and the operator can retry it', async () => {
    const { port, close } = await openMailServer()
    await close()
    const away = withSmtp(`smtp://127.0.0.1:${port}`)
    await write(away)
    const outcomes = await drain(away, true)
    expect(outcomes).toHaveLength(39)
    expect(outcomes.at(-1)).toMatchObject({ result: 'dead' })
    const failed = await only()
    expect(failed).toMatchObject({ status: 'failed', attempts: 39, error: expect.stringContaining('ECONNREFUSED') })

    const { port: otherPort, received } = await openMailServer()
    await away.jobs.retryDead([outcomes[0]?.jobId as string])
    await drain(withSmtp(`smtp://127.0.0.1:${otherPort}`))
    expect(await only()).toMatchObject({ status: 'sent', error: null })
    expect(received[0]?.headers['message-id']).toBe(`<${failed.id}@ears.example.com>`)
  })

  it('is sent again with the same ID if the process died before storing that it was sent', async () => {
    const { port, received } = await openMailServer()
    const deps = withSmtp(`smtp://127.0.0.1:${port}`)
    await write(deps)
    const dying = {
      now: () => {
        throw new Error('the process died')
      },
    }
    expect(await drain({ ...deps, clock: dying })).toMatchObject([{ result: 'retried' }])
    expect(await only()).toMatchObject({ status: 'queued', attempts: 0 })
    expect(await drain(deps, true)).toMatchObject([{ result: 'completed' }])
    expect(await only()).toMatchObject({ status: 'sent', attempts: 1 })
    const [first, second, ...more] = received.map(({ headers }) => [headers['message-id'], headers.date])
    expect(more).toEqual([])
    expect(second).toEqual(first)
  })
})

describe('a connection', () => {
  const credentials = 'earshot:correct%26horse'
  const signedIn = { encrypted: true, user: 'earshot' }

  it.each([
    ['smtps:', '', { secure: true }],
    ['smtp:', '?tls=required', {}],
  ])('with %s%s is encrypted and authenticated', async (protocol, query, options) => {
    const { port, received } = await openMailServer({ ...options, authOptional: false })
    const deps = withSmtp(`${protocol}//${credentials}@127.0.0.1:${port}${query}`)
    await write(deps)
    await drain(deps)
    expect(received).toMatchObject([signedIn])
  })

  it('without encryption is only used if configured', async () => {
    const { port, received } = await openMailServer({ disabledCommands: ['STARTTLS'] })
    const asking = withSmtp(`smtp://${credentials}@127.0.0.1:${port}?tls=required`)
    await write(asking)
    expect(await drain(asking)).toMatchObject([{ result: 'retried' }])
    expect(await only()).toMatchObject({ status: 'queued', error: expect.stringContaining('STARTTLS') })
    expect(received).toEqual([])
    await drain(withSmtp(`smtp://${credentials}@127.0.0.1:${port}`), true)
    expect(received).toMatchObject([{ encrypted: false, user: 'earshot' }])
  })

  it('to a server with another name is not used', async () => {
    const { port, received } = await openMailServer()
    // The certificate is only valid for 127.0.0.1.
    const deps = withSmtp(`smtp://${credentials}@localhost:${port}?tls=required`)
    await write(deps)
    expect(await drain(deps)).toMatchObject([{ result: 'retried' }])
    expect((await only()).error).toMatch(/certificate|altnames/i)
    expect(received).toEqual([])
  })

  it.each([
    ['another password', 'earshot:wrong-password@', /^Invalid login: 535 /],
    ['none', '', /: 530 /],
  ])('with %s waits for the operator to fix it, and neither is logged', async (_, given, error) => {
    const { port, received } = await openMailServer({ authOptional: false, secure: true })
    const deps = withSmtp(`smtps://${given}127.0.0.1:${port}`)
    await write(deps, { text: 'Only for Ada.' })
    server.logged.length = 0
    expect(await drain(deps)).toMatchObject([{ result: 'retried' }])
    expect(await only()).toMatchObject({ status: 'queued', error: expect.stringMatching(error) })
    expect(received).toEqual([])
    const logged = server.logged.join()
    expect(logged).toContain('mail.deliver')
    for (const secret of ['wrong-password', Buffer.from('wrong-password').toString('base64'), 'Only for Ada.']) {
      expect(logged).not.toContain(secret)
    }
  })
})
