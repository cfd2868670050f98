import { expect, it } from 'vitest'
import { ask, breaches, open, origin } from './browser.ts'

it('launches an experiment after checks, and shows its result', async () => {
  const page = await open('/experiments', 'owner')
  await page.getByRole('link', { name: 'Launch experiment' }).click()
  const form = page.getByRole('form', { name: 'Launch experiment' })
  const checks = page.getByRole('region', { name: 'Checks' })
  const launch = form.getByRole('button', { name: 'Launch' })
  expect(await launch.isDisabled()).toBe(true)
  await checks.getByText(/Still needed: a name, an agent/).waitFor()
  await form.getByLabel('Name', { exact: true }).fill('Two slots')
  const choose = async (label: string, option: string | RegExp) => {
    await form.getByLabel(label, { exact: true }).click()
    await page.getByRole('option', { name: option }).click()
  }
  await choose('Agent', 'Mia, bookings')
  await choose('Version A (current)', /booking-1/)
  await choose('Version B (new)', /booking-1/)
  await checks.getByText('A and B are the same version').waitFor()
  await form.getByRole('combobox', { name: 'Version B (new)' }).fill('booking-2')
  await page.getByRole('option', { name: /booking-2/ }).click()
  await checks.getByRole('region', { name: 'Prompt changes in B' }).waitFor()
  await choose('Outcomes', 'Left waiting')
  await page.getByRole('option', { name: 'Tool failed' }).click()
  await page.keyboard.press('Escape')
  await form.getByLabel('Expected traffic to A (%)').fill('many')
  await form.getByLabel(/always get the same variant/).check()
  expect(await breaches(page)).toEqual([])
  await launch.click()
  await page.getByRole('alert').waitFor()
  expect(await form.getByLabel('Name', { exact: true }).inputValue()).toBe('Two slots')
  await form.getByLabel('Expected traffic to A (%)').fill('50')
  await launch.click()

  await page.getByRole('heading', { name: 'Two slots', level: 1 }).waitFor()
  await page
    .getByRole('region', { name: 'Health checks' })
    .getByText('No callers yet')
    .or(page.getByText('Fewer than 20 callers'))
    .waitFor()
  expect(await breaches(page)).toEqual([])

  await page.getByRole('button', { name: 'Finish experiment' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Finish experiment' }).click()
  await page.getByText('Finished', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Finish' }).first().waitFor({ state: 'detached' })
})

it('measures a category and a field of monitors', async () => {
  const page = await open('/experiments', 'owner')
  await page.getByRole('link', { name: 'Launch experiment' }).click()
  const form = page.getByRole('form', { name: 'Launch experiment' })
  const choose = async (label: string, option: string | RegExp) => {
    await form.getByLabel(label, { exact: true }).click()
    await page.getByRole('option', { name: option }).click()
  }
  await form.getByLabel('Name', { exact: true }).fill('Fewer prices')
  await choose('Agent', 'Mia, bookings')
  await choose('Version A (current)', /booking-1/)
  await form.getByRole('combobox', { name: 'Version B (new)' }).fill('booking-2')
  await page.getByRole('option', { name: /booking-2/ }).click()
  await choose('Outcomes', 'Reason for contact')
  await page.getByRole('option', { name: 'Refund paid' }).click()
  await page.keyboard.press('Escape')
  const add = form.getByRole('button', { name: 'Add category or field' })
  await add.click()
  await form.getByLabel('Monitor of measure 1').selectOption('Reason for contact')
  await form.getByLabel('Category of measure 1').selectOption('prices')
  await add.click()
  await form.getByLabel('Monitor of measure 2').selectOption('Refund paid')
  await form.getByLabel('Field of measure 2').selectOption('amount')
  await form.getByLabel(/always get the same variant/).check()
  await form.getByLabel('Smallest value of measure 2').fill('0')
  await form.getByLabel('Largest value of measure 2').fill('0')
  await form.getByRole('button', { name: 'Launch' }).click()
  await form.getByText('must be greater than low').first().waitFor()
  await form.getByLabel('Largest value of measure 2').fill('500')
  expect(await breaches(page)).toEqual([])
  await form.getByRole('button', { name: 'Launch' }).click()
  await page.getByRole('heading', { name: 'Fewer prices', level: 1 }).waitFor()
  const primary = page.getByRole('region', { name: 'Primary outcome' })
  await primary.getByRole('button', { name: 'Reason for contact: prices' }).click()
  await page
    .getByRole('region', { name: 'Other outcomes' })
    .getByRole('button', { name: 'Refund paid: amount' })
    .waitFor()
  expect(await breaches(page)).toEqual([])
  await page.getByRole('button', { name: 'Finish experiment' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Finish experiment' }).click()
  await page.getByText('Finished', { exact: true }).waitFor()
})

it('shows the difference and health checks, and links to the conversations', async () => {
  const { data } = await ask<{ data: { id: string; name: string }[] }>('GET', '/v1/experiments')
  const demo = data.find(({ name }) => name === 'Offer a colleague sooner')
  await expect
    .poll(
      async () => {
        const { outcomes } = await ask<{ outcomes: { arms: { a: { observed: number; pending: number } } }[] }>(
          'GET',
          `/v1/experiments/${demo?.id}`,
        )
        return outcomes.every(({ arms: { a } }) => a.observed > 20 && a.pending === 0)
      },
      { timeout: 30_000 },
    )
    .toBe(true)
  const page = await open(`/experiments/${demo?.id}`, 'viewer', { theme: 'dark' })
  const trust = page.getByRole('region', { name: 'Health checks' })
  await trust.getByText(/callers saw A, expected 50%/).waitFor()
  const primary = page.getByRole('region', { name: 'Primary outcome' })
  await primary.getByRole('img', { name: /^Difference \(B − A\): .* points, always-valid interval/ }).waitFor()
  await primary.getByRole('button', { name: 'Asks for a person' }).click()
  await primary.getByText('Observations by arm').waitFor()
  expect(page.url()).toContain('outcome=')
  await page.reload()
  await primary.getByText('Observations by arm').waitFor()
  expect(await breaches(page)).toEqual([])
  expect(await page.getByText(/winner|stop the experiment/i).count()).toBe(0)
  expect(await page.getByRole('button', { name: 'Finish' }).count()).toBe(0)

  await page.getByRole('region', { name: 'Arm A' }).getByRole('link').click()
  await page.getByRole('heading', { name: 'Conversations' }).waitFor()
  await page.getByRole('grid', { name: 'Conversations' }).waitFor()
  expect(new URL(page.url()).searchParams.get('filter')).toContain('agentVersionIds')
})

it('exports all observations as a file', async () => {
  const { data } = await ask<{ data: { id: string }[] }>('GET', '/v1/experiments')
  const page = await open(`/experiments/${data.at(-1)?.id}`, 'member')
  await page.getByRole('button', { name: 'Create export' }).click()
  const files = page.getByRole('region', { name: 'Files' })
  const link = files.getByRole('link', { name: 'Download' }).first()
  await link.waitFor({ timeout: 30_000 })
  const [download] = await Promise.all([page.waitForEvent('download'), link.click()])
  expect(download.suggestedFilename()).toMatch(/\.csv$/)
})

it('says that an experiment does not exist', async () => {
  const page = await open('/experiments/0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f', 'viewer')
  await page.getByRole('heading', { name: 'Page not found' }).waitFor()
  await page.goto(`${origin}/experiments/new`)
  await page.getByText('Only admins can launch experiments').waitFor()
})

it('asks before leaving unsaved input', async () => {
  const page = await open('/experiments/new', 'owner')
  await page.getByLabel('Name', { exact: true }).fill('Not yet')
  await page.getByRole('link', { name: 'Overview' }).click()
  await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Stay' }).click()
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Not yet')
  await page.getByRole('link', { name: 'Overview' }).click()
  await page.getByRole('button', { name: 'Leave' }).click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
})

it('asks before deleting a file of observations', async () => {
  const { data } = await ask<{ data: { id: string }[] }>('GET', '/v1/experiments')
  const page = await open(`/experiments/${data[0]?.id}`, 'member')
  await page.getByRole('button', { name: 'Create export' }).click()
  const row = page.getByRole('region', { name: 'Files' }).getByRole('row').nth(1)
  await row.getByRole('link', { name: 'Download' }).waitFor()
  await row.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete file' }).click()
  await row.getByText('Expired').waitFor()
})
