import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { ask, breaches, open, quiet } from './browser.ts'

type Created = { id: string }
type Stored = { data: { id: string }[] }

const each = 60

/** Other tests use the newest conversations. */
const started = Date.now() - 20 * 3_600_000

/**
 * Creates an agent with two versions. The monitor affects a tenth of the first version's conversations, and half of the
 * second's.
 */
const makeAgent = async (name: string) => {
  const agent = await ask<Created>('POST', '/v1/agents', { name, channel: 'voice' })
  const monitor = await ask<Created>('POST', '/v1/monitors', {
    name: `${name} promises a discount`,
    kind: 'external',
    definition: {},
  })
  const versions: string[] = []
  for (const [label, affected] of [
    ['spring', each / 10],
    ['summer', each / 2],
  ] as const) {
    const version = await ask<Created>('POST', `/v1/agents/${agent.id}/versions`, { label, systemPrompt: label })
    versions.push(version.id)
    const { data } = await ask<Stored>('POST', '/v1/conversations/batch', {
      conversations: Array.from({ length: each }, (_, at) => ({
        externalId: `${agent.id}-${label}-${at}`,
        agentId: agent.id,
        agentVersionId: version.id,
        channel: 'call',
        startedAt: new Date(started - at * 60_000).toISOString(),
        durationSeconds: 60 + at,
      })),
    })
    await ask('POST', '/v1/monitor-results', {
      results: data.map(({ id }, at) => ({
        conversationId: id,
        monitorId: monitor.id,
        result: at < affected ? 'affected' : 'not_affected',
      })),
    })
  }
  return { id: agent.id, monitor: `${name} promises a discount`, versions }
}

const cells = (page: Page, name: string) =>
  page.getByRole('row').filter({ hasText: name }).getByRole('cell').allInnerTexts()

const searchOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams)

/** Adds up how far content moves while a page loads. */
const watchShifts = `
  window.shifted = 0
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.shifted += value
  }).observe({ type: 'layout-shift', buffered: true })`

it('loads the figures of an agent and a comparison without moving anything', async () => {
  const agents = await ask<{ data: { id: string }[] }>('GET', '/v1/agents?externalId=demo-leo')
  const page = await open('/agents', 'viewer')
  await page.addInitScript(watchShifts)
  for (const path of [`/agents/${agents.data[0]?.id}`, '/compare']) {
    await page.goto(new URL(path, page.url()).href)
    await page.getByRole('region', { name: 'Monitors' }).getByRole('table').waitFor()
    await quiet(page)
    expect(await page.evaluate<number>('window.shifted'), path).toBeLessThan(0.01)
  }
})

it('shows the figures of an agent, and compares its last two versions', async () => {
  const { id, monitor, versions } = await makeAgent('Nova')
  const page = await open(`/agents/${id}`, 'viewer')
  const figures = page.getByRole('region', { name: 'Figures' })
  await figures.getByText('Duration, median').waitFor()
  await quiet(page)
  expect(await breaches(page)).toEqual([])
  const rates = figures.getByRole('region', { name: 'Monitors' })
  // Monitors from other tests can have results for the same conversations.
  const rate = rates.getByRole('row', { name: new RegExp(monitor) })
  await rate.getByText(/30% · .+ · n = 120/).waitFor()
  await figures.getByRole('button', { name: /^Period/ }).click()
  await page.getByRole('button', { name: 'Last 7 days' }).click()
  await page.waitForURL(/time=last%3A7d/)
  await rate.getByText(/n = 120/).waitFor()
  await figures.getByRole('link', { name: 'Compare versions' }).click()
  await page.getByRole('heading', { level: 1, name: 'Compare' }).waitFor()

  const table = page.getByRole('region', { name: 'Monitors' }).getByRole('region', { name: 'Monitors' })
  await table.getByRole('link', { name: monitor }).waitFor()
  const [a, b] = [
    { agent: id, version: versions[0] },
    { agent: id, version: versions[1] },
  ]
  await expect.poll(() => searchOf(page)).toEqual({ a: JSON.stringify(a), b: JSON.stringify(b), time: 'last:7d' })
  const [name, ofA, ofB, difference, , verdict] = await cells(page, monitor)
  expect([name, verdict]).toEqual([monitor, 'Higher in B'])
  expect(ofA).toMatch(/^10%\s.+n = 60$/)
  expect(ofB).toMatch(/^50%\s.+n = 60$/)
  expect(difference).toMatch(/^\+40 points\s\+\d/)
  expect((await cells(page, 'Median duration')).at(-1)).toBe('No clear difference')
  await page.getByText(/^1 difference is more than chance \(\d+ compared\)\.$/).waitFor()
  expect(await breaches(page)).toEqual([])
  await page.reload()
  await table.getByRole('link', { name: monitor }).waitFor()

  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download CSV' }).click()
  const file = await download
  expect(file.suggestedFilename()).toBe('Comparison.csv')
  const [head, ...rows] = (await readFile(await file.path(), 'utf8')).split('\r\n')
  expect(head).toMatch(/^measure,statistic,A n,A,/)
  expect(rows.find((row) => row.startsWith(monitor))).toMatch(/,rate,60,0\.1,.+,60,0\.5,.+,yes,no$/)

  await table.getByRole('link', { name: '50%' }).click()
  await page.getByRole('heading', { level: 1, name: 'Conversations' }).waitFor()
  await page
    .getByText(/\b30 conversations/)
    .first()
    .waitFor()
})

it('chooses sides and periods by keyboard, and swaps them', async () => {
  const { id, monitor, versions } = await makeAgent('Vega')
  const page = await open(`/compare?agent=${id}`, 'viewer', { theme: 'dark' })
  const [a, b] = [page.getByRole('group', { name: 'A' }), page.getByRole('group', { name: 'B' })]
  const versionOf = (side: typeof a) => side.getByLabel('Version').inputValue()
  await expect.poll(() => versionOf(a)).toBe(versions[0])
  await page.getByRole('button', { name: 'Swap A and B' }).focus()
  await page.keyboard.press('Enter')
  await expect.poll(() => versionOf(a)).toBe(versions[1])
  await expect.poll(async () => (await cells(page, monitor)).at(-1)).toBe('Lower in B')

  await b.getByLabel('Version').focus()
  await page.keyboard.press('s')
  await b.getByLabel('Version').selectOption({ label: 'All versions' })
  await page.getByText('Some conversations are on both sides').waitFor()
  await a.getByLabel('Version').selectOption({ label: 'All versions' })
  await a.getByLabel('Period').selectOption({ label: 'The period before B' })
  await expect.poll(() => searchOf(page)).toMatchObject({ a: JSON.stringify({ agent: id, time: 'previous_period' }) })
  await expect.poll(async () => (await cells(page, monitor))[1]).toBe('No data')
  expect(await page.getByRole('button', { name: 'Swap A and B' }).count()).toBe(0)
  await a.getByLabel('Period').selectOption({ label: 'Same as B' })
  await page.getByText('selects the same conversations as a').first().waitFor()
  await a.getByLabel('Agent').selectOption({ label: 'All agents' })
  await b.getByLabel('Agent').selectOption({ label: 'Mia, bookings' })
  await page.getByText(/more than chance \(\d+/).waitFor()
  expect(await breaches(page)).toEqual([])
})

it('opens from a chart with its filter and period, and fits a narrow screen', async () => {
  const { id } = await ask<Created>('POST', '/v1/boards', {
    name: 'Compared',
    charts: [
      { title: 'By agent', kind: 'table', width: 'half', query: { measure: { kind: 'volume' }, groupBy: ['agent'] } },
    ],
  })
  const page = await open(`/boards/${id}?time=last:90d`, 'viewer', { viewport: { width: 320, height: 700 } })
  await page.getByRole('region', { name: 'By agent' }).getByRole('link').first().waitFor()
  await page.getByRole('button', { name: 'Actions for By agent' }).click()
  await page.getByRole('menuitem', { name: 'Compare…' }).click()
  await page.getByRole('heading', { level: 1, name: 'Compare' }).waitFor()
  await page.getByText(/more than chance \(\d+/).waitFor()
  const { a, b, time } = searchOf(page)
  expect(time).toBe('last:90d')
  expect(Object.keys(JSON.parse(a ?? ''))).toEqual(['agent'])
  expect(Object.keys(JSON.parse(b ?? ''))).toEqual(['agent'])
  await quiet(page)
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
  expect(await breaches(page)).toEqual([])
})

it('says that an agent has no conversations, and that two sides have none', async () => {
  const { id } = await ask<Created>('POST', '/v1/agents', { name: 'Silent', channel: 'text' })
  const page = await open(`/agents/${id}`, 'member')
  await page.getByRole('heading', { name: 'No conversations yet' }).waitFor()
  expect(await breaches(page)).toEqual([])
  await page.goto(new URL(`/compare?agent=${id}`, page.url()).href)
  await page.getByRole('heading', { name: 'No conversations on either side' }).waitFor()
  await expect.poll(() => searchOf(page).a).toBe(JSON.stringify({ agent: id, time: 'previous_period' }))
  expect(await breaches(page)).toEqual([])
})
