import { expect, it } from 'vitest'
import { open } from './browser.ts'

const most = 250_000

it.each([
  ['/sign-in', undefined],
  ['/', 'owner'],
  ['/conversations', 'viewer'],
  ['/monitors', 'viewer'],
  ['/monitors/new', 'member'],
  ['/exports/new', 'viewer'],
  ['/experiments', 'viewer'],
  ['/experiments/new', 'owner'],
  ['/findings', 'viewer'],
  ['/review', 'member'],
  ['/settings/profile', 'viewer'],
] as const)('%s loads at most 250 kB of script, compressed', async (path, role) => {
  const page = await open('/nowhere', role)
  const sizes: Promise<number>[] = []
  page.on('response', (response) => {
    if (!new URL(response.url()).pathname.endsWith('.js')) return
    expect(response.headers()['content-encoding']).toBe('br')
    sizes.push(
      response
        .request()
        .sizes()
        .then(({ responseBodySize }) => responseBodySize),
    )
  })
  // A first visit: nothing is kept.
  const session = await page.context().newCDPSession(page)
  await session.send('Network.clearBrowserCache')
  await page.goto(new URL(path, page.url()).href)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.waitForLoadState('networkidle')
  const loaded = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
  expect(loaded).toBeGreaterThan(50_000)
  expect(loaded).toBeLessThanOrEqual(most)
})
