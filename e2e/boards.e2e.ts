import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { breaches, open, quiet } from './browser.ts'

it('shows the built-in boards, with a period and comparison in the address', async () => {
  const page = await open('/boards', 'viewer')
  await page.getByRole('link', { name: 'Voice latency' }).click()
  await page.getByRole('heading', { level: 1, name: 'Voice latency' }).waitFor()
  await page.getByRole('heading', { level: 2, name: 'Median response latency (ms)' }).waitFor()
  await page.getByLabel('Period').selectOption({ label: 'Last 90 days' })
  await page.getByLabel('Compare with').selectOption({ label: 'No comparison' })
  await quiet(page)
  const { searchParams } = new URL(page.url())
  expect([searchParams.get('time'), searchParams.get('compare')]).toEqual(['last:90d', 'none'])
  await page.reload()
  await quiet(page)
  expect(await page.getByLabel('Period').inputValue()).toBe('last:90d')
  expect(await page.getByRole('button', { name: 'Duplicate' }).count()).toBe(0)
  expect(await breaches(page)).toEqual([])
})

it('downloads a chart as CSV', async () => {
  const page = await open('/boards', 'viewer')
  await page.getByRole('link', { name: 'By company' }).click()
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download Conversations as CSV' }).click()
  const file = await download
  expect(file.suggestedFilename()).toBe('Conversations.csv')
  const [head, ...rows] = (await readFile(await file.path(), 'utf8')).split('\r\n')
  expect(head).toBe('company,n,value,low,high')
  expect(rows.length).toBeGreaterThan(1)
})

it('duplicates a board and deletes the copy', async () => {
  const page = await open('/boards', 'member', { theme: 'dark' })
  await page.getByRole('link', { name: 'Quality' }).click()
  await page.getByRole('button', { name: 'Duplicate' }).click()
  await page.getByRole('heading', { level: 1, name: 'Quality copy' }).waitFor()
  await quiet(page)
  expect(await breaches(page)).toEqual([])
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete board' }).click()
  await page.getByRole('heading', { level: 1, name: 'Boards' }).waitFor()
  await expect.poll(() => page.getByRole('link', { name: 'Quality copy' }).count()).toBe(0)
})
