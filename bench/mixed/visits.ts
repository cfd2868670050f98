import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser } from 'playwright-core'
import { millisecondsOf } from '../report.ts'

type Cookie = { name: string; value: string }

const everyMs = 5_000

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
  const times: number[] = []
  const visit = async (path: string) => {
    await page.goto(origin + path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    // At this point, all requests have responses. The time includes the half second of silence that shows this.
    await page.waitForLoadState('networkidle')
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
