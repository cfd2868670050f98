import { expect, it } from 'vitest'
import { breaches, open } from './browser.ts'

it('lists conversations, filters them in words, and keeps all of it in the address', async () => {
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

it('walks through rows by keyboard with the panel open', async () => {
  const page = await open('/conversations', 'member')
  await page.getByRole('grid', { name: 'Conversations' }).getByRole('row').nth(5).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await page.getByRole('complementary', { name: 'The selected conversation' }).waitFor()
  expect(await page.locator('[role=row][aria-selected=true]').getAttribute('aria-rowindex')).toBe('3')
  await page.keyboard.press('Escape')
  await page.getByRole('complementary', { name: 'The selected conversation' }).waitFor({ state: 'detached' })
})
