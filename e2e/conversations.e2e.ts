import { expect, it } from 'vitest'
import { ask, breaches, monitorId, open, yesterday } from './browser.ts'

it('lists conversations, shows the filter in words, and keeps it in the URL', async () => {
  const page = await open('/conversations', 'viewer')
  const grid = page.getByRole('grid', { name: 'Conversations' })
  await grid.getByRole('row').nth(5).waitFor()
  await page.getByText(/^1,5\d\d conversations$/).waitFor()
  await page.getByRole('button', { name: 'Filter' }).click()
  await page.getByLabel('Channels').fill('Chat')
  await page.keyboard.press('Enter')
  await page.getByText(/conversations .*chat/i).waitFor()
  await page.reload()
  await page.getByText(/conversations .*chat/i).waitFor()
  expect(new URL(page.url()).searchParams.get('filter')).toBe('{"channels":["chat"]}')
  expect(await breaches(page)).toEqual([])
})

it('moves between rows by keyboard with the panel open', async () => {
  const page = await open('/conversations', 'member')
  await page.getByRole('grid', { name: 'Conversations' }).getByRole('row').nth(5).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await page.getByRole('complementary', { name: 'Selected conversation' }).waitFor()
  const selected = page.locator('[role=row][aria-selected=true]')
  await expect.poll(() => selected.getAttribute('aria-rowindex')).toBe('3')
  await page.keyboard.press('Escape')
  await page.getByRole('complementary', { name: 'Selected conversation' }).waitFor({ state: 'detached' })
})

it('adds a metadata condition by keyboard', async () => {
  const page = await open('/conversations', 'viewer')
  await page.getByRole('grid', { name: 'Conversations' }).getByRole('row').nth(5).waitFor()
  await page.keyboard.press('f')
  await page.getByRole('button', { name: 'Add metadata' }).press('Enter')
  const key = page.getByLabel('Key 1', { exact: true })
  await key.focus()
  await page.keyboard.type('plan')
  await page.keyboard.press('Tab')
  await page.waitForURL(/plan/)
  await expect.poll(() => page.evaluate("document.activeElement?.getAttribute('aria-label')")).toBe('Comparison 1')
  await page.keyboard.press('Tab')
  await page.keyboard.type('gold')
  await page.keyboard.press('Enter')
  await page.waitForURL(/gold/)
  expect(JSON.parse(new URL(page.url()).searchParams.get('filter') ?? '')).toEqual({
    metadata: [{ key: 'plan', op: 'eq', value: 'gold' }],
  })
})

it('scrolls to the row in the URL', async () => {
  // Conversations from other tests would move the rows.
  const filter = encodeURIComponent(JSON.stringify({ until: yesterday }))
  const page = await open(`/conversations?filter=${filter}`, 'viewer')
  const grid = page.getByRole('grid', { name: 'Conversations' })
  await grid.getByRole('row').nth(5).waitFor()
  for (let row = 0; row < 60; row++) await page.keyboard.press('j')
  const selected = page.locator('[role=row][aria-selected=true]')
  await expect.poll(() => selected.getAttribute('aria-rowindex')).toBe('61')
  await page.waitForURL(/open=/)
  await page.reload()
  await expect.poll(() => selected.getAttribute('aria-rowindex')).toBe('61')
  await grid.press('Enter')
  await page.waitForURL(/\/conversations\/[0-9a-f-]+/)
  await page.goBack()
  await expect.poll(() => selected.getAttribute('aria-rowindex')).toBe('61')
})

it('shows the page if the URL is incomplete', async () => {
  const filter = encodeURIComponent(JSON.stringify({ monitors: 5, channels: ['chat'] }))
  const page = await open(`/conversations?filter=${filter}&open=5`, 'viewer')
  await page.getByText(/conversations .*chat/i).waitFor()
})

it('passes its filter to a new export', async () => {
  const monitors = [{ id: await monitorId('Tool failed'), result: 'affected' }]
  const filter = encodeURIComponent(JSON.stringify({ monitors, since: '2020-01-01T00:00:00Z' }))
  const page = await open(`/conversations?filter=${filter}`, 'viewer')
  await page.getByRole('link', { name: 'Export', exact: true }).click()
  await expect.poll(() => page.getByLabel('Results of Tool failed', { exact: true }).inputValue()).toBe('affected')
  expect(await page.getByLabel('Started from').inputValue()).toBe('2020-01-01T01:00')
})

it('saves a view, updates it, and deletes it', async () => {
  const page = await open('/conversations?filter=%7B%22channels%22%3A%5B%22chat%22%5D%7D', 'member')
  await page.getByRole('button', { name: 'Save view' }).click()
  await page.getByLabel('Name').fill('Chats of today')
  await page.getByRole('button', { name: 'Save view' }).last().click()
  await page.getByRole('button', { name: 'Delete view' }).waitFor()
  await page.getByRole('searchbox', { name: 'Search transcripts' }).fill('refund')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Update view' }).click()
  await page.getByRole('button', { name: 'Update view' }).waitFor({ state: 'detached' })
  const { data } = await ask<{ data: { name: string; filter: unknown }[] }>('GET', '/v1/saved-views')
  const kept = data.find(({ name }) => name === 'Chats of today')
  expect(kept?.filter).toEqual({ channels: ['chat'], text: 'refund' })
  await page.getByRole('button', { name: 'Delete view' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete view' }).click()
  await page.getByRole('button', { name: 'Save view' }).waitFor()
})
