import { expect, it } from 'vitest'
import { makeDataDir, runEarshot, startEarshot, takeFreePort } from '../../test/earshot.ts'
import { acceptance, cookieOf } from '../../test/make.ts'

it('the first start’s link lets the owner in once, and a fresh one takes its place until then', async () => {
  const port = String(await takeFreePort())
  const switches = { PORT: port, EARSHOT_DATA_DIR: await makeDataDir() }
  const { origin, stdout } = await startEarshot(switches)
  const accept = (link: string) =>
    fetch(new URL('/auth/invitation', origin), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(acceptance(link)),
    })
  const lines = /Sign in +(\S+)/
  await expect.poll(stdout, { timeout: 5_000 }).toMatch(lines)
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

  const late = await runEarshot(['link', 'my-organization'], switches)
  expect(late).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('has joined already') })
  expect(await runEarshot(['link', 'nobody'], switches)).toMatchObject({ code: 1 })
  expect(await runEarshot(['link'], switches)).toMatchObject({ code: 2, stdout: expect.stringContaining('Usage') })
}, 60_000)
