import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, Page, Request } from 'playwright-core'
import { millisecondsOf } from '../report.ts'

type Cookie = { name: string; value: string }

const everyMs = 5_000

const quietMs = 500
const longestMs = 30_000

/** Returns the requests that have no response yet, except for the event stream, which stays open. */
const followRequests = (page: Page): Set<Request> => {
  const open = new Set<Request>()
  page.on('request', (request) => {
    if (!request.url().endsWith('/v1/stream')) open.add(request)
  })
  page.on('requestfinished', (request) => open.delete(request))
  page.on('requestfailed', (request) => open.delete(request))
  return open
}

/** Waits until all requests have responses. The time includes the half second of silence that shows this. */
const untilQuiet = async (page: Page, open: ReadonlySet<Request>): Promise<void> => {
  const startedAt = performance.now()
  let quietSince = startedAt
  while (performance.now() - quietSince < quietMs) {
    if (performance.now() - startedAt > longestMs) throw new Error(`${page.url()} still waits after 30 seconds`)
    await sleep(20)
    if (open.size > 0) quietSince = performance.now()
  }
}

export type Tour = { origin: string; cookie: Cookie; paths: string[] }

/** Opens a page of the console every few seconds, and waits until it is complete. */
export const visitPages = async (
  browser: Browser,
  { origin, cookie, paths }: Tour,
  until: number,
): Promise<number[]> => {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' })
  await context.addCookies([{ ...cookie, url: origin, httpOnly: true, sameSite: 'Lax' }])
  const page = await context.newPage()
  const failed: string[] = []
  page.on('response', (response) => {
    if (response.status() >= 400) failed.push(`${response.status()} ${new URL(response.url()).pathname}`)
  })
  const open = followRequests(page)
  const times: number[] = []
  const visit = async (path: string) => {
    await page.goto(origin + path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await untilQuiet(page, open)
  }
  for (let number = 0; performance.now() < until; number++) {
    const path = paths[number % paths.length] ?? '/conversations'
    const took = await millisecondsOf(() => visit(path))
    times.push(took)
    await sleep(Math.max(0, everyMs - took))
  }
  await context.close()
  if (failed.length > 0) throw new Error(`the console was answered ${[...new Set(failed)].join(', ')}`)
  return times
}
