import { expect, it } from 'vitest'
import { ask, breaches, conversationIds, open, quiet } from './browser.ts'

it('shows yesterday, and links each number to its conversations', async () => {
  const page = await open('/', 'viewer')
  const volume = page.getByRole('region', { name: 'Volume' })
  const link = volume.getByRole('link', { name: /^\d+ conversations?$/ })
  const said = await link.textContent()
  const table = page.getByRole('region', { name: 'Monitors, most unusual first' })
  await table
    .getByText(/n = \d/)
    .first()
    .waitFor()
  expect(await breaches(page)).toEqual([])
  await link.click()
  await page.getByText(said ?? '', { exact: true }).waitFor()
  await page.goBack()
  await volume.getByRole('group', { name: 'Conversations by day' }).waitFor()
  await table.getByRole('link', { name: 'Tool failed' }).click()
  await page.getByRole('heading', { level: 1, name: 'Tool failed' }).waitFor()
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
  await empty.route('**/v1/conversations/count', (route) =>
    route.fulfill({ json: { count: 0, explanation: '', series: [] } }),
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
  await page
    .getByRole('list', { name: /Failed in the last/ })
    .getByRole('link', { name: '1 export failed' })
    .click()
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
  await page
    .getByRole('region', { name: 'Monitors, most unusual first' })
    .getByText(/n = \d/)
    .first()
    .waitFor()
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
  await page
    .getByRole('region', { name: 'Monitors, most unusual first' })
    .getByText(/n = \d/)
    .first()
    .waitFor()
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
  const refused = page.waitForResponse((response) => response.url().endsWith('/v1/conversations/count'))
  await page.goto(new URL('/', page.url()).href)
  expect((await refused).status()).toBe(400)
  await page.getByRole('region', { name: 'Volume' }).getByRole('link').first().waitFor()
  expect(await page.getByRole('alert').count()).toBe(0)
})
