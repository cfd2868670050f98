// Runs downloads and a browser in a separate process, because they take a lot of CPU time and would distort the
// measurements in the process that sends requests. Messages control this process, and it returns its own measurements.

import type { Browser } from 'playwright-core'
import { type Chromium, launchChromium } from '../../e2e/chromium.ts'
import { type Exported, exportOnAndOn } from './exporting.ts'
import type { MixedWorld } from './traffic.ts'
import { type Tour, visitPages } from './visits.ts'

export type BackgroundTask = { world: MixedWorld; chromium: Chromium; tour: Tour; ms: number }
export type BackgroundResult = { exported: Exported[]; visits: number[] }

process.once('message', async ({ world, chromium, tour, ms }: BackgroundTask) => {
  let browser: Browser | undefined
  try {
    browser = await launchChromium(chromium)
    const until = performance.now() + ms
    const [exported, visits] = await Promise.all([exportOnAndOn(world, until), visitPages(browser, tour, until)])
    await browser.close()
    const done: BackgroundResult = { exported, visits }
    process.send?.(done, () => process.exit(0))
  } catch (error) {
    process.stderr.write(`${(error as Error).stack}\n`)
    await browser?.close()
    process.exit(1)
  }
})
process.on('disconnect', () => process.exit(1))
