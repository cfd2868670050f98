import { expect, it as test } from 'vitest'
import { ask, breaches, open, quiet } from './browser.ts'

type Topic = { id: string; label: string; isGroup: boolean; groupId: string | null; conversations: number }
type List = { builtAt: string | null; data: Topic[] }

/** Topics are first built a minute after the first conversations of the demo are embedded. */
const mostWaitingMs = 150_000

const it = (name: string, run: () => Promise<void>) => test(name, { timeout: mostWaitingMs + 60_000 }, run)

const listTopics = () => ask<List>('GET', '/v1/topics?sort=size')

/** Returns topics with terms, largest first. */
const largest = async (): Promise<[Topic, Topic]> => {
  const find = async () =>
    (await listTopics()).data.filter(
      ({ isGroup, label, conversations }) => !isGroup && label !== '' && conversations > 0,
    )
  // Stored conversations are assigned to topics after the build.
  const counts: number[] = []
  const isAssigned = async () => {
    counts.push((await find()).reduce((sum, { conversations }) => sum + conversations, 0))
    return (counts.at(-1) ?? 0) > 0 && counts.at(-1) === counts.at(-2)
  }
  await expect.poll(isAssigned, { timeout: mostWaitingMs, interval: 1_000 }).toBe(true)
  const [first, second] = await find()
  if (!first || !second) throw new Error('the demo has too few topics')
  return [first, second]
}

it('lists topics with their shares, and opens their conversations', async () => {
  const [topic] = await largest()
  const page = await open('/topics?sort=size', 'viewer')
  const table = page.getByRole('region', { name: 'Topics' })
  await table.getByRole('link', { name: topic.label, exact: true }).waitFor()
  expect(await table.getByText(/\d–\d.*% · n = /).count()).toBeGreaterThan(0)
  expect(await breaches(page)).toEqual([])
  const counted = table.getByRole('link', { name: new RegExp(`^${topic.label}: \\d+ conversations$`) })
  const label = (await counted.getAttribute('aria-label')) ?? ''
  const count = Number(/(\d+) conversations/.exec(label)?.[1])
  await counted.click()
  await page.getByText(`${count} conversations`).first().waitFor()
  await page.getByRole('button', { name: `Edit topic: ${topic.label}` }).waitFor()
})

it('shows a topic with its course and typical conversations, and fits a small screen', async () => {
  const [topic] = await largest()
  const page = await open(`/topics/${topic.id}`, 'viewer')
  await page.getByRole('heading', { level: 1, name: topic.label }).waitFor()
  await page.getByRole('group', { name: 'Share of all conversations by day' }).waitFor()
  const typical = page.getByRole('region', { name: 'Typical conversations' })
  await typical.getByRole('link').first().waitFor()
  await page.getByRole('region', { name: 'History' }).getByText('Found for the first time').waitFor()
  expect(await page.getByRole('link', { name: 'Make it a monitor' }).count()).toBe(0)
  expect(await breaches(page)).toEqual([])
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await breaches(page, { only: 'colors' })).toEqual([])
  await page.setViewportSize({ width: 320, height: 640 })
  await quiet(page)
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320)
  await typical.getByRole('link').first().click()
  await page.waitForURL(/\/conversations\/[0-9a-f-]{36}/)
})

it('renames a topic, hides it, and lists hidden ones', async () => {
  const { id, label } = (await largest())[1]
  const page = await open(`/topics/${id}`, 'member')
  const act = async (name: string) => {
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name }).click()
  }
  await act('Rename…')
  await page.getByRole('dialog', { name: 'Rename topic' }).getByLabel('Name').fill('Things people ask')
  expect(await breaches(page)).toEqual([])
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Things people ask' }).waitFor()
  await act('Hide')
  await page.getByText('Hidden', { exact: true }).waitFor()
  await page.goto(new URL('/topics', page.url()).href)
  const listed = page.getByRole('link', { name: 'Things people ask', exact: true })
  await page.getByRole('region', { name: 'Topics' }).waitFor()
  expect(await listed.count()).toBe(0)
  await page.getByLabel('Show hidden').check()
  await listed.click()
  await act('Show in lists')
  await act('Rename…')
  await page.getByRole('dialog', { name: 'Rename topic' }).getByLabel('Name').fill('')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: label || 'Topic without a name' }).waitFor()
})

it('merges a topic into another, and separates them again', async () => {
  const [into, topic] = await largest()
  const page = await open(`/topics/${topic.id}`, 'member')
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Merge…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('combobox', { name: 'Merge into' }).fill(into.label)
  await page.getByRole('option', { name: into.label }).first().click()
  await dialog.getByRole('button', { name: 'Merge topic' }).click()
  await page.getByRole('heading', { level: 1, name: into.label }).waitFor()
  const merged = page.getByRole('region', { name: 'Merged topics' })
  await merged.getByRole('link', { name: topic.label }).waitFor()
  expect(await breaches(page)).toEqual([])
  await merged.getByRole('button', { name: `Separate ${topic.label}` }).click()
  await merged.waitFor({ state: 'detached' })
  expect((await listTopics()).data.map(({ id }) => id)).toContain(topic.id)
})

it('makes a monitor of a topic without one, and tries it on examples before it is saved', async () => {
  const [topic] = await largest()
  const page = await open('/topics?tab=uncovered', 'member')
  const table = page.getByRole('region', { name: 'Topics without a monitor' })
  // Other tests make monitors that are affected in every conversation, and so cover every topic.
  const draft = table.getByRole('link', { name: 'Make it a monitor' })
  await draft
    .or(page.getByRole('heading', { name: 'All topics are covered' }))
    .first()
    .waitFor()
  expect(await breaches(page)).toEqual([])
  await page.goto(new URL(`/topics/${topic.id}`, page.url()).href)
  await page.getByRole('link', { name: 'Make it a monitor' }).click()
  await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe(topic.label)
  expect(await page.getByLabel('Criteria').inputValue()).toContain(topic.label)
  await page.getByRole('radio', { name: 'Rule', exact: true }).check({ force: true })
  const preview = page.getByRole('list', { name: 'Preview' })
  await preview.getByText('example: affected').first().waitFor()
  await preview.getByText('example: not affected').first().waitFor()
  expect(await breaches(page)).toEqual([])
})
