import { expect, it } from 'vitest'
import { ask, breaches, open } from './browser.ts'

const made = await ask<{ id: string }>('POST', '/v1/webhook-endpoints', {
  name: 'Warehouse',
  url: 'https://hooks.example.com/schedules',
})
await ask('POST', `/v1/webhook-endpoints/${made.id}/approve`, {})

it('makes a schedule, runs it by hand, pauses and resumes it, and deletes it', async () => {
  const page = await open('/exports', 'owner')
  await page.getByRole('link', { name: 'Schedules' }).click()
  await page.getByRole('link', { name: 'New schedule' }).first().click()
  await page.getByText('Give it a name.').waitFor()
  await page.getByLabel('Name', { exact: true }).fill('Calls of the day before')
  await page.getByLabel('Results of', { exact: true }).click()
  await page.getByRole('option', { name: 'Asks for a person' }).click()
  await page.keyboard.press('Escape')
  await page.getByRole('radio', { name: 'week' }).check()
  await page.getByLabel('On', { exact: true }).selectOption('Friday')
  await page.getByLabel('At', { exact: true }).fill('06:15')
  await page.getByRole('radio', { name: 'of the last days' }).check()
  await page.getByLabel('Days', { exact: true }).fill('366')
  await page.getByLabel('Minutes to settle').fill('0')
  await page.getByRole('radio', { name: 'A webhook' }).check()
  await page.getByLabel('Endpoint', { exact: true }).selectOption('https://hooks.example.com/schedules')
  expect(await breaches(page)).toEqual([])
  await page.getByRole('button', { name: 'Make the schedule' }).click()

  await page.getByRole('heading', { name: 'Calls of the day before' }).waitFor()
  await page.getByText('Each Friday at 06:15').waitFor()
  await page.getByText('It has not run yet').waitFor()
  await page.getByRole('button', { name: 'Run now' }).dblclick()
  await page.getByRole('row').filter({ hasText: 'by hand' }).getByText('Done').waitFor()
  expect(await page.getByRole('row').filter({ hasText: 'by hand' }).count()).toBe(1)
  expect(await breaches(page)).toEqual([])
  await page.getByRole('button', { name: 'Test the connection' }).click()
  await page.getByText('The connection works').waitFor()
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.getByRole('button', { name: 'Pause' }).waitFor()

  await page.getByRole('link', { name: 'Edit' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Calls of the year')
  expect(await page.getByLabel('At', { exact: true }).inputValue()).toBe('06:15')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: 'Calls of the year' }).waitFor()

  await page.goto(new URL('/exports', page.url()).href)
  await page.getByRole('link', { name: 'Calls of the day before' }).click()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete the schedule' }).click()
  await page.getByText('No schedule yet').waitFor()
})

it('keeps what was typed when a bucket does not work, and says why', async () => {
  const page = await open('/exports/schedules/new', 'owner', { theme: 'dark' })
  await page.getByLabel('Name', { exact: true }).fill('To nowhere')
  await page.getByLabel('Results of', { exact: true }).click()
  await page.getByRole('option', { name: 'Asks for a person' }).click()
  await page.keyboard.press('Escape')
  await page.getByLabel('Bucket', { exact: true }).fill('acme-exports')
  await page.getByLabel('Region').fill('eu-central-1')
  await page.getByLabel('Access key id').fill('AKIATEST')
  await page.getByLabel('Secret access key').fill('a-secret-that-stays')
  await page.getByLabel('Endpoint', { exact: true }).fill('https://10.0.0.1')
  await page.getByRole('button', { name: 'Make the schedule' }).click()
  await page.getByRole('alert').getByText('must have a public host').first().waitFor()
  expect(await page.getByLabel('Bucket', { exact: true }).inputValue()).toBe('acme-exports')
  expect(await breaches(page)).toEqual([])
})

it('shows them to whoever may read, with no way to change them', async () => {
  const page = await open('/exports/schedules', 'viewer', { viewport: { width: 320, height: 640 } })
  await page.getByRole('heading', { name: 'Export schedules' }).waitFor()
  await page.getByText('No schedule yet').waitFor()
  expect(await page.getByRole('link', { name: 'New schedule' }).count()).toBe(0)
  expect(await breaches(page)).toEqual([])
})
