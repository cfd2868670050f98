import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { makeDataDir, runEarshot, runInOne, startEarshot, takeFreePort } from '../../test/earshot.ts'
import { acceptance, cookieOf, password } from '../../test/make.ts'

it('the link of the first start admits the owner once; a link of the operator replaces it, or a password', async () => {
  const port = String(await takeFreePort())
  const switches = { PORT: port, EARSHOT_DATA_DIR: await makeDataDir() }
  const { origin, stdout } = await startEarshot(switches, { args: ['serve', '--print-credentials'] })
  const post = (path: string, body: object, headers = {}) =>
    fetch(new URL(path, origin), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  const accept = (link: string, change = {}) => post('/auth/invitation', { ...acceptance(link), ...change })
  const statusOfMe = async (cookie: string) => (await fetch(new URL('/v1/me', origin), { headers: { cookie } })).status
  const lines = /Sign in +(\S+)/
  await expect.poll(stdout).toMatch(lines)
  const [, first = ''] = lines.exec(stdout()) ?? []
  expect(first).toMatch(new RegExp(`^http://127.0.0.1:${port}/welcome#`))

  const renewed = await runEarshot(['link', 'my-organization'], switches)
  expect(renewed).toMatchObject({ code: 0, stderr: '' })
  const fresh = renewed.stdout.trim()
  expect((await accept(first)).status).toBe(400)
  const joined = await accept(fresh)
  expect(joined.status).toBe(200)
  const me = await fetch(new URL('/v1/me', origin), { headers: { cookie: cookieOf(joined) } })
  expect(await me.json()).toMatchObject({ role: 'owner', member: { status: 'active' } })
  expect((await accept(fresh)).status).toBe(410)

  const email = 'Owner@localhost.localdomain'
  const forgotten = await runInOne(['link', 'my-organization', '--email', email, '--json'], switches)
  expect(forgotten).toMatchObject({ code: 0, stderr: '' })
  const other = { password: 'another one that is new' }
  const reset = await accept(JSON.parse(forgotten.stdout).url, other)
  expect(reset.status).toBe(200)
  expect([await statusOfMe(cookieOf(joined)), await statusOfMe(cookieOf(reset))]).toEqual([401, 200])
  expect((await post('/auth/sign-in/email', { email, password })).status).toBe(401)
  expect((await post('/auth/sign-in/email', { email, ...other })).status).toBe(200)

  const newEmail = 'Ada@example.com'
  const offered = await runInOne(['link', 'my-organization', '--email', email, '--new-email', newEmail], switches)
  expect(offered).toMatchObject({ code: 0, stderr: '' })
  const [, token] = /^http:\S+\/confirm-address#(\S+)$/.exec(offered.stdout.trim()) ?? []
  expect(await (await post('/auth/address/confirm', { token })).json()).toEqual({ email: 'ada@example.com' })
  expect((await post('/auth/sign-in/email', { email: newEmail, ...other })).status).toBe(200)
  for (const refused of [newEmail, 'no address']) {
    const args = ['link', 'my-organization', '--new-email', refused]
    expect(await runInOne(args, switches)).toMatchObject({ code: 1, stdout: '' })
  }

  // An invited person may have an account in another organization. An invitation from this one must not change that
  // account.
  const invited = { email: 'eve@example.com', name: 'Eve', role: 'viewer' }
  const [, key = ''] = /Owner key +(\S+)/.exec(stdout()) ?? []
  expect((await post('/v1/members', invited, { authorization: `Bearer ${key}` })).status).toBe(201)
  const args = ['link', 'my-organization', '--email', invited.email, '--new-email', 'mallory@example.com']
  const refused = await runInOne(args, switches)
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toContain('has not joined')

  for (const unknown of [['nobody'], ['my-organization', '--email', 'nobody@example.com']]) {
    expect(await runInOne(['link', ...unknown], switches)).toMatchObject({ code: 1, stdout: '' })
  }
  for (const wrong of [[], ['my-organization', 'owner@localhost.localdomain']]) {
    const answer = await runInOne(['link', ...wrong], switches)
    expect(answer).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('Usage') })
  }
}, 60_000)

it('a first start without a terminal stores its link and key in a file that only its user can read', async () => {
  const dataDir = await makeDataDir()
  const { origin, stdout, stderr } = await startEarshot({ EARSHOT_DATA_DIR: dataDir })
  const path = join(dataDir, 'credentials.txt')
  await expect.poll(stdout).toContain(path)
  for (const text of [stdout(), stderr()]) {
    expect(text).not.toMatch(/ear_[0-9A-Za-z]{38}/)
    expect(text).not.toContain('/welcome#')
  }
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  const written = await readFile(path, 'utf8')
  const [, key = ''] = /Owner key +(\S+)/.exec(written) ?? []
  const [, link = ''] = /Sign in +(\S+)/.exec(written) ?? []
  const me = await fetch(new URL('/v1/me', origin), { headers: { authorization: `Bearer ${key}` } })
  expect(me.status).toBe(200)
  const check = await fetch(new URL('/auth/invitation/check', origin), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: acceptance(link).token }),
  })
  expect(await check.json()).toMatchObject({ setsEmail: true })
}, 60_000)
