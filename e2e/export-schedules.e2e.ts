import { readFile } from 'node:fs/promises'
import { read, utils } from '@e965/xlsx'
import type { Locator, Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { ask, breaches, open } from './browser.ts'

const made = await ask<{ id: string }>('POST', '/v1/webhook-endpoints', {
  name: 'Warehouse',
  url: 'https://hooks.example.com/schedules',
})
await ask('POST', `/v1/webhook-endpoints/${made.id}/approve`, {})

it('creates a schedule, runs it manually, pauses, resumes, and deletes it', async () => {
  const page = await open('/exports', 'owner')
  await page.getByRole('link', { name: 'Schedules' }).click()
  await page.getByRole('link', { name: 'Create schedule' }).first().click()
  await page.getByText('Enter a name.').waitFor()
  await page.getByLabel('Name', { exact: true }).fill('Calls of the day before')
  await page.getByLabel('Monitors', { exact: true }).click()
  await page.getByRole('option', { name: 'Asks for a person' }).click()
  await page.keyboard.press('Escape')
  await page.getByRole('radio', { name: 'Weekly' }).check()
  await page.getByLabel('Weekday', { exact: true }).selectOption('Friday')
  await page.getByLabel('Time', { exact: true }).fill('06:15')
  await page.getByRole('radio', { name: 'Last N days' }).check()
  await page.getByLabel('Days', { exact: true }).fill('366')
  await page.getByLabel('Delay (minutes)').fill('0')
  await page.getByRole('radio', { name: 'Webhook' }).check()
  await page.getByLabel('Webhook endpoint', { exact: true }).selectOption('https://hooks.example.com/schedules')
  expect(await breaches(page)).toEqual([])
  await page.getByRole('button', { name: 'Create schedule' }).click()

  await page.getByRole('heading', { level: 1, name: 'Calls of the day before' }).waitFor()
  await page.getByText('Every Friday at 06:15').waitFor()
  await page.getByText('No runs yet').waitFor()
  await page.getByRole('button', { name: 'Run now' }).dblclick()
  await page.getByRole('row').filter({ hasText: 'manual' }).getByText('Completed').waitFor()
  expect(await page.getByRole('row').filter({ hasText: 'manual' }).count()).toBe(1)
  expect(await breaches(page)).toEqual([])
  await page.getByRole('button', { name: 'Test connection' }).click()
  await page.getByText('Connection works').waitFor()
  await page.getByRole('button', { name: 'Pause schedule' }).click()
  await page.getByRole('button', { name: 'Resume schedule' }).click()
  await page.getByRole('button', { name: 'Pause schedule' }).waitFor()

  await page.getByRole('link', { name: 'Edit' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Calls of the year')
  expect(await page.getByLabel('Time', { exact: true }).inputValue()).toBe('06:15')
  const saved = page.waitForRequest((request) => request.method() === 'PATCH')
  await page.getByRole('button', { name: 'Save changes' }).click()
  expect((await saved).postDataJSON()).toEqual({ name: 'Calls of the year' })
  await page.getByRole('heading', { level: 1, name: 'Calls of the year' }).waitFor()

  await page.goto(new URL('/exports', page.url()).href)
  await page.getByRole('link', { name: 'Calls of the day before' }).click()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete schedule' }).click()
  await page.getByText('No schedules yet').waitFor()
})

it('keeps the input and says why if the S3 bucket does not work', async () => {
  const page = await open('/exports/schedules/new', 'owner', { theme: 'dark' })
  await page.getByLabel('Name', { exact: true }).fill('To nowhere')
  await page.getByLabel('Monitors', { exact: true }).click()
  await page.getByRole('option', { name: 'Asks for a person' }).click()
  await page.keyboard.press('Escape')
  await page.getByLabel('Bucket', { exact: true }).fill('acme-exports')
  await page.getByLabel('Region').fill('eu-central-1')
  await page.getByLabel('Access key ID').fill('AKIATEST')
  await page.getByLabel('Secret access key').fill('a-secret-that-stays')
  await page.getByLabel('Endpoint', { exact: true }).fill('https://10.0.0.1')
  await page.getByRole('button', { name: 'Create schedule' }).click()
  await page.getByRole('alert').getByText('must have a public host').first().waitFor()
  expect(await page.getByLabel('Bucket', { exact: true }).inputValue()).toBe('acme-exports')
  expect(await breaches(page)).toEqual([])
})

it('shows viewers schedules without edit buttons', async () => {
  const page = await open('/exports/schedules', 'viewer', { viewport: { width: 320, height: 640 } })
  await page.getByRole('heading', { level: 1, name: 'Export schedules' }).waitFor()
  await page.getByText('No schedules yet').waitFor()
  expect(await page.getByRole('link', { name: 'Create schedule' }).count()).toBe(0)
  expect(await breaches(page)).toEqual([])
})

/** Counts a person's actions: each click, each typed text, and each key. */
const counted = (page: Page) => {
  let actions = 0
  return {
    count: () => actions,
    click: async (target: Locator) => {
      actions++
      await target.click()
    },
    choose: async (target: Locator, option: string) => {
      actions++
      await target.selectOption(option)
    },
    press: async (key: string) => {
      actions++
      await page.keyboard.press(key)
    },
    type: async (text: string) => {
      actions++
      await page.keyboard.type(text)
    },
  }
}

type ListedConversation = { id: string; metadata: { plan?: string }; agentId: string }

it('an analyst saves, exports, and schedules a list in at most 14 actions', async () => {
  const { data: agents } = await ask<{ data: { id: string; name: string }[] }>('GET', '/v1/agents')
  const agent = agents.at(-1)
  const page = await open('/conversations', 'owner')
  await page.getByRole('grid', { name: 'Conversations' }).getByRole('row').nth(5).waitFor()
  const { click, choose, press, type, count } = counted(page)

  // Last week's conversations of one agent, affected according to one monitor, with gold customers.
  await press('f')
  await type(`started: last week and agent: ${agent?.name} and affected: Asks for a person and plan is gold`)
  await press('Enter')
  await page.getByRole('button', { name: 'Edit plan is gold' }).waitFor()
  for (const chip of ['started: last week', `agent: ${agent?.name}`, 'affected: Asks for a person']) {
    await page.getByRole('button', { name: `Edit ${chip}` }).waitFor()
  }

  // Save it as a view.
  await click(page.getByRole('button', { name: 'Save view' }))
  await page.getByRole('dialog').locator('input:focus').waitFor()
  await type('Gold customers who ask for a person')
  await press('Enter')
  await page.getByRole('link', { name: 'Gold customers who ask for a person' }).waitFor()
  await page.getByRole('button', { name: 'Update view' }).waitFor({ state: 'detached' })
  const filter = JSON.parse(new URL(page.url()).searchParams.get('filter') ?? '{}')

  // As an Excel file.
  await click(page.getByRole('button', { name: 'Export', exact: true }))
  await click(page.getByRole('menuitem', { name: 'Excel' }))
  const row = page.getByRole('row').filter({ hasText: 'plan is gold' })
  const link = row.getByRole('link', { name: 'Download' })
  await link.waitFor()

  // Every week.
  await click(row.getByRole('link', { name: 'Schedule this' }))
  await click(page.getByRole('radio', { name: 'Webhook' }))
  await choose(page.getByLabel('Webhook endpoint', { exact: true }), 'https://hooks.example.com/schedules')
  await click(page.getByRole('button', { name: 'Create schedule' }))
  await page.getByRole('heading', { level: 1, name: 'Conversations as Excel' }).waitFor()
  expect(count()).toBeLessThanOrEqual(14)

  await page.getByText('Every Monday at 01:00').waitFor()
  await page.getByText(/plan is gold, affected: Asks for a person/).waitFor()
  const search = { filter, limit: 200 }
  const { data } = await ask<{ data: ListedConversation[] }>('POST', '/v1/conversations/search', search)
  expect(data.every(({ metadata, agentId }) => metadata.plan === 'gold' && agentId === agent?.id)).toBe(true)
  await page.goto(new URL('/exports', page.url()).href)
  const [download] = await Promise.all([page.waitForEvent('download'), link.first().click()])
  const book = read(await readFile(await download.path()))
  const sheet = utils.sheet_to_json<{ conversation_id: string }>(book.Sheets.Conversations ?? {})
  expect(sheet.map(({ conversation_id }) => conversation_id)).toEqual(data.map(({ id }) => id))
})
