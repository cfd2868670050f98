import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { ask, breaches, conversationIds, open } from './browser.ts'

type Created = { id: string }

/** Creates an external monitor with results of the newest conversations. */
const makeReasons = async (name: string) => {
  const { id } = await ask<Created>('POST', '/v1/monitors', { name, kind: 'external', definition: {} })
  const ids = await conversationIds(8)
  await ask('POST', '/v1/monitor-results', {
    results: ids.map((conversationId, at) => ({
      monitorId: id,
      conversationId,
      result: at === 0 ? 'affected' : 'unscored',
      reasoning: 'As the caller said.',
      categories: at === 0 ? ['billing', 'late_delivery'] : ['other'],
      fields: { amount: 24.5, isPaid: false, until: null, items: ['cup', 'lid'] },
      evidence: [
        { turn: 1, quote: 'the amount', field: 'amount' },
        { turn: 0, quote: 'a greeting' },
      ],
    })),
  })
  return { id, conversationId: ids[0] ?? '' }
}

it('shows categories and fields with their quotes, and leads to conversations of a category', async () => {
  const { id, conversationId } = await makeReasons('Reasons shown')
  const page = await open(`/conversations/${conversationId}`, 'viewer')
  const results = page.getByRole('region', { name: 'Monitors' })
  const result = results.getByRole('listitem').filter({ hasText: 'Reasons shown' }).first()
  const fields = result.getByRole('table', { name: 'Fields' })
  await fields.getByRole('row', { name: /^amount 24\.5/ }).waitFor()
  await fields.getByRole('row', { name: 'isPaid No' }).waitFor()
  await fields.getByRole('row', { name: 'until Not mentioned' }).waitFor()
  await fields.getByRole('row', { name: 'items cup, lid' }).waitFor()
  await fields.getByRole('button', { name: /the amount/ }).click()
  await expect.poll(() => new URL(page.url()).searchParams.get('turn')).toBe('1')
  expect(await result.getByRole('button', { name: /a greeting/ }).count()).toBe(1)
  expect(await breaches(page)).toEqual([])
  await result.getByRole('link', { name: 'late_delivery' }).click()
  await page.getByText('category: late delivery by Reasons shown').first().waitFor()
  await page
    .getByText(/^1 conversation$/)
    .first()
    .waitFor()

  await page.goto(new URL(`/monitors/${id}?result=unscored`, page.url()).href)
  const list = page.getByRole('list', { name: /^Unscored results/ })
  await list.getByText('No category fits').first().waitFor()
  await list.getByRole('link', { name: '“the amount”' }).first().waitFor()
  expect(await breaches(page)).toEqual([])
})

it('finds conversations by a typed category', async () => {
  await makeReasons('Reasons typed')
  const page = await open('/conversations', 'viewer')
  const field = page.getByRole('combobox', { name: /filter/i })
  await field.fill('category: other by Reasons typed')
  await page.getByRole('option', { name: 'category: other by Reasons typed' }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByText('category: other by Reasons typed').first().waitFor()
  await page
    .getByText(/^7 conversations$/)
    .first()
    .waitFor()
})

/** Creates a rule with fields, and its results of the newest conversations. */
const makeTurnRule = async (name: string) => {
  const definition = {
    expression: 'turns.size() > 1000',
    fields: '{"turnCount": turns.size(), "firstTurn": turns[0].text}',
  }
  const { id } = await ask<Created>('POST', '/v1/monitors', { name, kind: 'rule', definition, enabled: false })
  const runs = `/v1/monitors/${id}/evaluations`
  // Conversations that failed are not evaluated.
  const ids = await conversationIds(8, { statuses: ['completed'] })
  const run = await ask<Created>('POST', runs, { conversationIds: ids })
  const status = async () => (await ask<{ status: string }>('GET', `${runs}/${run.id}`)).status
  await expect.poll(status, { timeout: 20_000 }).toBe('completed')
  return id
}

it('finds conversations by a field of a monitor, with suggestions that fit it', async () => {
  const id = await makeTurnRule('Turns counted')
  const page = await open('/conversations', 'viewer')
  const field = page.getByRole('combobox', { name: /filter/i })
  await field.fill('turnCount')
  await page.getByRole('option', { name: 'field turnCount is at least' }).click()
  expect(await field.inputValue()).toBe('field turnCount is at least ')
  await field.fill('field turnCount is at least 1')
  await page.getByRole('option', { name: 'field turnCount is at least 1 by Turns counted' }).waitFor()
  expect(await breaches(page)).toEqual([])
  await page.getByRole('option', { name: 'field turnCount is at least 1 by Turns counted' }).click()
  await page.getByRole('button', { name: 'Edit field turnCount is at least 1 by Turns counted' }).waitFor()
  await page
    .getByText(/^8 conversations$/)
    .first()
    .waitFor()
  const filter = { fields: [{ monitorId: id, field: 'turnCount', op: 'gte', value: '1' }] }
  expect(JSON.parse(new URL(page.url()).searchParams.get('filter') ?? '')).toEqual(filter)
  await page.reload()
  await page.getByRole('button', { name: 'Edit field turnCount is at least 1 by Turns counted' }).click()
  await page.getByRole('combobox', { name: 'Edit filter' }).fill('field turnCount is at least 1000 by Turns counted')
  await page.getByRole('option', { name: 'field turnCount is at least 1000 by Turns counted' }).click()
  await page
    .getByText(/^0 conversations$/)
    .first()
    .waitFor()
})

it('shows the shares of categories and the figures of fields on the page of the monitor', async () => {
  const { id } = await makeReasons('Reasons shared')
  const page = await open(`/monitors/${id}`, 'viewer')
  const categories = page.getByRole('region', { name: 'Categories', exact: true })
  await categories.getByRole('row', { name: /^No category fits 87\.5% · .*n = 8/ }).waitFor()
  expect(await breaches(page)).toEqual([])
  await categories.getByRole('link', { name: 'billing' }).click()
  await page.getByText('category: billing by Reasons shared').first().waitFor()

  const rule = await makeTurnRule('Turns figured')
  await page.goto(new URL(`/monitors/${rule}`, page.url()).href)
  const fields = page.getByRole('region', { name: 'Fields', exact: true })
  await fields.getByRole('row', { name: /^turnCount \d.* n = 8/ }).waitFor()
  expect(await breaches(page)).toEqual([])
  await fields.getByRole('link', { name: 'turnCount' }).click()
  await page.getByText('field turnCount exists by Turns figured').first().waitFor()
})

it('charts the share of categories, and links to their conversations', async () => {
  const { id } = await makeReasons('Reasons charted')
  const board = await ask<Created>('POST', '/v1/boards', { name: 'Reasons', charts: [] })
  const page = await open(`/boards/${board.id}`, 'member')
  await page.getByRole('link', { name: 'Add chart' }).first().click()
  await page.getByLabel('Measure').selectOption({ label: 'Monitor categories' })
  await page.getByRole('combobox', { name: 'Monitor' }).fill('Reasons charted')
  await page.getByRole('option', { name: 'Reasons charted' }).click()
  await page.getByRole('radio', { name: 'Table' }).check({ force: true })
  const preview = page.getByRole('region', { name: 'Categories: Reasons charted' })
  await preview.getByRole('row', { name: /^No category fits 87\.5%/ }).waitFor()
  await preview.getByRole('row', { name: /^billing 12\.5%/ }).waitFor()
  expect(await breaches(page)).toEqual([])
  await page.getByRole('button', { name: 'Add chart' }).click()
  await page.getByRole('heading', { level: 1, name: 'Reasons' }).waitFor()
  await page.getByRole('link', { name: 'billing' }).click()
  await page.getByText('category: billing by Reasons charted').first().waitFor()
  expect(new URL(page.url()).search).toContain(id)
})

it('adds columns of categories and fields to the list, and exports them', async () => {
  const { id, conversationId } = await makeReasons('Reasons listed')
  // Other tests create newer conversations, which would fill the list.
  const own = encodeURIComponent(JSON.stringify({ conversationIds: [conversationId] }))
  const page = await open(`/conversations?filter=${own}`, 'member')
  await page.getByRole('button', { name: 'Choose columns' }).click()
  const dialog = page.getByRole('dialog', { name: 'Columns' })
  for (const column of ['Reasons listed categories', 'Reasons listed amount']) {
    await dialog.getByRole('combobox', { name: 'Add column' }).fill(column)
    await page.getByRole('option', { name: column }).click()
    await dialog.getByText(column, { exact: true }).waitFor()
  }
  expect(await breaches(page)).toEqual([])
  await page.keyboard.press('Escape')
  await page
    .getByRole('row', { name: /billing, late delivery/ })
    .getByText('24.5')
    .waitFor()
  const columns = [{ key: `categories:${id}` }, { key: `field:${id}:amount` }]
  const config = { filter: { conversationIds: [conversationId] }, columns }
  const preview = await ask<{ rows: unknown[][] }>('POST', '/v1/conversation-exports/preview', { config })
  expect(preview.rows).toEqual([[conversationId, 'billing; late_delivery', '24.5']])
})

/** Sends the form of a new judge, which no model can evaluate here, and returns the definition that it sends. */
const sentDefinition = async (page: Page) => {
  const request = page.waitForRequest((each) => each.method() === 'POST' && each.url().endsWith('/v1/monitors'))
  await page.getByRole('button', { name: 'Create monitor' }).click()
  return (await request).postDataJSON().definition
}

it('creates a judge with categories', async () => {
  const page = await open('/monitors/new?kind=judge', 'member')
  await page.getByLabel('Name', { exact: true }).fill('Reason for calling')
  await page.getByLabel('Criteria').fill('Why did the customer call?')
  await page.getByRole('radio', { name: 'Categories' }).check({ force: true })
  const category = (at: number) => page.getByRole('listitem', { name: `category ${at}` })
  await category(1).getByLabel('Label').fill('A bill')
  await category(2).getByLabel('Label').fill('Réclamation')
  await category(2).getByLabel('Counts as affected').check()
  await page.getByRole('button', { name: 'Add category' }).click()
  await category(3).getByLabel('Label').fill('Another bill')
  await category(3).getByLabel('Key').fill('a_bill')
  expect(await breaches(page)).toEqual([])
  await page.getByRole('button', { name: 'Create monitor' }).click()
  await category(3).getByText('is used by an earlier one').waitFor()
  await page.getByRole('button', { name: 'Remove category 3' }).click()
  expect(await sentDefinition(page)).toEqual({
    criteria: 'Why did the customer call?',
    output: {
      type: 'category',
      categories: [
        { key: 'a_bill', label: 'A bill' },
        { key: 'reclamation', label: 'Réclamation', affected: true },
      ],
      allowOther: true,
      allowNotApplicable: true,
    },
  })
})

it('creates a judge that extracts fields', async () => {
  const page = await open('/monitors/new?kind=judge', 'member', { theme: 'dark' })
  await page.getByLabel('Name', { exact: true }).fill('Refunds')
  await page.getByLabel('Criteria').fill('The promised refund.')
  await page.getByRole('radio', { name: 'Fields' }).check({ force: true })
  const field = (at: number) => page.getByRole('listitem', { name: `field ${at}` })
  await field(1).getByLabel('Key').fill('amount')
  await field(1).getByLabel('Type').selectOption({ label: 'Number' })
  await page.getByRole('button', { name: 'Add field' }).click()
  await field(2).getByLabel('Key').fill('reason')
  await field(2).getByLabel('Type').selectOption({ label: 'One of several options' })
  await field(2).getByLabel('Options').fill('late, damaged')
  await field(2).getByLabel('Required').check()
  await page.getByRole('button', { name: 'Add guideline' }).click()
  await page.getByRole('textbox', { name: 'Guideline 1' }).fill('A voucher is no refund.')
  await page.getByLabel('Affected when (optional)').fill('fields.amont > 100')
  expect(await breaches(page)).toEqual([])
  await page.getByRole('button', { name: 'Create monitor' }).click()
  await page.getByText('there is no field amont; did you mean amount?').waitFor()
  await page.getByLabel('Affected when (optional)').fill('fields.amount > 100')
  expect(await sentDefinition(page)).toEqual({
    criteria: 'The promised refund.',
    output: {
      type: 'extract',
      fields: [
        { key: 'amount', type: 'number' },
        { key: 'reason', type: 'enum', options: ['late', 'damaged'], required: true },
      ],
      affectedWhen: 'fields.amount > 100',
    },
    guidelines: [{ text: 'A voucher is no refund.' }],
  })
})

it('adds categories and fields to a rule, and keeps them when only its name changes', async () => {
  const definition = {
    expression: 'signals.longestSilenceMs > 8000.0',
    categories: "{'long': conversation.durationSeconds > 35, 'other': conversation.durationSeconds <= 35}",
    fields: "{'seconds': conversation.durationSeconds}",
  }
  const { id } = await ask<Created>('POST', '/v1/monitors', { name: 'Lengths', kind: 'rule', definition })
  const page = await open(`/monitors/${id}/edit`, 'member')
  const preview = page.getByRole('list', { name: 'Preview' })
  await preview.getByText('long', { exact: true }).first().waitFor()
  await preview.getByRole('rowheader', { name: 'seconds' }).first().waitFor()
  expect(await breaches(page)).toEqual([])
  await page.getByLabel('Name', { exact: true }).fill('Lengths of calls')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByRole('heading', { level: 1, name: 'Lengths of calls' }).waitFor()
  const saved = await ask<{ currentVersion: object }>('GET', `/v1/monitors/${id}`)
  expect(saved.currentVersion).toMatchObject({ number: 1, definition })
  await page.getByText("Categories: {'long'").waitFor()
})
