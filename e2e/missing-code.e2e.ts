// Tests pages of the previous version that are still open after a deployment has replaced the console's files.

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { breaches, open, origin, quiet, withoutEvents } from './browser.ts'
import type { Role } from './people.ts'

const scripts = /\/console\/assets\/.*\.js$/

/** Opens a page, and then returns 404 for code that the page hasn't loaded yet, as a server does after a deployment. */
const openBeforeDeploy = async (path: string, as: Role = 'member') => {
  const page = await open('/nowhere', as)
  // An event could load code that a test needs to be missing.
  await page.route('**/v1/stream', withoutEvents)
  await page.goto(origin + path)
  // Reloading may lose input, so the user decides when to reload.
  page.on('dialog', (dialog) => void dialog.accept())
  await page.getByRole('heading', { level: 1 }).waitFor()
  await quiet(page)
  await page.route(scripts, (route) => route.fulfill({ status: 404, json: { error: 'not found' } }))
  return page
}

const notice = (page: Page) => page.getByRole('alert').filter({ hasText: 'couldn’t be loaded' })

/** Loads the current version of the page. */
const reload = async (page: Page) => {
  await page.unroute(scripts)
  await notice(page).getByRole('button', { name: 'Reload page' }).click()
  await notice(page).waitFor({ state: 'detached' })
  await page.getByRole('heading', { level: 1 }).waitFor()
}

it('offers to reload the page if the code of a menu is missing', async () => {
  const page = await openBeforeDeploy('/monitors/new')
  await page.getByLabel('Name', { exact: true }).fill('Half of a form')
  const person = page.getByRole('button', { name: /Mira Member/ })
  await person.click()
  await notice(page).waitFor()
  expect(await breaches(page)).toEqual([])
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Half of a form')
  await reload(page)
  await person.click()
  await page.getByRole('menuitem', { name: 'Sign out' }).waitFor()
})

it('offers to reload the page if the code of a dialog is missing', async () => {
  const page = await openBeforeDeploy('/companies')
  await page.getByRole('button', { name: 'Create company' }).click()
  await notice(page).waitFor()
  expect(await page.getByRole('heading', { level: 1, name: 'Companies' }).count()).toBe(1)
  await reload(page)
  await page.getByRole('button', { name: 'Create company' }).click()
  await page.getByRole('dialog', { name: 'Create company' }).waitFor()
})

it('offers to reload the page instead of a part with missing code', async () => {
  const page = await openBeforeDeploy('/settings/profile', 'owner')
  await page.getByRole('link', { name: 'Members' }).click()
  await page.getByRole('main').getByRole('alert').waitFor()
  expect(await page.getByRole('heading', { level: 1, name: 'Settings' }).count()).toBe(1)
  await reload(page)
  await page.getByRole('table').waitFor()
})

it('shows notifications even if their code is missing', async () => {
  const page = await openBeforeDeploy('/settings/profile', 'owner')
  await page.getByRole('button', { name: 'Save name' }).click()
  await notice(page).getByText('Name changed').waitFor()
})

it('loads code on first use, and does not report missing code that was only preloaded', async () => {
  const page = await openBeforeDeploy('/companies')
  const answered = page.waitForResponse(scripts)
  await page.mouse.move(600, 400)
  await answered
  await quiet(page)
  expect(await notice(page).count()).toBe(0)
})
