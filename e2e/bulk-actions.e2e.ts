import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { ask, breaches, open } from './browser.ts'

/** Creates conversations of one customer, which no other test uses. */
const makeConversations = async (customerId: string, count: number): Promise<string[]> => {
  const conversations = Array.from({ length: count }, (_, at) => ({
    externalId: `${customerId}-${at}`,
    agent: { externalId: 'demo-leo', name: 'Leo, support', channel: 'voice' },
    channel: 'call',
    startedAt: new Date(Date.now() - 60_000 - at * 1_000).toISOString(),
    customerId,
    transcript: [{ role: 'customer', text: 'Hello.' }],
  }))
  const { data } = await ask<{ data: { id: string }[] }>('POST', '/v1/conversations/batch', { conversations })
  return data.map(({ id }) => id)
}

const addressOf = (customerId: string) => `/conversations?filter=${encodeURIComponent(JSON.stringify({ customerId }))}`

/** Selects the first two of three rows by keyboard. */
const selectTwo = async (page: Page) => {
  const grid = page.getByRole('grid', { name: 'Conversations' })
  await grid.getByRole('row').nth(3).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  await grid.focus()
  await page.keyboard.press('Shift+ArrowDown')
  const selected = page.getByRole('region', { name: 'Selected rows' })
  await selected.getByText('2 conversations selected').waitFor()
  return selected
}

const tagsOf = async (id: string) => (await ask<{ tags: string[] }>('GET', `/v1/conversations/${id}/tags`)).tags

it('tags selected rows by keyboard, shows the progress after leaving the page, and undoes it', async () => {
  const [first = '', second = '', third = ''] = await makeConversations('bulk-tags', 3)
  const page = await open(addressOf('bulk-tags'), 'member')
  const selected = await selectTwo(page)
  await selected.getByRole('button', { name: 'Tag', exact: true }).press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Tag conversations' })
  await dialog.getByRole('combobox', { name: 'Add tags' }).fill('E2E Refund')
  await page.getByRole('option', { name: 'New tag “e2e refund”' }).waitFor()
  await page.keyboard.press('Enter')
  await page.keyboard.type('vip,')
  await dialog.getByLabel('vip', { exact: true }).waitFor()
  await dialog.getByLabel('e2e refund', { exact: true }).waitFor()
  // The suggestions close.
  await page.keyboard.press('Tab')
  await page.getByRole('listbox').waitFor({ state: 'detached' })
  expect(await breaches(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Tag conversations' }).click()
  const progress = page.getByRole('region', { name: 'Bulk actions' })
  await progress.getByText('Add tag “e2e refund”, “vip”').waitFor()
  await progress.getByText('2 conversations changed').waitFor()
  await selected.waitFor({ state: 'detached' })
  expect(await Promise.all([first, second, third].map(tagsOf))).toEqual([
    ['e2e refund', 'vip'],
    ['e2e refund', 'vip'],
    [],
  ])
  expect(await breaches(page)).toEqual([])
  await page.getByRole('link', { name: 'Findings' }).click()
  await page.getByRole('heading', { level: 1, name: 'Findings' }).waitFor()
  await page.goBack()
  await progress.getByRole('button', { name: 'Undo' }).click()
  await progress.getByText('Undo: Add tag “e2e refund”, “vip”').waitFor()
  await progress.getByText('2 conversations changed').waitFor()
  await expect.poll(() => tagsOf(first)).toEqual([])
  await progress.getByRole('button', { name: /^Dismiss/ }).click()
  await progress.getByRole('listitem').waitFor({ state: 'detached' })
})

it('erases all conversations that match, after the number was typed', async () => {
  const ids = await makeConversations('bulk-erase', 120)
  const page = await open(addressOf('bulk-erase'), 'owner')
  const grid = page.getByRole('grid', { name: 'Conversations' })
  await grid.getByRole('row').nth(3).waitFor()
  await grid.getByRole('checkbox', { name: 'Select all loaded rows' }).check()
  const selected = page.getByRole('region', { name: 'Selected rows' })
  await selected.getByRole('button', { name: 'Select all 120 that match' }).click()
  await selected.getByText('All 120 conversations selected').waitFor()
  await selected.getByRole('button', { name: 'Erase' }).click()
  const dialog = page.getByRole('dialog', { name: 'Erase 120 conversations?' })
  const erase = dialog.getByRole('button', { name: 'Erase 120 conversations' })
  expect(await erase.isDisabled()).toBe(true)
  await dialog.getByLabel('Type “erase 120” to confirm').fill('erase 120')
  expect(await breaches(page)).toEqual([])
  await erase.click()
  await page.getByRole('region', { name: 'Bulk actions' }).getByText('120 conversations erased').waitFor()
  await page.getByText('No conversations match').waitFor()
  const { count } = await ask<{ count: number }>('POST', '/v1/conversations/count', {
    filter: { customerId: 'bulk-erase' },
  })
  expect(count).toBe(0)
  expect(ids).toHaveLength(120)
})

it('members cannot erase, and the bar fits a narrow screen', async () => {
  await makeConversations('bulk-narrow', 2)
  const page = await open(addressOf('bulk-narrow'), 'member', { viewport: { width: 320, height: 640 } })
  await page
    .getByRole('checkbox', { name: /^Select conversation/ })
    .first()
    .click()
  const selected = page.getByRole('region', { name: 'Selected rows' })
  await selected.getByRole('button', { name: 'Assign reviewer' }).waitFor()
  expect(await selected.getByRole('button', { name: 'Erase' }).count()).toBe(0)
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320)
  expect(await breaches(page)).toEqual([])
})

it('assigns a reviewer, who completes the review on the conversation’s page', async () => {
  const [id = ''] = await makeConversations('bulk-review', 1)
  const page = await open(addressOf('bulk-review'), 'member')
  const { member } = await page.evaluate<{ member: { name: string } }>(
    "fetch('/v1/me').then((answer) => answer.json())",
  )
  await page
    .getByRole('checkbox', { name: /^Select conversation/ })
    .first()
    .click()
  await page.getByRole('button', { name: 'Assign reviewer' }).click()
  const dialog = page.getByRole('dialog', { name: 'Assign reviewer' })
  await dialog.getByRole('combobox', { name: 'Reviewer' }).fill(member.name)
  await page.getByRole('option', { name: member.name }).first().click()
  await dialog.getByRole('button', { name: 'Assign reviewer' }).click()
  await page.getByRole('region', { name: 'Bulk actions' }).getByText('1 conversation changed').waitFor()
  await page.goto(new URL('/review', page.url()).href)
  await page.locator(`a[href*="${id}"]`, { hasText: 'Assigned' }).first().click()
  await page.waitForURL(new RegExp(id))
  const form = page.getByRole('form', { name: 'Your review' })
  await form.getByLabel('Overall rating').selectOption('4')
  expect(await breaches(page)).toEqual([])
  await form.getByRole('button', { name: 'Complete review' }).click()
  await form.waitFor({ state: 'detached' })
  await page.getByText('reviewed, 4 of 5').waitFor()
})

it('runs a monitor on selected rows', async () => {
  await makeConversations('bulk-run', 2)
  const page = await open(addressOf('bulk-run'), 'member')
  await page
    .getByRole('checkbox', { name: /^Select conversation/ })
    .first()
    .click()
  await page.getByRole('button', { name: 'Run monitor' }).click()
  const dialog = page.getByRole('dialog', { name: 'Run monitor' })
  await dialog.getByRole('combobox', { name: 'Monitor' }).fill('Tool failed')
  await page.getByRole('option', { name: 'Tool failed' }).click()
  await dialog.getByText('1 conversation', { exact: true }).waitFor()
  expect(await breaches(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Evaluate 1 conversation' }).click()
  await page.getByText('Tool failed is running').waitFor()
})

it('edits the tags of a conversation, shows them in a column, and filters by them', async () => {
  const [id = ''] = await makeConversations('own-tags', 2)
  const page = await open(`/conversations/${id}`, 'member')
  await page.getByRole('button', { name: 'Edit tags' }).click()
  const form = page.getByRole('form', { name: 'Tags' })
  await form.getByRole('combobox', { name: 'Tags' }).fill('e2e-legal')
  await page.getByRole('option', { name: 'New tag “e2e-legal”' }).click()
  expect(await breaches(page)).toEqual([])
  await form.getByRole('button', { name: 'Save tags' }).click()
  await page.getByRole('link', { name: 'e2e-legal' }).click()
  await page.getByText('1 conversation', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Edit tag: e2e-legal' }).waitFor()
  await page.getByRole('button', { name: 'Choose columns' }).click()
  const columns = page.getByRole('dialog', { name: 'Columns' })
  await columns.getByRole('combobox', { name: 'Add column' }).fill('Tags')
  await page.getByRole('option', { name: 'Tags' }).first().click()
  await columns.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('grid', { name: 'Conversations' }).getByText('e2e-legal').waitFor()
  await page.getByRole('combobox', { name: 'Add filter' }).fill('e2e-l')
  await page.getByRole('option', { name: /^tag: e2e-legal/ }).waitFor()
})

it('exports only the selected rows', async () => {
  await makeConversations('bulk-export', 3)
  const page = await open(addressOf('bulk-export'), 'member')
  const selected = await selectTwo(page)
  await selected.getByRole('button', { name: 'Export selected' }).click()
  const created = page.waitForResponse(
    (response) => response.url().endsWith('/v1/conversation-exports') && response.request().method() === 'POST',
  )
  await page.getByRole('menuitem', { name: 'CSV' }).click()
  const { id } = (await (await created).json()) as { id: string }
  const read = () => ask<{ status: string; rowCount: number | null }>('GET', `/v1/conversation-exports/${id}`)
  await expect.poll(async () => (await read()).status).toBe('completed')
  expect((await read()).rowCount).toBe(2)
  await page.getByRole('heading', { level: 1, name: 'Exports' }).waitFor()
})
