import { expect, it } from 'vitest'
import { open, origin } from './browser.ts'

it('shows an operation with samples in three languages, and loads nothing from other hosts', async () => {
  const page = await open('/docs')
  const foreign: string[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith('data:')) foreign.push(request.url())
  })
  await page.goto(`${origin}/docs#tag/companies/GET/v1/companies/{id}`)
  const operation = page.getByRole('region', { name: 'Get a company' })
  await operation.getByText('curl').first().waitFor()
  await operation.getByRole('button', { name: /Shell Curl/ }).click()
  expect(await page.getByRole('option').allInnerTexts()).toEqual(
    expect.arrayContaining(['TypeScript', 'Curl', 'Requests']),
  )
  await page.getByRole('option', { name: 'TypeScript' }).click()
  await expect.poll(() => operation.innerText()).toContain("await earshot.companies.get('COMPANY_ID')")
  expect(foreign).toEqual([])
})

it('finds an operation by its words', async () => {
  const page = await open('/docs')
  await page
    .getByRole('button', { name: /Search/ })
    .first()
    .click()
  await page.getByRole('combobox').fill('rotate secret')
  await page
    .getByRole('option', { name: /secret/i })
    .first()
    .click()
  await page.waitForURL(/#tag\/webhooks\//)
})

it('fits 320 pixels', async () => {
  const page = await open('/docs')
  await page.setViewportSize({ width: 320, height: 700 })
  await page.locator('#reference h1').waitFor()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320)
})
