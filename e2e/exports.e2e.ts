import { readFile } from 'node:fs/promises'
import { read, utils } from '@e965/xlsx'
import { expect, it } from 'vitest'
import { ask, breaches, monitorId, open } from './browser.ts'

it('previews and creates an export, and downloads its file', async () => {
  const page = await open('/exports', 'viewer')
  await page.getByRole('link', { name: 'Create export' }).first().click()
  await page.getByText('Choose at least one monitor').waitFor()
  await page.getByLabel('Monitors', { exact: true }).click()
  await page.getByRole('option', { name: 'Asks for a person' }).click()
  await page.keyboard.press('Escape')
  await page.getByLabel('Started at or after').fill('2020-01-01T00:00')
  await page
    .getByRole('region', { name: 'Preview' })
    .getByText(/^[\d,]+ conversations$/)
    .waitFor()
  const all = await page.getByText(/^[\d,]+ conversations$/).innerText()
  await page.getByLabel('Results from Asks for a person').selectOption('Affected only')
  await expect.poll(() => page.getByText(/^[\d,]+ conversations$/).innerText()).not.toBe(all)
  const count = (await page.getByText(/^[\d,]+ conversations$/).innerText()).replace(' conversations', '')
  await page.getByRole('radio', { name: 'Excel' }).check()
  // The URL contains the form.
  await page.reload()
  await page.getByText(`${count} conversations`).waitFor()
  expect(await page.getByRole('radio', { name: 'Excel' }).isChecked()).toBe(true)
  expect(await breaches(page)).toEqual([])

  await page.getByRole('button', { name: 'Create export' }).click()
  const row = page.getByRole('row').filter({ hasText: 'Asks for a person (affected)' })
  await row.getByText(`${count} rows`).waitFor()
  // The page also announces exports from other tests.
  await page.getByText('Export ready').first().waitFor()
  expect(await breaches(page)).toEqual([])
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    row.getByRole('link', { name: 'Download' }).click(),
  ])
  const book = read(await readFile(await download.path()))
  const sheets = book.SheetNames.map((name) => utils.sheet_to_json(book.Sheets[name] ?? {}).length)
  expect(sheets).toContain(Number(count.replaceAll(',', '')))

  await row.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Create again' }).click()
  await page.getByText(`${count} conversations`).waitFor()
})

it('says what the form is missing', async () => {
  const page = await open('/exports/new', 'viewer', { theme: 'dark' })
  await page.getByLabel('Started at or after').fill('2026-01-02T00:00')
  await page.getByLabel('Started before').fill('2026-01-01T00:00')
  await page.getByText('Choose at least one monitor').waitFor()
  expect(await page.getByRole('button', { name: 'Create export' }).isDisabled()).toBe(true)
  expect(await breaches(page)).toEqual([])
})

it('asks before deleting an export, and only lets members delete it', async () => {
  const config = {
    monitors: [{ id: await monitorId('Tool failed'), result: 'not_affected' }],
    since: '2020-01-01T00:00:00Z',
    until: '2020-01-02T00:00:00Z',
    timezone: 'UTC',
  }
  const { id } = await ask<{ id: string }>('POST', '/v1/monitor-exports', { operationId: crypto.randomUUID(), config })
  const page = await open('/exports', 'member')
  const row = page.getByRole('row').filter({ hasText: 'not affected' })
  await row.getByRole('link', { name: 'Download' }).waitFor()
  await row.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete file' }).click()
  await page.getByRole('button', { name: 'Delete file' }).click()
  await row.getByText('Expired').waitFor()
  expect(await ask('GET', `/v1/monitor-exports/${id}`)).toMatchObject({ status: 'expired', downloadPath: null })
})

it('creates one export on a double click, and keeps the input if it is rejected', async () => {
  const config = {
    monitors: [{ id: await monitorId('Tool failed') }],
    timezone: 'UTC',
    since: '2020-01-01T00:00:00Z',
    until: '2030-01-01T00:00:00Z',
  }
  const page = await open(`/exports/new?config=${encodeURIComponent(JSON.stringify(config))}`, 'viewer')
  await page.getByText(/^[\d,]+ conversations?$/).waitFor()
  let sent = 0
  await page.route('**/v1/monitor-exports', (route) => {
    if (route.request().method() !== 'POST') return route.continue()
    sent++
    return route.fulfill({ status: 429, json: { error: 'rate_limited', message: 'Too many requests.' } })
  })
  await page.getByRole('button', { name: 'Create export' }).dblclick()
  await page.getByRole('alert').getByText('Too many requests.').waitFor()
  expect(sent).toBe(1)
  expect(await page.getByLabel('Started at or after').inputValue()).toBe('2020-01-01T00:00')
  expect(await page.getByRole('combobox', { name: 'Time zone' }).inputValue()).toBe('UTC')
})

it('keeps incomplete input in the URL', async () => {
  const page = await open('/exports/new', 'viewer')
  await page.getByRole('radio', { name: 'Parquet' }).check()
  await page.getByRole('combobox', { name: 'Time zone' }).fill('UTC')
  await page.getByRole('option', { name: 'UTC', exact: true }).click()
  await page.waitForURL(/UTC/)
  await page.reload()
  expect(await page.getByRole('radio', { name: 'Parquet' }).isChecked()).toBe(true)
  expect(await page.getByRole('combobox', { name: 'Time zone' }).inputValue()).toBe('UTC')
})

it('shows the form if the URL is incomplete', async () => {
  const config = encodeURIComponent(JSON.stringify({ monitors: 5, timezone: 'Nowhere', since: 7 }))
  const page = await open(`/exports/new?config=${config}`, 'viewer')
  await page.getByText('Choose at least one monitor').waitFor()
})
