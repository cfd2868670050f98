// Tests how pages behave if something goes wrong.

import { expect, it } from 'vitest'
import { ask, holdBack, monitorId, open, origin, quiet, withoutEvents } from './browser.ts'

type Listed = { data: { id: string; name: string }[] }

it('retries a page that could not be loaded', async () => {
  const page = await open('/sign-in', 'viewer')
  await page.route('**/v1/me', (route) =>
    route.fulfill({ status: 429, json: { error: 'rate_limited', message: 'Too many requests.' } }),
  )
  await page.goto(new URL('/monitors', page.url()).href)
  await page.getByRole('alert').getByText('Too many requests.').waitFor()
  await page.unroute('**/v1/me')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { level: 1, name: 'Monitors' }).waitFor()
})

it('says that a page with an unknown ID does not exist', async () => {
  for (const path of ['/monitors/none', '/monitors/none/edit', `/experiments/${crypto.randomUUID()}`]) {
    const page = await open(path, 'owner')
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
  }
})

it('sends requests even if the browser is offline', async () => {
  const page = await open('/conversations', 'viewer')
  await page.getByRole('grid').getByRole('row').nth(5).waitFor()
  // A browser that reports being offline can still reach a server on the same machine.
  await page.evaluate(
    "Object.defineProperty(navigator, 'onLine', { get: () => false }); dispatchEvent(new Event('offline'))",
  )
  await page.getByRole('searchbox', { name: 'Search transcripts' }).fill('refund')
  await page.keyboard.press('Enter')
  await page.getByText(/conversations? .*refund/).waitFor()
})

it('only offers permitted actions in the palette', async () => {
  const asViewer = await open('/', 'viewer')
  await asViewer.getByRole('heading', { level: 1 }).waitFor()
  await asViewer.keyboard.press('Control+k')
  await asViewer.getByRole('combobox', { name: 'Search', exact: true }).fill('Action')
  await asViewer.getByRole('option', { name: 'Create export' }).waitFor()
  expect(await asViewer.getByRole('option', { name: /Create monitor|Launch|API key/ }).count()).toBe(0)

  const page = await open('/', 'owner')
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('Control+k')
  const find = page.getByRole('combobox', { name: 'Search', exact: true })
  await find.fill('Action')
  await page.getByRole('option', { name: 'Launch experiment' }).waitFor()
  await find.fill(crypto.randomUUID())
  await expect.poll(() => page.getByRole('option').count()).toBe(3)
})

it('closes the menu on a small screen by keyboard', async () => {
  const page = await open('/', 'viewer', { viewport: { width: 390, height: 844 } })
  await page.getByRole('button', { name: 'Menu', exact: true }).click()
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('navigation', { name: 'Main' }).waitFor({ state: 'hidden' })
})

it.each([
  { path: '/monitors', late: /\/trend\?/ },
  { path: '/buckets', late: /\/(progress\?|count$)/ },
  { path: '/review', late: /\/progress\?/ },
  { path: '/agents', late: /\/versions\// },
])('keeps the rows of $path in place when figures arrive', async ({ path, late }) => {
  // The name takes all the space next to it.
  const name = `Asked of nothing at ${path} ${'and so on '.repeat(20)}`.trim()
  const { id } = await ask('POST', '/v1/monitors', { name, kind: 'external', definition: {} })
  await ask('POST', '/v1/buckets', { name, type: 'static', monitorIds: [id] })
  await ask('POST', '/v1/agents', { name, channel: 'text' })
  for (const width of [1440, 1024]) {
    const page = await open('/sign-in', 'member', { viewport: { width, height: 900 } })
    // Other tests create agents, which events would add to the list.
    await page.route('**/v1/stream', withoutEvents)
    const { settled, letGo } = await holdBack(page, late)
    await page.goto(`${origin}${path}`)
    await page.locator('main :is(tr, li) a').first().waitFor()
    await settled()
    const list = page.locator('main :is(table, ul):has(a)').first()
    const rows = () =>
      list.evaluate((shown) =>
        [...shown.querySelectorAll('tr, li')].map((row) => {
          const { top, bottom } = row.getBoundingClientRect()
          return { top, bottom }
        }),
      )
    const [before, words] = [await rows(), await list.innerText()]
    letGo()
    await expect.poll(() => list.innerText()).not.toBe(words)
    await quiet(page)
    expect(await rows()).toEqual(before)
  }
})

const long = 'W'.repeat(255)

it.each([1440, 320])('fits names of 255 characters without a space, %i pixels wide', async (width) => {
  const id = await monitorId('Tool failed')
  const { data: experiments } = await ask<Listed>('GET', '/v1/experiments?limit=1')
  const page = await open('/sign-in', 'owner', { viewport: { width, height: 800 } })
  await page.route(/\/v1\/(monitors|experiments)(\/[0-9a-f-]+)?(\?|$)/, async (route) => {
    const answered = await route.fetch()
    const named = (item: object) => ({ ...item, name: long, description: long, armAName: long.slice(0, 100) })
    const body = await answered.json()
    await route.fulfill({ json: body.data ? { ...body, data: body.data.map(named) } : named(body) })
  })
  const pages = [
    '/',
    '/monitors',
    `/monitors/${id}`,
    `/monitors/${id}/edit`,
    '/experiments',
    `/experiments/${experiments[0]?.id}`,
  ]
  for (const path of pages) {
    await page.goto(new URL(path, page.url()).href)
    await page.getByText(long).first().waitFor()
    const wide = await page.evaluate('document.documentElement.scrollWidth')
    expect(wide, path).toBe(width)
  }
})

it('finds one of 2,000 options by typing', async () => {
  const page = await open('/sign-in', 'viewer')
  await page.route('**/v1/monitors?*', (route) => {
    const from = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0)
    const data = Array.from({ length: 200 }, (_, at) => ({
      id: `00000000-0000-4000-8000-${String(from + at).padStart(12, '0')}`,
      name: `Monitor ${from + at}`,
    }))
    return route.fulfill({ json: { data, nextCursor: from < 1_800 ? String(from + 200) : null } })
  })
  await page.goto(new URL('/exports/new', page.url()).href)
  await page.getByLabel('Monitors', { exact: true }).click()
  await page.getByText('Type to find more.').waitFor()
  expect(await page.getByRole('listbox').getByRole('option').count()).toBe(100)
  await page.keyboard.type('1999')
  await page.getByRole('option', { name: 'Monitor 1999' }).click()
  await page.getByLabel('Results from Monitor 1999').waitFor()
})
