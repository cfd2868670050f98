import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, inject, it, onTestFinished } from 'vitest'
import { open, yesterday } from './browser.ts'

const root = join(import.meta.dirname, '..')

it('runs the unbundled client library in a browser', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-browser-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  await promisify(execFile)(process.execPath, [tsc, '-p', join(root, 'client'), '--outDir', folder])

  const page = await open('/sign-in')
  await page.route('**/client-library/*.js', async (route) => {
    const name = new URL(route.request().url()).pathname.split('/').at(-1) ?? ''
    await route.fulfill({ contentType: 'text/javascript', body: await readFile(join(folder, name), 'utf8') })
  })
  // The code is passed as text, because Vitest would rewrite the import in a function.
  await page.evaluate("import('/client-library/earshot.js').then((library) => Object.assign(globalThis, { library }))")
  const found = await page.evaluate(
    async ([url, key, yesterday]) => {
      const { Earshot } = (globalThis as unknown as { library: typeof import('../client/src/earshot.ts') }).library
      const earshot = new Earshot({ url, key })
      const monitors = await earshot.monitors.list().all()
      const [first] = monitors
      if (!first) throw new Error('no monitor')
      const window = { since: new Date(Date.now() - 30 * 86_400_000).toISOString(), until: yesterday }
      const file = await earshot.exports.createAndDownload({
        monitors: [{ id: first.id }],
        ...window,
        timezone: 'UTC',
        format: 'csv',
      })
      const bytes = await file.bytes()
      const results: string[] = []
      const calls = [
        { externalId: 'from-a-browser', agentExternalId: 'nobody', channel: 'call' as const, startedAt: window.since },
      ]
      for await (const { status } of earshot.conversations.import(calls)) results.push(status)
      const error = await earshot.companies.get('no-id').catch((fault: { status: number }) => fault.status)
      return { bytes: bytes.length, told: file.export.bytes, name: file.fileName, results, error }
    },
    [new URL(page.url()).origin, inject('key'), yesterday] as const,
  )
  expect(found.bytes).toBeGreaterThan(0)
  expect(found.bytes).toBe(found.told)
  expect(found.name).toMatch(/\.csv$/)
  expect(found.results).toEqual(['rejected'])
  expect(found.error).toBe(400)
})
