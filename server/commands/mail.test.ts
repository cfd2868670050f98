import { expect, it } from 'vitest'
import {
  provision,
  runEarshot,
  runInOne,
  startEarshot,
  switchesOnTestDatabase,
  takeFreePort,
} from '../../test/earshot.ts'
import { openMailServer } from '../../test/support/mail-server.ts'

it('a link of the operator is printed and emailed, and the doctor checks the mail server', async () => {
  const { port, received } = await openMailServer({ disabledCommands: ['STARTTLS'] })
  const own = String(await takeFreePort())
  const switches = { ...(await switchesOnTestDatabase()), PORT: own, EARSHOT_BASE_URL: 'https://ears.example.com' }
  const mailed = { ...switches, EARSHOT_SMTP_URL: `smtp://earshot:correct%26horse@127.0.0.1:${port}` }
  await startEarshot(mailed)
  const { slug } = await provision(`http://127.0.0.1:${own}`)
  const printed = await runEarshot(['link', slug], mailed)
  expect(printed).toMatchObject({ code: 0, stderr: '' })
  await expect.poll(() => received.length, { timeout: 10_000 }).toBe(1)
  const [mail] = received
  expect(mail).toMatchObject({ recipients: [`${slug}@example.com`], user: 'earshot' })
  expect(mail?.headers.subject).toBe('Reset your Earshot password')
  expect(mail?.text.split('\n')).toContain(printed.stdout.trim())

  const healthy = await runInOne(['doctor'], mailed)
  expect(healthy).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^ok {4}mail +127\.0\.0\.1, port \d+, reached/m),
  })
  const refused = await runInOne(['doctor'], { ...mailed, EARSHOT_SMTP_URL: `smtp://a:hidden@127.0.0.1:${port}` })
  expect(refused).toMatchObject({ code: 1, stdout: expect.stringMatching(/^FAIL {2}mail +Invalid login: 535/m) })
  expect(`${refused.stdout}${refused.stderr}`).not.toContain('hidden')
}, 60_000)
