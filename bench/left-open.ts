// Measures whether pages of the console grow while they are left open: the overview, the list of conversations, a
// monitor, and the alerts stay open in one browser while as many conversations arrive as on a busy day.
// npm run bench -- left-open [CONVERSATIONS]

import { randomUUID } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BrowserContext, CDPSession } from 'playwright-core'
import { launchChromium, unpackChromium } from '../e2e/chromium.ts'
import { startDemo } from '../e2e/demo.ts'
import { sessionOf } from '../e2e/people.ts'
import { failedCount, judge, print } from './report.ts'

const arrivals = Number(process.argv[2] ?? 20_000)
const readings = 10
/** Sends each conversation in a separate request, so that each is a separate change. */
const perSecond = 50

type Open = { name: string; session: CDPSession }
type Size = { megabytes: number; nodes: number; listeners: number }

const openPage = async (context: BrowserContext, name: string, address: string): Promise<Open> => {
  const page = await context.newPage()
  await page.goto(address)
  await page.getByRole('heading', { level: 1 }).waitFor()
  const session = await context.newCDPSession(page)
  await session.send('Performance.enable')
  return { name, session }
}

const sizeOf = async ({ session }: Open): Promise<Size> => {
  // The second collection frees detached nodes.
  for (let times = 0; times < 2; times++) await session.send('HeapProfiler.collectGarbage')
  const { metrics } = await session.send('Performance.getMetrics')
  const read = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? Number.NaN
  return { megabytes: read('JSHeapUsedSize') / 1e6, nodes: read('Nodes'), listeners: read('JSEventListeners') }
}

const folder = await mkdtemp(join(tmpdir(), 'earshot-bench-'))
await chmod(folder, 0o711)
const chromium = await unpackChromium(folder)
const limits = { EARSHOT_LIMITS: 'ratePerSecond=1000000,rateBurst=1000000' }
const { child, origin, invitation, key } = await startDemo(join(folder, 'data'), 500, limits)
const browser = await launchChromium(chromium)

const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
const transcript = ['Agent: Acme Dental, how can I help?', 'Customer: I want a refund.'].join('\n')
const store = async (number: number): Promise<void> => {
  const body = JSON.stringify({
    externalId: randomUUID(),
    agent: { externalId: `agent-${number % 5}`, name: `Agent ${number % 5}`, channel: 'voice' },
    channel: 'call',
    startedAt: new Date().toISOString(),
    transcript,
  })
  const answer = await fetch(`${origin}/v1/conversations`, { method: 'POST', headers, body })
  if (answer.status >= 300) throw new Error(`${answer.status} ${await answer.text()}`)
  await answer.arrayBuffer()
}

/** Stores conversations at a steady pace, or as fast as the service allows. */
const storeSome = async (from: number, count: number): Promise<void> => {
  const startedAt = performance.now()
  for (let at = 0; at < count; at += 5) {
    await sleep(Math.max(0, startedAt + (at / perSecond) * 1_000 - performance.now()))
    await Promise.all(Array.from({ length: Math.min(5, count - at) }, (_, each) => store(from + at + each)))
  }
}

try {
  const cookie = await sessionOf(origin, invitation, 'Olga Owner')
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  await context.addCookies([{ ...cookie, url: origin, httpOnly: true, sameSite: 'Lax' }])
  const monitors = (await (await fetch(`${origin}/v1/monitors?limit=1`, { headers })).json()) as {
    data: { id: string }[]
  }
  const pages = [
    await openPage(context, 'overview', `${origin}/`),
    await openPage(context, 'conversations', `${origin}/conversations`),
    await openPage(context, 'monitor', `${origin}/monitors/${monitors.data[0]?.id}`),
    await openPage(context, 'alerts', `${origin}/alerts`),
  ]
  const sizes = pages.map((): Size[] => [])
  const each = Math.ceil(arrivals / readings)
  for (let reading = 0; reading < readings; reading++) {
    await storeSome(reading * each, each)
    // Changes are shown within this time.
    await sleep(31_000)
    for (const [at, page] of pages.entries()) sizes[at]?.push(await sizeOf(page))
  }
  print(`${each * readings} conversations in ${readings} parts`)
  for (const [at, { name }] of pages.entries()) {
    const measured = sizes[at] ?? []
    for (const [unit, pick] of [
      ['MB', ({ megabytes }: Size) => megabytes],
      ['nodes', ({ nodes }: Size) => nodes],
      ['listeners', ({ listeners }: Size) => listeners],
    ] as const) {
      const values = measured.map(pick)
      const half = (values.length / 2) | 0
      // Code that is loaded at first stays in memory, so the minimum of each half counts.
      const growth = Math.min(...values.slice(half)) / Math.min(...values.slice(0, half))
      print(`${name}, ${unit}: ${values.map((value) => value.toFixed(unit === 'MB' ? 1 : 0)).join(' ')}`)
      judge(`growth from the first half to the second`, growth, { atMost: 1.1 })
    }
  }
} finally {
  await browser.close()
  child.kill('SIGTERM')
  await new Promise((resolve) => child.once('close', resolve))
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
}
process.exitCode = failedCount() > 0 ? 1 : 0
