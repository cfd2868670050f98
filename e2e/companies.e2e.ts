import { expect, it } from 'vitest'
import { ask, breaches, open } from './browser.ts'

/** The smallest PNG: a single pixel. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)

it('creates a company, uploads a logo, renames it, and deletes it', async () => {
  const page = await open('/companies', 'member')
  await page.getByRole('region', { name: 'Companies' }).getByRole('row').nth(3).waitFor()
  await page.getByRole('button', { name: 'Create company' }).click()
  await page.getByLabel('Name').fill('<img src=x onerror=alert(1)>')
  await page.getByLabel('Logo URL').fill('https://127.0.0.1/logo.png')
  await page.getByRole('dialog').getByRole('button', { name: 'Create company' }).click()
  await page.getByText('must be a public https URL, written as https://host/path').waitFor()
  expect(await page.getByLabel('Name').inputValue()).toBe('<img src=x onerror=alert(1)>')
  await page.getByLabel('Logo URL').fill('')
  await page.getByRole('dialog').getByRole('button', { name: 'Create company' }).click()
  await page.getByRole('heading', { level: 1, name: '<img src=x onerror=alert(1)>' }).waitFor()

  await page
    .getByLabel('Image file')
    .setInputFiles({ name: 'logo.svg', mimeType: 'image/svg+xml', buffer: Buffer.from('<svg/>') })
  await page.getByRole('alert').getByText('Send a PNG, JPEG, WebP, or GIF image.').waitFor()
  await page.getByLabel('Image file').setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: png })
  await page.getByRole('button', { name: 'Remove logo' }).waitFor()
  await expect.poll(() => page.evaluate(`document.querySelector('img[src*="/files/"]')?.naturalWidth`)).toBe(1)

  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByLabel('Name').fill('Tulip & Sons')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { level: 1, name: 'Tulip & Sons' }).waitFor()
  expect(await breaches(page)).toEqual([])

  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete company' }).click()
  await page.getByRole('heading', { level: 1, name: 'Companies' }).waitFor()
  expect(await page.getByText('Tulip & Sons').and(page.getByRole('link')).count()).toBe(0)
})

it('says why a company with conversations cannot be deleted, and links to them', async () => {
  const page = await open('/companies', 'member', { theme: 'dark' })
  await page.getByRole('link', { name: 'Acme Dental', exact: true }).waitFor()
  expect(await breaches(page)).toEqual([])
  await page.getByRole('link', { name: 'Acme Dental', exact: true }).click()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete company' }).click()
  await page.getByText('Assign them to another company first').waitFor()
  expect(await breaches(page)).toEqual([])
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('link', { name: 'View conversations' }).click()
  await page.getByText(/conversations .*Acme Dental/).waitFor()
})

it('shows viewers no edit buttons', async () => {
  const [company] = (await ask<{ data: { id: string }[] }>('GET', '/v1/companies?limit=1')).data
  const page = await open('/companies', 'viewer', { viewport: { width: 320, height: 700 } })
  await page.getByRole('region', { name: 'Companies' }).getByRole('row').nth(1).waitFor()
  expect(await breaches(page)).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
  expect(await page.getByRole('button', { name: 'Create company' }).count()).toBe(0)
  await page.goto(`${new URL(page.url()).origin}/companies/${company?.id}`)
  await page.getByRole('link', { name: 'View conversations' }).waitFor()
  for (const name of ['Edit', 'Delete', 'Upload logo']) {
    expect(await page.getByRole('button', { name }).count()).toBe(0)
  }
})

it('shows why the list was rejected, and retries', async () => {
  const page = await open('/', 'viewer')
  await page.route('**/v1/companies?limit=50', (route) =>
    route.fulfill({
      status: 403,
      headers: { 'x-request-id': 'request-4711' },
      json: { error: 'forbidden', message: 'Not now.' },
    }),
  )
  await page.getByRole('link', { name: 'Companies' }).click()
  await page.getByRole('alert').getByText('Not now.').waitFor()
  await page.getByRole('alert').getByText('request-4711').waitFor()
  await page.unrouteAll()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('link', { name: 'Acme Dental', exact: true }).waitFor()
})
