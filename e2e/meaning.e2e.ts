import { expect, it } from 'vitest'
import { ask, breaches, open } from './browser.ts'

type Created = { id: string }
type Found = { data: Created[] }

const saying = (text: string) => ({
  externalId: `parrot ${crypto.randomUUID()}`,
  agent: { externalId: 'parrots', name: 'Parrot line', channel: 'voice' },
  channel: 'call',
  startedAt: new Date().toISOString(),
  transcript: [
    { role: 'agent', text: 'Parrot line, how can I help you?' },
    { role: 'customer', text },
  ],
})

const query = 'my bird escaped through the window'
const filter = { similarTo: { text: query } }

/** Creates conversations about the query, and waits until they can be found. Returns the first one. */
const makeParrots = async (): Promise<string> => {
  const texts = ['My parrot flew away through an open window.', 'Our bird escaped out of the window this morning.']
  const ids: string[] = []
  for (const text of texts) ids.push((await ask<Created>('POST', '/v1/conversations', saying(text))).id)
  const find = async () => (await ask<Found>('POST', '/v1/conversations/search', { filter })).data.map(({ id }) => id)
  await expect.poll(find, { timeout: 40_000 }).toEqual(expect.arrayContaining(ids))
  return ids[0] ?? ''
}

it('finds conversations by a typed meaning, edits it in place, and excludes it', async () => {
  await makeParrots()
  const page = await open('/conversations', 'viewer')
  await page.getByRole('combobox', { name: 'Add filter' }).fill(`means ${query}`)
  await page.getByRole('option', { name: `meaning: ${query}` }).click()
  const chip = page.getByRole('button', { name: `Edit meaning: ${query}` })
  await chip.waitFor()
  await page.getByRole('columnheader', { name: 'Similarity' }).waitFor()
  const address = () => new URL(page.url()).searchParams
  expect(JSON.parse(address().get('filter') ?? '')).toEqual(filter)
  expect(JSON.parse(address().get('sort') ?? '')).toEqual({ by: 'similarity', direction: 'desc' })
  expect(await breaches(page)).toEqual([])
  await page.getByRole('grid', { name: 'Conversations' }).getByRole('row').nth(1).click()
  await expect.poll(() => address().get('turn')).toBe('1')

  await chip.click()
  const edited = 'meaning: a sentence about nothing of this, at least 0.99'
  await page.getByRole('combobox', { name: 'Edit filter' }).fill(edited)
  await page.getByRole('option', { name: edited }).click()
  await page.getByRole('heading', { name: 'No conversations with this meaning' }).waitFor()
  expect(await breaches(page)).toEqual([])
  await page.getByRole('button', { name: `Exclude ${edited}` }).click()
  await page.getByRole('button', { name: `Edit not ${edited}` }).waitFor()
  expect(address().get('sort')).toBeNull()
})

it('finds more like a conversation, and like one of its turns', async () => {
  const first = await makeParrots()
  const page = await open(`/conversations/${first}`, 'viewer')
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'More like this' }).click()
  await page.getByRole('button', { name: `Edit meaning: conversation ${first}` }).waitFor()
  await page.getByRole('columnheader', { name: 'Similarity' }).waitFor()

  await page.goto(new URL(`/conversations/${first}`, page.url()).href)
  await page.getByRole('list', { name: 'Turns' }).getByText('My parrot flew away').selectText()
  await page.getByRole('link', { name: 'More like this turn' }).click()
  await page.getByRole('button', { name: `Edit meaning: turn 2 of ${first}` }).waitFor()
})

it('shows similar findings while one is filed, and finds conversations like a finding', async () => {
  const title = 'Parrots escape through open windows'
  const { id } = await ask<Created>('POST', '/v1/findings', { title })
  const page = await open('/findings', 'member')
  await page.getByRole('button', { name: 'Create finding' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Create finding' })
  await dialog.getByLabel('Title').fill('Birds fly out of the open window')
  const similar = dialog.getByRole('region', { name: 'Similar findings' })
  expect(await similar.getByRole('link', { name: title }).getAttribute('href')).toBe(`/findings/${id}`)
  expect(await breaches(page)).toEqual([])

  await page.goto(new URL(`/findings/${id}`, page.url()).href)
  await page.getByRole('link', { name: 'More like this' }).click()
  await page.getByRole('button', { name: `Edit meaning: ${title}` }).waitFor()
})
