import { readFile } from 'node:fs/promises'
import { decode } from 'fast-png'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { ask, breaches, monitorId, open, quiet } from './browser.ts'

const chart = (title: string, more: object = {}) => ({
  title,
  kind: 'number',
  width: 'half',
  query: { measure: { kind: 'volume' } },
  ...more,
})

const makeBoard = async (name: string, charts: object[]): Promise<string> => {
  const { id } = await ask<{ id: string }>('POST', '/v1/boards', { name, charts, compareTo: 'previous_period' })
  return id
}

const titlesOf = (page: Page) => page.getByRole('heading', { level: 2 }).allTextContents()

const chooseAction = async (page: Page, of: string, action: string) => {
  await page.getByRole('button', { name: of }).click()
  await page.getByRole('menuitem', { name: action, exact: true }).click()
}

it('shows the built-in boards, with a period and comparison in the address', async () => {
  const page = await open('/boards', 'viewer')
  await page.getByRole('link', { name: 'Voice latency' }).click()
  await page.getByRole('heading', { level: 1, name: 'Voice latency' }).waitFor()
  await page.getByRole('heading', { level: 2, name: 'Median response latency (ms)' }).waitFor()
  const period = page.getByRole('button', { name: /^Period/ })
  expect(await period.textContent()).toBe('Period: Last 30 days vs. previous period')
  await period.click()
  expect(await breaches(page)).toEqual([])
  await page.getByLabel('Compare with').selectOption({ label: 'No comparison' })
  await page.getByRole('button', { name: 'Last 90 days' }).click()
  await quiet(page)
  const { searchParams } = new URL(page.url())
  expect([searchParams.get('time'), searchParams.get('compare')]).toEqual(['last:90d', 'none'])
  await page.reload()
  await quiet(page)
  expect(await period.textContent()).toBe('Period: Last 90 days')
  expect(await page.getByRole('button', { name: 'Duplicate to edit' }).count()).toBe(0)
  expect(await page.getByRole('button', { name: /^Move / }).count()).toBe(0)
  expect(await breaches(page)).toEqual([])
})

it('shows days that someone chooses by keyboard, and remembers them for the board', async () => {
  const id = await makeBoard('Days', [
    chart('Calls', { kind: 'bar', query: { measure: { kind: 'volume' }, interval: 'day' } }),
  ])
  const page = await open(`/boards/${id}`, 'viewer')
  await page.getByRole('button', { name: /^Period/ }).focus()
  await page.keyboard.press('Enter')
  const focused = () => page.evaluate<string>('document.activeElement.textContent')
  await expect.poll(focused).toBe('Last 30 days')
  await page.keyboard.press('ArrowDown')
  await expect.poll(focused).toBe('Last 90 days')
  await page.keyboard.press('Escape')
  expect(await page.getByRole('dialog', { name: 'Period' }).count()).toBe(0)
  await page.keyboard.press('Enter')
  await page.getByLabel('From', { exact: true }).fill('2026-10-02')
  await page.getByLabel('To', { exact: true }).fill('2026-10-01')
  await page.keyboard.press('Enter')
  await page.getByText('The last day is before the first.').waitFor()
  await page.getByLabel('To', { exact: true }).fill('2026-10-05')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Period: Oct 2 – Oct 5, 2026' }).waitFor()
  expect(new URL(page.url()).searchParams.get('time')).toBe('2026-10-02..2026-10-05')
  await page.goto(new URL(`/boards/${id}`, page.url()).href)
  await page.getByRole('button', { name: 'Period: Oct 2 – Oct 5, 2026' }).waitFor()
  await page.waitForURL(/time=2026-10-02/)
  await page.getByRole('button', { name: 'Reset' }).click()
  await page.getByRole('button', { name: 'Period: Last 30 days' }).waitFor()
  expect(new URL(page.url()).search).toBe('')
})

it('compares with any days', async () => {
  const id = await makeBoard('Any days', [chart('Calls')])
  const page = await open(`/boards/${id}?time=last:7d`, 'member')
  await page.getByRole('button', { name: 'Period: Last 7 days vs. previous period' }).click()
  await page.getByLabel('Compare with').selectOption({ label: 'Custom…' })
  const dates = page.getByRole('form', { name: 'Dates to compare with' })
  await dates.getByLabel('From').fill('2026-10-01')
  await dates.getByLabel('To').fill('2026-10-31')
  await dates.getByRole('button', { name: 'Apply dates' }).click()
  await page.getByRole('button', { name: 'Period: Last 7 days vs. Oct 1 – Oct 31, 2026' }).waitFor()
  expect(new URL(page.url()).searchParams.get('compare')).toBe('2026-10-01..2026-10-31')
  await quiet(page)
  expect(await breaches(page)).toEqual([])
  await page.reload()
  await page.getByRole('button', { name: 'Period: Last 7 days vs. Oct 1 – Oct 31, 2026' }).waitFor()
  await page
    .getByRole('region', { name: 'Calls' })
    .getByText(/earlier|from/)
    .waitFor()
  // The days are not stored with the board.
  await page.getByRole('button', { name: 'Save for everyone' }).click()
  await page.getByRole('button', { name: 'Period: Last 7 days vs. previous period' }).waitFor()
})

it('downloads a chart as CSV and as an image, and the board as an image', async () => {
  const page = await open('/boards', 'viewer')
  await page.getByRole('link', { name: 'By company' }).click()
  const saved = async (act: () => Promise<void>) => {
    const download = page.waitForEvent('download')
    await act()
    const file = await download
    return { name: file.suggestedFilename(), bytes: await readFile(await file.path()) }
  }
  const csv = await saved(() => chooseAction(page, 'Actions for Conversations', 'Download CSV'))
  expect(csv.name).toBe('Conversations.csv')
  const [head, ...rows] = csv.bytes.toString().split('\r\n')
  expect(head).toBe('company,n,value,low,high')
  expect(rows.length).toBeGreaterThan(1)
  await quiet(page)
  const png = await saved(() => chooseAction(page, 'Actions for Conversations', 'Download PNG'))
  expect(png.name).toBe('Conversations.png')
  const whole = await saved(() => chooseAction(page, 'More actions', 'Download PNG'))
  expect(whole.name).toBe('By company.png')
  const [small, large] = [decode(png.bytes), decode(whole.bytes)]
  expect(large.width).toBeGreaterThan(small.width * 1.8)
  // An empty image has only one color.
  expect(new Set(small.data).size).toBeGreaterThan(20)
})

it('creates a board with a chart, and changes both', async () => {
  const page = await open('/boards', 'member', { theme: 'dark' })
  await page.getByRole('button', { name: 'Create board' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('Front desk')
  await page.getByRole('dialog').getByRole('button', { name: 'Create board' }).click()
  await page.getByRole('heading', { level: 1, name: 'Front desk' }).waitFor()
  await page.getByText('No charts yet').waitFor()
  expect(await breaches(page)).toEqual([])
  await page.getByRole('link', { name: 'Add chart' }).first().click()
  await page.getByRole('heading', { level: 1, name: 'Add chart' }).waitFor()
  await page.getByLabel('Measure').selectOption({ label: 'Affected rate' })
  await page.getByText('Choose a monitor.').waitFor()
  expect(await page.getByRole('button', { name: 'Add chart' }).isDisabled()).toBe(true)
  await page.getByLabel('Monitor', { exact: true }).fill('Tool')
  await page.getByRole('option', { name: 'Tool failed' }).click()
  const preview = page.getByRole('region', { name: 'Preview' })
  await preview.getByRole('group', { name: 'Affected by day' }).waitFor()
  await page.getByRole('radio', { name: 'Table' }).check({ force: true })
  await page.getByLabel('Group by').selectOption({ label: 'Agent' })
  await preview.getByRole('columnheader', { name: '95% interval' }).waitFor()
  const filter = page.getByRole('region', { name: 'Chart filter' }).getByRole('combobox')
  await filter.fill('channel: calls')
  await filter.press('Enter')
  await quiet(page)
  expect(await breaches(page)).toEqual([])
  await page.getByRole('button', { name: 'Add chart' }).click()
  await page.getByRole('heading', { level: 1, name: 'Front desk' }).waitFor()
  await chooseAction(page, 'Actions for Tool failed by agent', 'Edit chart')
  await page.getByLabel('Title').fill('Failing tools')
  await page.getByRole('button', { name: 'Save chart' }).click()
  await page.getByRole('heading', { level: 1, name: 'Front desk' }).waitFor()
  await page.getByRole('heading', { level: 2, name: 'Failing tools' }).waitFor()
  const id = new URL(page.url()).pathname.split('/').at(-1)
  const { charts } = await ask<{ charts: object[] }>('GET', `/v1/boards/${id}`)
  expect(charts).toEqual([
    expect.objectContaining({
      title: 'Failing tools',
      kind: 'table',
      query: {
        measure: { kind: 'rate', monitorId: await monitorId('Tool failed') },
        groupBy: ['agent'],
        filter: { channels: ['call'] },
      },
    }),
  ])
  await chooseAction(page, 'More actions', 'Rename')
  await page.getByRole('textbox', { name: 'Name' }).fill('Reception')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { level: 1, name: 'Reception' }).waitFor()
  await chooseAction(page, 'Actions for Failing tools', 'Remove chart')
  await page.getByRole('dialog').getByRole('button', { name: 'Remove chart' }).click()
  await page.getByText('No charts yet').waitFor()
})

it('arranges charts by keyboard, in their menus, and by dragging', async () => {
  const id = await makeBoard('Order', [chart('One'), chart('Two'), chart('Three')])
  const page = await open(`/boards/${id}`, 'member')
  const stored = async () => {
    const { charts } = await ask<{ charts: { title: string; width: string }[] }>('GET', `/v1/boards/${id}`)
    return charts.map(({ title, width }) => `${title} ${width}`).join(', ')
  }
  await quiet(page)
  const handle = page.getByRole('button', { name: 'Move One' })
  await handle.focus()
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowRight')
  await page.getByText('One moved to position 3 of 3').waitFor()
  expect(await titlesOf(page)).toEqual(['Two', 'Three', 'One'])
  expect(await handle.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true)
  await expect.poll(stored).toBe('Two half, Three half, One half')
  await chooseAction(page, 'Actions for Three', 'Move earlier')
  await chooseAction(page, 'Actions for Three', 'Width: full')
  await expect.poll(stored).toBe('Three full, Two half, One half')
  await page.getByRole('heading', { level: 2, name: 'One' }).dragTo(page.getByRole('region', { name: 'Three' }))
  await expect.poll(stored).toBe('One half, Three full, Two half')
  await expect.poll(() => titlesOf(page)).toEqual(['One', 'Three', 'Two'])
  await page.route('**/v1/boards/*', (route) =>
    route.request().method() === 'PATCH'
      ? route.fulfill({ status: 429, json: { error: 'rate_limited', message: 'Too much at once.' } })
      : route.continue(),
  )
  await chooseAction(page, 'Actions for Two', 'Move earlier')
  await page.getByRole('alert').getByText('Too much at once.').waitFor()
  expect(await titlesOf(page)).toEqual(['One', 'Three', 'Two'])
})

it('filters the whole board, and saves the filter for everyone', async () => {
  const id = await makeBoard('Filtered', [chart('Calls'), chart('All', { kind: 'table' })])
  const page = await open(`/boards/${id}`, 'member')
  await page.getByLabel('Add filter').fill('channel: chats')
  await page.keyboard.press('Enter')
  await page.waitForURL(/filter=/)
  await page.getByRole('button', { name: 'Save for everyone' }).click()
  await page.getByRole('button', { name: 'Save for everyone' }).waitFor({ state: 'detached' })
  expect(new URL(page.url()).search).toBe('')
  const { filter } = await ask<{ filter: object }>('GET', `/v1/boards/${id}`)
  expect(filter).toMatchObject({ channels: ['chat'], period: { last: '30d' } })
  const viewer = await open(`/boards/${id}`, 'viewer')
  await viewer.getByRole('button', { name: 'Remove channel: chats' }).click()
  await viewer.waitForURL(/filter=/)
  await viewer.getByRole('button', { name: 'Reset' }).waitFor()
  expect(await viewer.getByRole('button', { name: 'Save for everyone' }).count()).toBe(0)
})

it('links values to their conversations', async () => {
  const id = await makeBoard('Links', [
    chart('By agent', { kind: 'table', query: { measure: { kind: 'volume' }, groupBy: ['agent'] } }),
  ])
  const page = await open(`/boards/${id}`, 'viewer')
  const row = page.getByRole('region', { name: 'By agent' }).first().getByRole('row').nth(1)
  const count = await row.getByRole('cell').nth(1).textContent()
  await row.getByRole('link').click()
  await page.getByText(new RegExp(`^${count} conversations$`)).waitFor()
})

it('duplicates a built-in board and deletes the copy', async () => {
  const page = await open('/boards', 'member', { theme: 'dark' })
  await page.getByRole('link', { name: 'Quality' }).click()
  await page.getByRole('button', { name: 'Duplicate to edit' }).click()
  await page.getByRole('heading', { level: 1, name: 'Quality copy' }).waitFor()
  await quiet(page)
  expect(await breaches(page)).toEqual([])
  await chooseAction(page, 'More actions', 'Delete board')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete board' }).click()
  await page.getByRole('heading', { level: 1, name: 'Boards' }).waitFor()
  await expect.poll(() => page.getByRole('link', { name: 'Quality copy' }).count()).toBe(0)
})

it('shows a failing chart next to the others, and fits 320 pixels', async () => {
  const id = await makeBoard('Narrow', [
    chart('Broken'),
    chart('Calls', { query: { measure: { kind: 'duration', statistic: 'p50' } } }),
  ])
  const page = await open(`/boards/${id}`, 'member', { viewport: { width: 320, height: 640 } })
  await page.route('**/v1/analytics/query', (route) =>
    route.request().postData()?.includes('volume')
      ? route.fulfill({ status: 400, json: { error: 'bad_request', message: 'Too many conversations.' } })
      : route.continue(),
  )
  await page.reload()
  await page.getByRole('region', { name: 'Broken' }).getByText('Too many conversations.').waitFor()
  await page.getByRole('region', { name: 'Calls' }).getByText(/n = /).waitFor()
  await page.getByRole('button', { name: /^Period/ }).click()
  const overflows = () => page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')
  expect(await overflows()).toBe(false)
  expect(await breaches(page)).toEqual([])
  await page.goto(new URL(`/boards/${id}/charts/new`, page.url()).href)
  await page.getByRole('region', { name: 'Preview' }).waitFor()
  await quiet(page)
  expect(await overflows()).toBe(false)
  expect(await breaches(page)).toEqual([])
})

it('explains what changed in a chart', async () => {
  const id = await makeBoard('Explained', [chart('Volume')])
  const page = await open(`/boards/${id}?time=last:30d`, 'viewer')
  await quiet(page)
  await chooseAction(page, 'Actions for Volume', 'What changed?')
  const dialog = page.getByRole('dialog', { name: 'What changed: Volume' })
  await dialog.getByText(/ now, .+ before/).waitFor()
  await dialog.getByText(/All [\d,]+ groups changed|The clearest of [\d,]+ groups/).waitFor()
  expect(await breaches(page)).toEqual([])
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })
})
