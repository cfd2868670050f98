import { expect, it } from 'vitest'
import { ask, breaches, open } from './browser.ts'

it('filters agents by channel, and keeps the filter in the URL', async () => {
  const page = await open('/agents', 'viewer')
  const table = page.getByRole('region', { name: 'Agents' })
  await table.getByRole('link', { name: 'Mia, bookings', exact: true }).waitFor()
  await page.getByLabel('Channel').selectOption({ label: 'Text' })
  await table.getByRole('link', { name: 'Mia, bookings', exact: true }).waitFor({ state: 'detached' })
  await page.reload()
  await table.getByRole('link', { name: 'Leo, support chat', exact: true }).waitFor()
  expect(new URL(page.url()).search).toBe('?channel=text')
  expect(await page.getByRole('button', { name: 'Create agent' }).count()).toBe(0)
  expect(await breaches(page)).toEqual([])
})

it('compares two versions word by word', async () => {
  const agent = await ask<{ id: string }>('POST', '/v1/agents', { name: 'Difference', channel: 'voice' })
  const say = (systemPrompt: string, label: string) =>
    ask('POST', `/v1/agents/${agent.id}/versions`, { systemPrompt, label })
  await say('Greet the caller. Never promise a refund. <script>alert(1)</script>', 'first')
  await say('Greet the caller by name. Never promise a refund. <script>alert(1)</script>', 'second')
  await say('Greet the caller by name. Promise nothing. <script>alert(1)</script>', 'third')
  const page = await open(`/agents/${agent.id}`, 'viewer', { theme: 'dark' })
  const change = page.getByRole('region', { name: 'Prompt changes' })
  await change.locator('ins').first().waitFor()
  expect(await change.locator('del').allTextContents()).toEqual([' Never promise a refund'])
  await page.getByLabel('From').selectOption({ label: 'Version 1 · first' })
  await page.getByLabel('To').selectOption({ label: 'Version 2 · second' })
  await expect.poll(() => change.locator('ins').allTextContents()).toEqual([' by name'])
  await page.reload()
  await expect.poll(() => change.locator('ins').allTextContents()).toEqual([' by name'])
  expect(await breaches(page)).toEqual([])
})

it('creates, groups, archives, and unarchives an agent', async () => {
  const page = await open('/agents?tab=groups', 'member')
  await page.getByRole('button', { name: 'Create group' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('Night shift')
  await page.getByRole('dialog').getByRole('button', { name: 'Create group' }).click()
  await page.getByRole('link', { name: 'Night shift', exact: true }).waitFor()
  expect(await breaches(page)).toEqual([])

  await page.getByRole('tab', { name: 'Agents' }).click()
  await page.getByRole('button', { name: 'Create agent' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('Nightingale')
  await page.getByRole('combobox', { name: 'Groups' }).fill('Night')
  await page.getByRole('option', { name: 'Night shift' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Create agent' }).click()
  await page.getByRole('heading', { level: 1, name: 'Nightingale' }).waitFor()
  await page.getByRole('link', { name: 'Night shift' }).waitFor()
  await page.getByRole('heading', { name: 'No versions yet' }).waitFor()

  await page.getByRole('button', { name: 'Archive', exact: true }).click()
  await page.getByRole('button', { name: 'Archive agent' }).click()
  await page.getByRole('button', { name: 'Unarchive' }).click()
  await page.getByRole('button', { name: 'Archive', exact: true }).waitFor()

  await page.getByRole('link', { name: 'Night shift' }).click()
  await page.getByRole('link', { name: 'Nightingale', exact: true }).waitFor()
  await page.getByRole('tab', { name: 'Groups' }).click()
  await page.getByRole('button', { name: 'Delete Night shift' }).click()
  await page.getByRole('button', { name: 'Delete group' }).click()
  await page.getByRole('link', { name: 'Night shift', exact: true }).waitFor({ state: 'detached' })
})

it.each(['light', 'dark'] as const)('is accessible on a narrow screen in the %s theme', async (theme) => {
  const [agent] = (await ask<{ data: { id: string }[] }>('GET', '/v1/agents?externalId=demo-mia')).data
  const page = await open('/agents', 'owner', { theme, viewport: { width: 320, height: 700 } })
  await page.getByRole('link', { name: 'Mia, bookings', exact: true }).waitFor()
  for (const path of ['/agents', '/agents?tab=groups', `/agents/${agent?.id}`]) {
    await page.goto(new URL(page.url()).origin + path)
    await page.getByRole('heading', { level: 1, name: /Agents|Mia/ }).waitFor()
    await page.getByRole('status').first().waitFor({ state: 'detached' })
    expect(await breaches(page), path).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth'), path).toBeLessThanOrEqual(320)
  }
})

it('says that an agent does not exist', async () => {
  const page = await open('/agents/nobody', 'viewer')
  await page.getByRole('heading', { name: 'Page not found' }).waitFor()
})

it('sets which recordings of an agent are kept', async () => {
  const agent = await ask<{ id: string }>('POST', '/v1/agents', { name: 'Keeper', channel: 'voice' })
  const page = await open(`/agents/${agent.id}`, 'owner')
  await page.getByRole('button', { name: 'Edit' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Recordings', { exact: true }).selectOption({ label: 'Delete after a set time' })
  await dialog.getByLabel('Delete recordings after (days)').fill('30')
  await dialog.getByLabel('Recording redaction').selectOption({ label: 'Beep' })
  expect(await breaches(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Deleted after 30 days').waitFor()
  await page.getByText('Beep').waitFor()
  const { recordings } = await ask('GET', `/v1/agents/${agent.id}`)
  expect(recordings).toEqual({ keep: 'days', days: 30, redaction: 'beep' })
  const member = await open(`/agents/${agent.id}`, 'member')
  await member.getByRole('button', { name: 'Edit' }).click()
  await member.getByRole('dialog').getByLabel('Name').waitFor()
  expect(await member.getByRole('dialog').getByLabel('Recordings', { exact: true }).count()).toBe(0)
})
