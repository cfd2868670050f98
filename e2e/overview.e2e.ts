import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { ask, breaches, conversationIds, open, quiet } from './browser.ts'

const table = (page: Page) => page.getByRole('region', { name: 'Monitors, most unusual first' })

const loaded = (page: Page) =>
  table(page)
    .getByText(/n = \d/)
    .first()
    .waitFor()

it('shows the last days with today, and links each number to its conversations', async () => {
  const page = await open('/', 'viewer')
  const volume = page.getByRole('region', { name: 'Volume' })
  const link = volume.getByRole('link', { name: /^[\d,]+ conversations?$/ })
  await link.waitFor()
  await loaded(page)
  await page.getByText(/% from [\d,]+ in the earlier period/).waitFor()
  expect(await breaches(page)).toEqual([])
  await link.click()
  await page.getByText(/^[\d,]+ conversations?$/).waitFor()
  // Other tests create conversations in the meantime, so this compares the period instead of the number.
  const { searchParams } = new URL(page.url())
  expect(JSON.parse(searchParams.get('filter') ?? '')).toEqual({ period: { last: '7d', timezone: 'Europe/Berlin' } })
  await page.goBack()
  await volume.getByRole('group', { name: 'Conversations by day' }).waitFor()
  await openFirstMonitor(page)
})

it('shows any period, and remembers it on the pages of monitors too', async () => {
  const page = await open('/', 'member')
  await page.getByRole('button', { name: 'Period: Last 7 days vs. previous period' }).click()
  expect(await breaches(page)).toEqual([])
  await page.getByRole('button', { name: 'Last 24 hours' }).click()
  await page.waitForURL(/time=last%3A24h/)
  await page.getByRole('group', { name: 'Conversations by hour' }).waitFor()
  await loaded(page)
  await openFirstMonitor(page)
  await page.getByRole('button', { name: 'Period: Last 24 hours' }).waitFor()
  await page.waitForURL(/time=last%3A24h/)
})

/** Opens the first monitor's page. Which monitors fit into the table depends on the data. */
const openFirstMonitor = async (page: Page) => {
  const monitor = table(page).getByRole('row').nth(1).getByRole('link').first()
  const name = (await monitor.textContent()) ?? ''
  await monitor.click()
  await page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
}

/** Responds with conversations in the last interval only. */
const onlyToday = async (page: Page) =>
  page.route('**/v1/analytics/query', async (route) => {
    const answer = await route.fetch()
    const body = (await answer.json()) as { groups: { n: number; series: Figure[]; comparison?: Figure }[] }
    for (const group of body.groups) {
      for (const each of group.series.slice(0, -1)) Object.assign(each, nothing)
      group.series = group.series.map((each, at, all) => (at < all.length - 1 ? each : { ...each, n: 3, value: 3 }))
      group.n = 3
      if (group.comparison) Object.assign(group.comparison, nothing, { difference: null, differenceInterval95: null })
    }
    await route.fulfill({ response: answer, json: body })
  })

type Figure = { n: number; value: number | null; interval95: object | null }
const nothing: Figure = { n: 0, value: null, interval95: null }

it('shows hours and the newest conversations on the first day', async () => {
  const page = await open('/nowhere', 'member')
  await onlyToday(page)
  await page.goto(new URL('/', page.url()).href)
  await page.getByRole('button', { name: 'Period: Today vs. previous period' }).waitFor()
  await page.getByRole('group', { name: 'Conversations by hour' }).waitFor()
  await page.getByText('None in the earlier period.').waitFor()
  const newest = page.getByRole('region', { name: 'Newest conversations' })
  await expect.poll(() => newest.getByRole('listitem').count()).toBe(5)
  await page.getByText('No earlier data to compare with.').waitFor()
  expect(await breaches(page)).toEqual([])
})

it('shows first steps until they are done', async () => {
  const page = await open('/nowhere', 'owner')
  await page.route('**/v1/alert-rules?limit=1', (route) => route.fulfill({ json: { data: [], nextCursor: null } }))
  await page.goto(new URL('/', page.url()).href)
  const steps = page.getByRole('region', { name: 'First steps' })
  await steps.getByText('4 of 5 done').waitFor()
  await quiet(page)
  expect(await breaches(page)).toEqual([])
  await steps.getByRole('link', { name: 'Get an alert when something changes' }).click()
  await page.getByRole('heading', { level: 1, name: 'New alert rule' }).waitFor()
  await page.unroute('**/v1/alert-rules?limit=1')
  await page.goto(new URL('/', page.url()).href)
  await loaded(page)
  await quiet(page)
  expect(await steps.count()).toBe(0)
  // After all steps are done, the page no longer requests their state.
  let asked = 0
  page.on('request', (request) => {
    if (request.url().includes('/v1/alert-rules')) asked += 1
  })
  await page.reload()
  await loaded(page)
  await quiet(page)
  expect(asked).toBe(0)
})

it('lists firing alerts first', async () => {
  const page = await open('/nowhere', 'viewer')
  const incident = {
    id: '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f',
    ruleName: 'Too many refunds',
    severity: 'critical',
    status: 'firing',
    group: null,
    text: '31% were affected.',
    openedAt: new Date().toISOString(),
  }
  await page.route('**/v1/alert-incidents?status=firing*', (route) =>
    route.fulfill({
      json: { data: [{ ...incident, severity: 'info', ruleName: 'Few calls' }, incident], nextCursor: null },
    }),
  )
  await page.goto(new URL('/', page.url()).href)
  const list = page.getByRole('list', { name: 'Needs attention' })
  await list.getByRole('link', { name: 'Too many refunds' }).waitFor()
  const texts = await list.getByRole('listitem').allTextContents()
  expect(texts.findIndex((text) => text.includes('Too many'))).toBe(0)
})

it('shows urgent open findings and remaining reviews', async () => {
  const hostile = '<img src=x onerror=alert(1)> at once'
  await ask('POST', '/v1/findings', { title: hostile, priority: 'urgent' })
  const bucket = await ask<{ id: string }>('POST', '/v1/buckets', { name: 'To be read', type: 'static', filters: {} })
  await ask('POST', `/v1/buckets/${bucket.id}/conversations`, { conversationIds: await conversationIds(3) })

  const page = await open('/', 'member', { theme: 'dark' })
  const findings = page.getByRole('region', { name: 'Open findings' })
  const urgent = findings.getByRole('listitem').filter({ hasText: hostile })
  await urgent.getByText('Urgent').waitFor()
  const reviews = page.getByRole('region', { name: 'Reviews' })
  await reviews.getByRole('listitem').filter({ hasText: 'To be read' }).getByText('0 completed today, 3 left').waitFor()
  expect(await breaches(page)).toEqual([])
  await urgent.getByRole('link').click()
  await page.waitForURL(/\/findings\//)

  const asViewer = await open('/', 'viewer')
  await asViewer.getByRole('region', { name: 'Reviews' }).getByText('To be read').waitFor()
  expect(await asViewer.getByRole('link', { name: 'Review', exact: true }).count()).toBe(1)
})

it('shows an organization without conversations how to start', async () => {
  const empty = await open('/', 'viewer')
  await empty.route('**/v1/conversations/count', (route) => route.fulfill({ json: { count: 0, explanation: '' } }))
  await empty.route('**/v1/analytics/query', (route) =>
    route.fulfill({
      json: {
        period: null,
        comparedPeriod: null,
        groups: [{ key: [], label: [], isOther: false, ...nothing }],
        warnings: [],
      },
    }),
  )
  await empty.reload()
  await empty.getByRole('link', { name: 'Send your first conversation' }).click()
  await empty.waitForURL(/\/start$/)
})

it('links failures to where they can be fixed', async () => {
  const page = await open('/', 'viewer')
  await page.route('**/v1/monitor-exports?status=failed*', (route) =>
    route.fulfill({
      json: { data: [{ id: 'x', createdAt: new Date().toISOString(), errorCode: 'timed_out' }], nextCursor: null },
    }),
  )
  await page.reload()
  await page.getByRole('list', { name: 'Needs attention' }).getByRole('link', { name: '1 export failed' }).click()
  await page.getByRole('heading', { level: 1, name: 'Exports' }).waitFor()
})

it('shows an error where it happens, and everything else', async () => {
  const page = await open('/', 'viewer')
  await page.route('**/v1/monitors?*', (route) =>
    route.fulfill({ status: 403, json: { error: 'forbidden', message: 'Monitors are disabled.' } }),
  )
  await page.reload()
  await page.getByRole('alert').getByText('Monitors are disabled.').waitFor()
  await page.getByRole('region', { name: 'Volume' }).getByRole('link').first().waitFor()
  expect(await breaches(page)).toEqual([])
})

it('fits 320 pixels', async () => {
  const page = await open('/', 'owner', { viewport: { width: 320, height: 700 } })
  await loaded(page)
  expect(await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')).toBe(false)
})

it('requests nothing that the member may not see', async () => {
  await ask('POST', '/v1/webhook-endpoints', {
    name: 'Ours',
    url: 'https://example.com/hook',
    events: ['monitor_export.completed'],
  })
  const page = await open('/sign-in', 'viewer')
  const refused: string[] = []
  page.on('response', (response) => void (response.status() === 403 && refused.push(response.url())))
  await page.goto(new URL('/', page.url()).href)
  await loaded(page)
  await quiet(page)
  expect(refused).toEqual([])
})

it('shows days in UTC if the server does not know the browser’s time zone', async () => {
  const page = await open('/nowhere', 'viewer')
  await page.addInitScript(`{
    const read = Intl.DateTimeFormat.prototype.resolvedOptions
    Intl.DateTimeFormat.prototype.resolvedOptions = function () {
      return { ...read.call(this), timeZone: 'PST' }
    }
  }`)
  const refused = page.waitForResponse((response) => response.url().endsWith('/v1/analytics/query'))
  await page.goto(new URL('/', page.url()).href)
  expect((await refused).status()).toBe(400)
  await page.getByRole('region', { name: 'Volume' }).getByRole('link').first().waitFor()
  expect(await page.getByRole('alert').count()).toBe(0)
})
