import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Page, Route } from 'playwright-core'
import { expect, it } from 'vitest'
import { breaches, open, origin } from './browser.ts'

/** Counts only conversations with this test's words, because other tests also send conversations. */
const narrow = (route: Route) =>
  route.continue({
    postData: JSON.stringify({ ...route.request().postDataJSON(), filter: { text: 'my appointment' } }),
  })

const start = async (path: string) => {
  const page = await open('/sign-in', 'owner')
  await page.route(/\/v1\/conversations\/(count|search)$/, narrow)
  await page.goto(origin + path)
  return page
}

const linesOf = (page: Page): Promise<string> => page.getByRole('tabpanel').locator('pre').innerText()

it('creates an API key, waits for a conversation, and opens it', async () => {
  const page = await start('/start')
  await page.getByRole('status').getByText('Waiting for the next conversation').waitFor()
  expect(await breaches(page)).toEqual([])
  await page.getByRole('button', { name: 'Create API key' }).click()
  const key = await page.getByRole('region', { name: 'Create an API key' }).locator('code').innerText()
  expect(key).toMatch(/^ear_\w{38}$/)
  const curl = await linesOf(page)
  await page.getByRole('tab', { name: 'Python' }).click()
  await page.getByRole('tabpanel', { name: 'Python' }).getByText(`Bearer ${key}`).waitFor()
  await page.reload()
  expect(await page.getByRole('tab', { name: 'Python' }).getAttribute('aria-selected')).toBe('true')
  expect(await page.getByText(key).count()).toBe(0)
  await page.getByRole('status').getByText('Waiting for the next conversation').waitFor()
  await page.getByRole('link', { name: /^View [\d,]+ conversations?$/ }).waitFor()

  // The displayed example works.
  const [, body = ''] = /-d '([\s\S]+)'/.exec(curl) ?? []
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const sent = await fetch(`${origin}/v1/conversations`, { method: 'POST', headers, body })
  expect(sent.status).toBe(201)
  const { id } = (await sent.json()) as { id: string }
  await page.waitForURL(`${origin}/conversations/${id}`)
})

it('shows a program that creates a conversation', async () => {
  const page = await start('/start?way=javascript')
  await page.getByRole('button', { name: 'Create API key' }).click()
  await page.getByRole('region', { name: 'Create an API key' }).locator('code').waitFor()
  await page.getByRole('status').getByText('Waiting for the next conversation').waitFor()
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', await linesOf(page)])
  await page.waitForURL(/\/conversations\/[0-9a-f-]{36}/)
  await page.getByText('Hello, how can I help?').waitFor()
})

it('tells viewers who can create API keys', async () => {
  const page = await open('/start?way=provider', 'viewer', { theme: 'dark', viewport: { width: 320, height: 700 } })
  await page.getByText('Only admins can create API keys.').waitFor()
  await page.getByText('Only admins can create connections.').waitFor()
  expect(await page.getByRole('button', { name: 'Create API key' }).count()).toBe(0)
  expect(await breaches(page)).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
})
