import { expect, it } from 'vitest'
import { ask, breaches, conversationIds, monitorId, open } from './browser.ts'

type Created = { id: string }
type Result = { monitorId: string; score: number | null }

const unique = (name: string) => `${name} ${crypto.randomUUID().slice(0, 8)}`

const definitionOf = (items: object[]) => ({
  sections: [{ name: 'Service', items }],
  bands: [
    { name: 'Fail', from: 0 },
    { name: 'Pass', from: 80 },
  ],
  affectedBelow: 80,
})

/** Creates a scorecard from two of the demo's monitors, and computes it for a conversation that loses points. */
const makeScorecard = async (name: string) => {
  const [asks, tool] = [await monitorId('Asks for a person'), await monitorId('Tool failed')]
  const items = [
    { monitorId: asks, points: 30 },
    { monitorId: tool, points: 10, autoFail: true },
  ]
  const definition = definitionOf(items)
  const { id } = await ask<Created>('POST', '/v1/monitors', { name, kind: 'scorecard', definition })
  const monitors = [
    { id: asks, result: 'affected' },
    { id: tool, result: 'not_affected' },
  ]
  const [conversationId = ''] = await conversationIds(1, { monitors })
  await ask('POST', `/v1/monitors/${id}/evaluations`, { conversationIds: [conversationId] })
  const scoreOf = async () => {
    const { data } = await ask<{ data: Result[] }>('GET', `/v1/conversations/${conversationId}/results`)
    return data.find((result) => result.monitorId === id)?.score
  }
  await expect.poll(scoreOf, { timeout: 15_000 }).toBe(25)
  return { id, conversationId }
}

it('creates a scorecard from monitors, and shows its breakdown', async () => {
  const name = unique('Call quality')
  const page = await open('/monitors/new', 'member')
  await page.getByRole('radio', { name: 'Scorecard' }).check({ force: true })
  await page.getByLabel('Name', { exact: true }).first().fill(name)
  await page.getByLabel('Section', { exact: true }).fill('Service')
  for (const item of ['Asks for a person', 'Tool failed', 'Is interrupted']) {
    await page.getByRole('combobox', { name: 'Add a monitor to Service' }).fill(item)
    await page.getByRole('option', { name: item }).click()
    await page.getByRole('list', { name: 'Items in Service' }).getByText(item, { exact: true }).waitFor()
  }
  const items = page.getByRole('list', { name: 'Items in Service' })
  await items.getByRole('button', { name: 'Remove is interrupted' }).click()
  await items.getByRole('listitem', { name: 'Asks for a person' }).getByLabel('Points').fill('30')
  await items.getByRole('button', { name: 'Move Tool failed up' }).press('Enter')
  await expect.poll(() => items.locator('strong').allTextContents()).toEqual(['Tool failed', 'Asks for a person'])
  await items.getByRole('listitem', { name: 'Tool failed' }).getByLabel('Fails the whole scorecard').check()
  await page.getByRole('region', { name: 'Points' }).getByRole('row', { name: 'Service 2 40 100%' }).waitFor()
  expect(await breaches(page)).toEqual([])
  await page.getByRole('button', { name: 'Create monitor' }).click()
  await page.getByRole('heading', { level: 1, name }).waitFor()
  await page
    .getByRole('table', { name: 'Service' })
    .getByRole('row', { name: /Tool failed.*fails the whole/ })
    .waitFor()
  await page.getByText('Affected below 80. Bands: Fail from 0, Pass from 80.').waitFor()
  expect(await breaches(page)).toEqual([])

  const shown = new URL(page.url()).pathname.split('/')[2]
  await page.goto(new URL(`/monitors/${shown}/edit`, page.url()).href)
  await page.getByLabel('Affected if the score is below').fill('70')
  await page.getByRole('button', { name: 'Save as version 2' }).click()
  await page.getByText('Affected below 70.').waitFor()
})

it('explains what is wrong with a scorecard', async () => {
  const page = await open('/monitors/new?kind=scorecard', 'member')
  await page.getByLabel('Name', { exact: true }).first().fill(unique('Empty'))
  await page.getByRole('button', { name: 'Create monitor' }).click()
  await page.getByRole('alert').first().waitFor()
  expect(await breaches(page)).toEqual([])
})

it('shows the items with their evidence, on a conversation and in the list of results', async () => {
  const name = unique('Shown')
  const { id, conversationId } = await makeScorecard(name)
  const page = await open(`/conversations/${conversationId}`, 'viewer')
  const result = page.getByRole('region', { name: 'Monitors' }).getByRole('listitem').filter({ hasText: name }).first()
  const card = result.getByRole('region', { name: 'Scorecard' })
  await card.getByText('Band: Fail').waitFor()
  const item = card.getByRole('listitem').filter({ hasText: 'Asks for a person' })
  await item.getByText('0 of 30').waitFor()
  await item.getByRole('button').first().click()
  await expect.poll(() => new URL(page.url()).searchParams.get('turn')).not.toBeNull()
  await card.getByRole('listitem').filter({ hasText: 'Tool failed' }).getByText('10 of 10').waitFor()
  expect(await breaches(page)).toEqual([])

  await page.goto(new URL(`/monitors/${id}`, page.url()).href)
  const list = page.getByRole('list', { name: /^Affected results/ })
  await list.getByText('10 of 40 points').waitFor()
  await list.getByRole('region', { name: 'Scorecard' }).getByRole('link', { name: /^“/ }).first().waitFor()
  expect(await breaches(page)).toEqual([])
})

it('is reviewed item by item, with the total of the reviewer', async () => {
  const name = unique('Reviewed')
  const { id, conversationId } = await makeScorecard(name)
  const bucket = await ask<Created>('POST', '/v1/buckets', { name, type: 'static', monitorIds: [id] })
  await ask('POST', `/v1/buckets/${bucket.id}/conversations`, { conversationIds: [conversationId] })
  const page = await open(`/review/${bucket.id}`, 'member')
  const stack = page.getByRole('list', { name: 'Judgments' })
  await stack.getByRole('heading', { name: 'Asks for a person' }).waitFor()
  await stack.getByText(`${name}: Service`).waitFor()
  await page.getByText('Monitor result:').waitFor()
  const totals = page.getByRole('list', { name: 'Your scorecards' })
  await totals.getByText('no total until each item is judged').waitFor()
  await page.keyboard.press('2')
  await stack.getByRole('heading', { name: 'Tool failed' }).waitFor()
  await page.keyboard.press('2')
  await totals.getByText('100 of 100, Pass').waitFor()
  expect(await breaches(page)).toEqual([])
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'All done' }).waitFor()
  const { data } = await ask<{ data: { judgments: { monitorId: string; correctResult: string }[] }[] }>(
    'GET',
    `/v1/reviews?bucketId=${bucket.id}`,
  )
  expect(data[0]?.judgments.find((judgment) => judgment.monitorId === id)?.correctResult).toBe('not_affected')
})

it('is reviewed by the items of its result, even if it was edited since and results are hidden', async () => {
  const name = unique('Edited')
  const { id, conversationId } = await makeScorecard(name)
  const bucket = await ask<Created>('POST', '/v1/buckets', { name, type: 'static', monitorIds: [id], blind: true })
  await ask('POST', `/v1/buckets/${bucket.id}/conversations`, { conversationIds: [conversationId] })
  const items = [{ monitorId: await monitorId('Asks for a person'), points: 30 }]
  await ask('PATCH', `/v1/monitors/${id}`, { definition: definitionOf(items) })
  const page = await open(`/review/${bucket.id}`, 'member')
  const stack = page.getByRole('list', { name: 'Judgments' })
  await stack.getByRole('heading', { name: 'Asks for a person' }).waitFor()
  await page.keyboard.press('1')
  await stack.getByRole('heading', { name: 'Tool failed' }).waitFor()
  await page.keyboard.press('2')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'All done' }).waitFor()
})
