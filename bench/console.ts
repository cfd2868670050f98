// Measures the console in a real browser with a million demo conversations: how soon the list is usable, whether rows
// are blank while it scrolls, and how soon a changed filter shows results. Exits with 1 if a limit is exceeded.
// npm run bench -- console [CALLS]

import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { launchChromium, unpackChromium } from '../e2e/chromium.ts'
import { startDemo } from '../e2e/demo.ts'
import { sessionOf } from '../e2e/people.ts'
import { failedCount, judge, millisecondsOf, print } from './report.ts'
import { median } from './servers.ts'

const calls = Number(process.argv[2] ?? 1_000_000)
const rounds = 9

const firstRow = (page: Page) => page.getByRole('grid', { name: 'Conversations' }).getByRole('row').nth(10)

/** Waits until the loaded conversations are evaluated, because measuring must not start earlier. */
const untilJudged = async (origin: string, key: string) => {
  const ask = async (path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const answer = await fetch(origin + path, {
      headers,
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    })
    return (await answer.json()) as { data: { id: string }[]; count: number }
  }
  const { data } = await ask('/v1/monitors?limit=1')
  const filter = { statuses: ['completed'], monitors: [{ id: data[0]?.id, result: 'unscored' }] }
  let [before, after] = [-1, 0]
  const total = async () => {
    const found = ['affected', 'not_affected', 'unscored'].map((result) =>
      ask('/v1/conversations/count', { filter: { ...filter, monitors: [{ id: data[0]?.id, result }] } }),
    )
    return (await Promise.all(found)).reduce((sum, { count }) => sum + count, 0)
  }
  while (after !== before || after < calls * 0.9) {
    before = after
    await sleep(5_000)
    after = await total()
  }
}

/** Measures the time from requesting the page until a key moves the selection in the list. */
const untilUsable = (page: Page, origin: string) =>
  millisecondsOf(async () => {
    await page.goto(`${origin}/conversations`)
    await firstRow(page).waitFor()
    await page.keyboard.press('j')
    await page.locator('[role=row][aria-selected=true]').waitFor()
  })

/** Scrolls fast, and counts the frames in which a row is missing. */
const scrollThrough = (page: Page): Promise<{ frames: number; blank: number }> =>
  page.evaluate(`(async () => {
    const grid = document.querySelector('[role=grid]')
    const { left, top, bottom } = grid.getBoundingClientRect()
    let [frames, blank] = [0, 0]
    for (let step = 0; step < 240; step++) {
      grid.scrollTop += 120
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
      frames++
      const holes = [0.2, 0.5, 0.8].filter((share) => {
        const at = document.elementFromPoint(left + 60, top + 40 + (bottom - top - 60) * share)
        return !at?.closest('[role=row]')
      })
      if (holes.length > 0) blank++
    }
    return { frames, blank }
  })()`)

const filters = [
  { channels: ['chat'] },
  { directions: ['outbound'] },
  { statuses: ['failed'] },
  { channels: ['call'], directions: ['inbound'] },
  { minDurationSeconds: 60 },
  { text: 'refund' },
  { since: new Date(Date.now() - 7 * 86_400_000).toISOString() },
]

/** Measures the time from the change until the rows and their count are on the page. */
const untilFiltered = async (page: Page, filter: object) => {
  const asksFor = (path: string) =>
    page.waitForResponse(
      (response) =>
        response.url().endsWith(path) &&
        (response.request().postData() ?? '').includes(JSON.stringify(filter).slice(1, -1)),
    )
  const list = asksFor('/v1/conversations/search')
  const count = asksFor('/v1/conversations/count')
  const href = `/conversations?filter=${encodeURIComponent(JSON.stringify(filter))}`
  let counted = 0
  const listed = await millisecondsOf(async () => {
    const startedAt = performance.now()
    // The router follows the history, so this has the same effect as the back button.
    await page.evaluate(
      `history.pushState({}, '', ${JSON.stringify(href)}); dispatchEvent(new PopStateEvent('popstate'))`,
    )
    void count.then(() => {
      counted = performance.now() - startedAt
    })
    await list
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))')
  })
  await count
  return { listed, counted }
}

const folder = await mkdtemp(join(tmpdir(), 'earshot-bench-'))
await chmod(folder, 0o711)
const chromium = await unpackChromium(folder)
const { child, origin, invitation, key } = await startDemo(join(folder, 'data'), calls)
const browser = await launchChromium(chromium)
try {
  const cookie = await sessionOf(origin, invitation, 'Olga Owner')
  await untilJudged(origin, key)
  print(`${calls} conversations, the medians of ${rounds} rounds`)
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' })
  await context.addCookies([{ ...cookie, url: origin, httpOnly: true, sameSite: 'Lax' }])
  const page = await context.newPage()

  const first = await untilUsable(page, origin)
  print(`the first visit: ${first.toFixed(0)} ms`)
  const visits: number[] = []
  for (let round = 0; round < rounds; round++) visits.push(await untilUsable(page, origin))
  judge('until the list can be used', median(visits), { atMost: 1_000 }, ' ms')

  await page.keyboard.press('Escape')
  const { frames, blank } = await scrollThrough(page)
  judge(`blank frames of ${frames} while scrolling`, blank, { atMost: 0 }, '')

  const answers: { listed: number; counted: number }[] = []
  for (let round = 0; round < rounds; round++) {
    for (const filter of filters)
      answers.push(await untilFiltered(page, { ...filter, maxDurationSeconds: 10_000 + round }))
  }
  judge('until a changed filter is answered', median(answers.map(({ listed }) => listed)), { atMost: 500 }, ' ms')
  print(`  its count: ${median(answers.map(({ counted }) => counted)).toFixed(0)} ms`)
} finally {
  await browser.close()
  child.kill('SIGTERM')
  await new Promise((resolve) => child.once('close', resolve))
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
}
process.exitCode = failedCount() > 0 ? 1 : 0
