import { expect, it } from 'vitest'
import { ask, breaches, open, origin, quiet } from './browser.ts'

type Listed = { data: { id: string; name: string }[] }

const companyNames = async (): Promise<string[]> => {
  const { data } = await ask<Listed>('GET', '/v1/companies?limit=200')
  return data.map(({ name }) => name)
}

it('an admin shares a board with a company, and the link shows only its conversations', async () => {
  const names = await companyNames()
  const { data } = await ask<{ data: { companyId: string | null }[] }>('POST', '/v1/conversations/search', {
    filter: {},
    limit: 100,
  })
  const companyId = data.find((each) => each.companyId !== null)?.companyId
  const { name } = await ask<{ name: string }>('GET', `/v1/companies/${companyId}`)
  const admin = await open('/boards', 'owner')
  await admin.getByRole('link', { name: 'By company' }).click()
  await quiet(admin)
  await admin.getByRole('button', { name: 'More actions' }).click()
  await admin.getByRole('menuitem', { name: 'Share with a company' }).click()
  const dialog = admin.getByRole('dialog')
  await dialog.getByLabel('Company', { exact: true }).fill(name)
  await admin.getByRole('option', { name, exact: true }).click()
  await dialog.getByRole('button', { name: 'Create link' }).click()
  const url = await dialog.locator('code').first().innerText()
  expect(url).toMatch(new RegExp(`^${origin}/shared#earb_`))
  await dialog.getByRole('region', { name: 'Links' }).getByText('Never').waitFor()
  expect(await breaches(admin)).toEqual([])

  const page = await open(url.slice(origin.length))
  await page.getByRole('heading', { level: 1, name }).waitFor()
  await page.getByRole('region', { name: 'Conversations' }).first().getByRole('cell', { name }).first().waitFor()
  await quiet(page)
  expect(await breaches(page)).toEqual([])
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await breaches(page, { only: 'colors' })).toEqual([])
  const text = await page.locator('body').innerText()
  for (const other of names.filter((each) => each !== name && !name.includes(each))) expect(text).not.toContain(other)
  expect(await page.getByRole('link').count()).toBe(0)
  const document = await page.request.get(`${origin}/shared`)
  expect(document.headers()['x-robots-tag']).toBe('noindex')

  const small = await open(url.slice(origin.length), undefined, { viewport: { width: 320, height: 640 } })
  await small.getByRole('heading', { level: 1, name }).waitFor()
  await quiet(small)
  expect(await small.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')).toBe(false)

  await dialog.getByRole('button', { name: `Revoke link for ${name}` }).click()
  await dialog.getByText('No links yet.').waitFor()
  await page.reload()
  await page.getByRole('heading', { level: 1, name: 'Link not available' }).waitFor()
  expect(await breaches(page)).toEqual([])
})

it('a link without a valid token shows nothing', async () => {
  const page = await open('/shared#earb_guess')
  await page.getByText('This link is invalid, has expired, or was revoked.').waitFor()
  expect(await page.getByRole('link').count()).toBe(0)
})
