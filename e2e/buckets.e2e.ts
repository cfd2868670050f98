import { expect, it } from 'vitest'
import { ask, breaches, conversationIds, monitorId, open, origin } from './browser.ts'

type Listed<T> = { data: T[] }

it('creates a random sample, shows it in words, edits it, and deletes it', async () => {
  const page = await open('/buckets', 'member')
  await page.getByRole('region', { name: 'Buckets' }).waitFor()
  await page.getByRole('button', { name: 'Create bucket' }).click()
  await page.getByRole('heading', { name: 'Create bucket' }).waitFor()
  await page.getByRole('button', { name: 'Create bucket' }).click()
  await page.getByText('Name is required.').waitFor()
  await page.getByLabel('Name').fill('A tenth of the chats')
  await page.getByRole('radio', { name: 'Random sample' }).check()
  await page.getByLabel('Sampling rate (%)').fill('400')
  await page.getByRole('combobox', { name: 'Add filter' }).fill('channel: chats')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Edit channel: chats' }).waitFor()
  await page.getByLabel('Monitors').fill('Left waiting')
  await page.keyboard.press('Enter')
  await page.getByLabel('Reviews per conversation').selectOption('2')
  await page.getByLabel('Blind review').check()
  await page.getByRole('button', { name: 'Create bucket' }).click()
  await expect.poll(() => page.getByLabel('Sampling rate (%)').getAttribute('aria-invalid')).toBe('true')
  expect(await page.getByLabel('Name').inputValue()).toBe('A tenth of the chats')
  await page.getByLabel('Sampling rate (%)').fill('10')
  await page.getByRole('button', { name: 'Create bucket' }).click()
  await page.getByRole('heading', { level: 1, name: 'A tenth of the chats' }).waitFor()
  await page
    .getByText(/10% of .*chats/)
    .first()
    .waitFor()
  await page.getByRole('heading', { name: 'No conversations yet' }).waitFor()

  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Edit bucket…' }).click()
  await page.getByRole('radio', { name: 'Per week' }).check()
  await page.getByRole('link', { name: 'Companies' }).click()
  await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Stay' }).click()
  await page.getByLabel('Conversations per week').fill('20')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page
    .getByText(/20 conversations per week of .*chats/)
    .first()
    .waitFor()

  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete bucket…' }).click()
  await page.getByRole('button', { name: 'Delete bucket' }).click()
  await page.getByRole('heading', { level: 1, name: 'Buckets' }).waitFor()
  await page.getByRole('link', { name: 'A tenth of the chats' }).waitFor({ state: 'detached' })
})

it('adds conversations with a filter, and links every number to them', async () => {
  const { id } = await ask<{ id: string }>('POST', '/v1/buckets', { name: 'Put in by a filter', type: 'static' })
  const page = await open(`/buckets/${id}`, 'member')
  await page.getByRole('heading', { name: 'No conversations yet' }).waitFor()
  await page.getByRole('button', { name: 'Add conversations' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('combobox', { name: 'Add filter' }).fill('voicemail')
  await page.keyboard.press('Enter')
  await dialog.getByRole('button', { name: 'Edit channel: voicemail' }).waitFor()
  await dialog.getByLabel('Number of conversations').fill('30')
  await dialog.getByRole('button', { name: 'Add 30 conversations' }).click()
  await page.getByText('30 conversations added').waitFor()
  const table = page.getByRole('region', { name: 'Conversations in this bucket' })
  await table.getByRole('row').nth(20).waitFor()
  await table.getByRole('button', { name: 'Remove' }).first().click()
  await page.getByRole('button', { name: 'Remove conversation' }).click()
  const progress = page.getByRole('region', { name: 'Progress' })
  await progress.getByRole('link', { name: '29' }).nth(1).click()
  await expect.poll(() => new URL(page.url()).searchParams.get('status')).toBe('waiting')
  await progress.getByRole('link', { name: '29' }).first().click()
  await page.getByText('29 conversations').waitFor()
})

it('lets an admin adjudicate disagreements, and shows the agreement', async () => {
  const asks = await monitorId('Asks for a person')
  const { id } = await ask<{ id: string }>('POST', '/v1/buckets', {
    name: 'Two opinions',
    type: 'static',
    monitorIds: [asks],
    reviewsPerConversation: 2,
  })
  await ask('POST', `/v1/buckets/${id}/conversations`, {
    conversationIds: await conversationIds(1, { monitors: [{ id: asks, result: 'all' }] }),
  })
  const mine = await ask<{ id: string }>('POST', `/v1/buckets/${id}/claim`)
  await ask('PATCH', `/v1/reviews/${mine.id}`, {
    status: 'completed',
    judgments: [{ monitorId: asks, correctResult: 'affected' }],
  })
  const member = await open(`/review/${id}`, 'member')
  await member.getByRole('list', { name: 'Judgments' }).waitFor()
  await member.keyboard.press('2')
  await member.keyboard.press('Enter')
  await member.getByRole('heading', { name: 'All done' }).waitFor()

  const page = await open(`/buckets/${id}?status=adjudication`, 'owner')
  await page.getByText('Disagreement', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Adjudicate' }).click()
  const dialog = page.getByRole('dialog', { name: 'Adjudicate disagreement' })
  await dialog.getByText('Mira Member').waitFor()
  await dialog.getByText('Olga Owner').waitFor()
  expect(await breaches(page)).toEqual([])
  await page.reload()
  await dialog.getByRole('radio', { name: 'Not affected' }).check()
  await dialog.getByRole('button', { name: 'Adjudicate', exact: true }).click()
  await page.getByText('Disagreement adjudicated').waitFor()
  await page.getByRole('heading', { name: 'No conversations with this status' }).waitFor()
  await page
    .getByRole('region', { name: 'Agreement with the monitors' })
    .getByText(/n = \d/)
    .first()
    .waitFor()
  const decided = await ask<Listed<{ adjudicates: boolean }>>('GET', `/v1/reviews?bucketId=${id}&status=completed`)
  expect(decided.data.filter(({ adjudicates }) => adjudicates)).toHaveLength(1)
})

it('shows viewers everything except buttons they may not use', async () => {
  const page = await open('/buckets?make=true', 'viewer')
  await page.getByRole('region', { name: 'Buckets' }).getByRole('row').nth(1).waitFor()
  expect(await page.getByRole('button', { name: 'Create bucket' }).count()).toBe(0)
  await page.getByRole('link', { name: 'Customers who want a person' }).click()
  await page.getByRole('region', { name: 'Conversations in this bucket' }).getByRole('row').nth(1).waitFor()
  for (const name of [/Add conversations/, /More actions/, /Remove/, /Adjudicate/])
    expect(await page.getByRole('button', { name }).count()).toBe(0)
  expect(await page.getByRole('link', { name: 'Start reviewing' }).count()).toBe(0)
})

it.each(['light', 'dark'] as const)('meets WCAG 2.2 AA (%s) and fits 320 pixels', async (theme) => {
  const page = await open('/buckets', 'member', { theme })
  await page.getByRole('region', { name: 'Buckets' }).getByRole('row').nth(1).waitFor()
  expect(await breaches(page)).toEqual([])
  await page.getByRole('link', { name: 'Customers who want a person' }).click()
  await page.getByRole('region', { name: 'Conversations in this bucket' }).getByRole('row').nth(1).waitFor()
  expect(await breaches(page)).toEqual([])
  await page.setViewportSize({ width: 320, height: 640 })
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
  await page.goto(`${origin}/buckets?make=true`)
  await page.getByRole('radio', { name: 'Random sample' }).check()
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
  expect(await breaches(page)).toEqual([])
})
