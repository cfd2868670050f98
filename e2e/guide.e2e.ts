import { expect, it } from 'vitest'
import { breaches, open, origin } from './browser.ts'

it('finds a section by its words, and opens it by keyboard', async () => {
  const page = await open('/docs/guide')
  await page.waitForURL('**/docs/guide/start')
  await page.keyboard.press('/')
  await page.keyboard.type('rotate secret')
  const first = page.locator('#found a').first()
  await expect.poll(() => first.innerText()).toContain('Rotate the secret')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/docs/guide/webhooks#rotate-the-secret')
  await page.getByRole('searchbox').fill('xylophone')
  await page.getByText('Nothing in the guide has these words.').waitFor()
  await page.keyboard.press('Escape')
  await page.locator('#found').waitFor({ state: 'hidden' })
})

it('copies a block of code', async () => {
  const page = await open('/docs/guide/start')
  await page.locator('.code').nth(1).hover()
  await page.locator('.code').nth(1).getByRole('button', { name: 'Copy' }).click()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('export EARSHOT_URL')
})

it('copies without TLS, where browsers have no navigator.clipboard', async () => {
  const page = await open('/docs/guide/start')
  await page.evaluate(async () => {
    await navigator.clipboard.writeText('of an earlier test')
    Object.defineProperty(navigator, 'clipboard', { value: undefined })
  })
  await page.locator('.code').nth(1).hover()
  await page.locator('.code').nth(1).getByRole('button', { name: 'Copy' }).click()
  await page.locator('.code').nth(1).getByRole('button', { name: 'Copied' }).waitFor()
  await page.reload()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('export EARSHOT_URL')
})

it('says if the search index cannot be loaded, and retries', async () => {
  const page = await open('/docs/guide/start')
  await page.route('**/search.json', (route) => route.fulfill({ status: 404, body: '{}' }))
  await page.getByRole('searchbox').fill('rotate secret')
  await page.getByText('The search could not be loaded. Try again.').waitFor()
  await page.unroute('**/search.json')
  await page.getByRole('searchbox').fill('replace secret')
  await page.locator('#found a').first().waitFor()
})

it('has no broken link, and all pages are accessible and fit 320 pixels', async () => {
  const page = await open('/docs/guide/start')
  const linksOf = () =>
    page.locator('a[href]').evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).href))
  const pages = new Set(
    (await linksOf()).map((link) => link.split('#')[0] ?? link).filter((link) => link.includes('/docs/guide/')),
  )
  expect(pages.size).toBeGreaterThan(14)
  const texts = new Map<string, string>()
  const textOf = async (address: string) => {
    const text = texts.get(address) ?? (await (await page.request.get(address)).text())
    texts.set(address, text)
    return text
  }
  for (const address of pages) {
    await page.goto(address)
    // All pages have the same layout, so it is sufficient to check a page with code, a page with tables, and a page
    // with neither.
    if (/(client|rules|concepts)$/.test(address)) expect(await breaches(page), address).toEqual([])
    const within = (await linksOf()).filter((link) => link.startsWith(origin) && link.includes('#'))
    for (const link of new Set(within)) {
      const [target = '', anchor = ''] = link.split('#')
      expect(await textOf(target), `${address} links to ${link}`).toContain(`id="${decodeURIComponent(anchor)}"`)
    }
    await page.setViewportSize({ width: 320, height: 700 })
    expect(await page.evaluate(() => document.documentElement.scrollWidth), address).toBeLessThanOrEqual(320)
    await page.setViewportSize({ width: 1440, height: 900 })
  }
})
