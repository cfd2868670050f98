import { expect, it } from 'vitest'
import { ask, breaches, open, origin } from './browser.ts'

type Listed<T = object> = { data: ({ id: string } & T)[] }

it('sets up a destination and an alert from a monitor’s page in at most 8 actions', async () => {
  const { data: monitors } = await ask<Listed>('GET', '/v1/monitors?limit=200')
  const page = await open(`/monitors/${monitors.at(-1)?.id}`, 'owner')
  // An admin creates the destination beforehand, as in any team. After that, an alert takes three clicks and two
  // fields.
  const settings = { url: 'https://hooks.slack.com/services/T0000/B0000/abcdefghijklmnop' }
  await ask('POST', '/v1/destinations', { name: 'On-call channel', kind: 'slack', settings })
  let actions = 0
  const act = async (action: Promise<unknown>) => {
    await action
    actions++
  }
  await act(page.getByRole('link', { name: 'Create alert' }).click())
  await act(page.getByLabel('Name').fill('Too many callers are affected'))
  await act(page.getByLabel('Threshold (%)').fill('15'))
  await act(page.getByRole('combobox', { name: 'Destinations' }).click())
  await act(page.getByRole('option', { name: 'On-call channel' }).click())
  await act(page.keyboard.press('Escape'))
  await page.getByRole('region', { name: 'Preview' }).getByText('in the last 90 days').waitFor()
  expect(await breaches(page)).toEqual([])
  await act(page.getByRole('button', { name: 'Create rule' }).click())
  await page.getByRole('heading', { level: 1, name: 'Too many callers are affected' }).waitFor()
  await page.getByText('On-call channel').waitFor()
  await page.getByText(/rate above 15/).waitFor()
  expect(actions).toBeLessThanOrEqual(8)
})

it('watches the share of a category', async () => {
  const page = await open('/alerts/rules/new', 'owner')
  const form = page.getByRole('form', { name: 'Alert rule' })
  await form.getByLabel('Name').fill('Many refunds')
  await form.getByLabel('Condition').selectOption('Category share')
  await form.getByRole('combobox', { name: 'Monitor' }).click()
  await page.getByRole('option', { name: 'Refund paid' }).waitFor({ state: 'detached' })
  await page.getByRole('option', { name: 'Reason for contact' }).click()
  await form.getByText('Choose a category.').waitFor()
  await form.getByLabel('Category').selectOption('refund')
  await form.getByLabel('Threshold (%)').fill('90')
  await page.getByRole('region', { name: 'Preview' }).getByText('in the last 90 days').waitFor()
  expect(await breaches(page)).toEqual([])
  await form.getByRole('button', { name: 'Create rule' }).click()
  await page.getByRole('heading', { level: 1, name: 'Many refunds' }).waitFor()
  await page.getByText(/Reason for contact: share of refund above 90/).waitFor()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete rule' }).click()
})

it('creates, tests, and deletes a destination', async () => {
  const page = await open('/settings/destinations', 'owner')
  await page.getByRole('button', { name: 'Create destination' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Quality team')
  await dialog.getByLabel('Type').selectOption('email')
  await dialog.getByLabel('Email addresses').fill('ada@example.com, nobody')
  await dialog.getByRole('button', { name: 'Create destination' }).click()
  await dialog.getByText('must be an email address').waitFor()
  await dialog.getByLabel('Email addresses').fill('ada@example.com')
  expect(await breaches(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Create destination' }).click()
  await page.getByRole('button', { name: 'Send test' }).click()
  const deliveries = page.getByRole('region', { name: 'Deliveries' })
  await deliveries.getByText('Test from Earshot: Quality team').waitFor()
  // The tests' service has no mail server, and the delivery shows this.
  await deliveries.getByText('No mail server is configured').waitFor()
  expect(await breaches(page)).toEqual([])
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete destination' }).click()
  await page.getByText('“Quality team” deleted').waitFor()
})

it('shows an incident as it opens, is acknowledged, and resolves', async () => {
  const condition = { kind: 'volume', direction: 'below', threshold: 1_000_000 }
  const rule = await ask<{ id: string }>('POST', '/v1/alert-rules', { name: 'Little traffic', condition })
  const page = await open('/alerts', 'member')
  await page.getByRole('link', { name: 'Little traffic' }).click({ timeout: 60_000 })
  await page.getByText(/started in the last hour, below 1,000,000/).waitFor()
  expect(await breaches(page)).toEqual([])
  await page.getByRole('button', { name: 'Acknowledge' }).click()
  await page.getByText(/Acknowledged by/).waitFor()
  await page.getByLabel('New comment').fill('A quiet day.')
  await page.getByRole('button', { name: 'Comment' }).click()
  await page.getByText('A quiet day.', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Resolve' }).click()
  await page.getByText(/Resolved by/).waitFor()
  await page.goto(`${origin}/alerts/rules/${rule.id}`)
  await page.getByRole('button', { name: 'Mute for 8 hours' }).click()
  await page.getByRole('button', { name: 'Unmute' }).waitFor()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete rule' }).click()
  await page.getByText('“Little traffic” deleted').waitFor()
})

it('shows the health of the organization', async () => {
  const page = await open('/settings/health', 'owner')
  const checks = page.getByRole('region', { name: 'Checks' })
  await checks.getByText('Conversations are arriving.').waitFor()
  await checks.getByText(/^Recordings take \d+ MB/).waitFor()
  await checks.getByText(/^1 process runs version \d/).waitFor()
  await checks.getByText(/clocks of the service and the database differ by/).waitFor()
  await page.getByRole('heading', { name: 'No failed jobs' }).waitFor()
  expect(await breaches(page)).toEqual([])
})

it('says on the overview that results are missing because a judge fails', async () => {
  const page = await open('/agents', 'member')
  const message = 'The model endpoint is failing, so results are missing: the endpoint returned status 503.'
  await page.route('**/v1/health', async (route) => {
    const health = await (await route.fetch()).json()
    const checks = health.checks.map((check: { name: string }) =>
      check.name === 'judges' ? { ...check, status: 'failing', message } : check,
    )
    await route.fulfill({ json: { status: 'failing', checks } })
  })
  await page.getByRole('link', { name: 'Overview' }).click()
  await page.getByRole('link', { name: message }).click()
  await page.getByRole('region', { name: 'Checks' }).getByText(message).waitFor()
})

it('shows viewers rules and incidents without controls', async () => {
  const page = await open('/alerts?tab=rules', 'viewer')
  await page.getByRole('link', { name: 'No conversations arrive' }).click()
  await page.getByRole('heading', { level: 1, name: 'No conversations arrive' }).waitFor()
  await page.getByText('This rule hasn’t fired yet').waitFor()
  expect(await page.getByRole('button', { name: 'Delete' }).count()).toBe(0)
})

it('routes findings by ownership rules, which move by keyboard', async () => {
  const page = await open('/settings/ownership', 'member')
  const create = async (name: string, tags: string) => {
    await page.getByRole('button', { name: 'Create rule' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'Create ownership rule' })
    await dialog.getByLabel('Name').fill(name)
    await dialog.getByLabel('Finding tags').fill(tags)
    await dialog.getByRole('button', { name: 'Create rule' }).click()
    // A rule that routes to nobody is rejected.
    await dialog.getByText('ownerUserId is required unless there is a destination').first().waitFor()
    await dialog.getByRole('combobox', { name: 'Owner' }).fill('Mira')
    await page.getByRole('option', { name: 'Mira Member' }).click()
    await page.getByRole('listbox').waitFor({ state: 'hidden' })
    expect(await breaches(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Create rule' }).click()
    await page.getByRole('cell', { name: new RegExp(`^\\d+\\. ${name}$`) }).waitFor()
  }
  await create('Bookings', 'routed-booking')
  await create('Refunds', 'routed-refund')
  await page.getByRole('button', { name: 'Move Refunds up' }).press('Enter')
  await page.getByRole('cell', { name: '1. Refunds' }).waitFor()
  expect(await breaches(page)).toEqual([])
  const { id } = await ask<{ id: string }>('POST', '/v1/findings', { title: 'Routed', tags: ['routed-refund'] })
  await page.goto(`${origin}/findings/${id}`)
  await page.getByText('Mira Member').first().waitFor()
  await page.goto(`${origin}/settings/ownership`)
  for (const name of ['Refunds', 'Bookings']) {
    await page.getByRole('button', { name: `Delete ${name}` }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete rule' }).click()
    await page.getByRole('cell', { name: new RegExp(name) }).waitFor({ state: 'detached' })
  }
  await page.getByText('No ownership rules yet').waitFor()
})
