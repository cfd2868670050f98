import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { open, quiet, withoutEvents } from './browser.ts'

/** The maximum number of compressed script bytes, on most pages and on forms with comboboxes. */
const most = 150_000
const mostOfForms = 190_000
/** The maximum number of files that a page loads, excluding API responses. */
const mostFiles = 16

const isAnswer = (pathname: string) => /^\/(v1|auth)\//.test(pathname)

/** Visits a page for the first time, with an empty browser cache. */
const visit = async (page: Page, path: string) => {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.clearBrowserCache')
  await page.goto(new URL(path, page.url()).href)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await quiet(page)
}

it.each([
  ['/sign-in', undefined, most],
  ['/', 'owner', most],
  ['/conversations', 'viewer', most],
  ['/monitors', 'viewer', most],
  ['/monitors/new', 'member', mostOfForms],
  ['/exports/new', 'viewer', mostOfForms],
  ['/experiments', 'viewer', most],
  ['/experiments/new', 'owner', mostOfForms],
  ['/findings', 'viewer', most],
  ['/review', 'member', most],
  ['/agents', 'viewer', most],
  ['/exports', 'viewer', most],
  ['/settings/profile', 'viewer', most],
] as const)('%s loads few files and little script', async (path, role, mostScript) => {
  const page = await open('/nowhere', role)
  const sizes: Promise<number>[] = []
  const files: string[] = []
  page.on('response', (response) => {
    const { pathname } = new URL(response.url())
    if (isAnswer(pathname)) return
    files.push(pathname)
    if (!pathname.endsWith('.js')) return
    expect(response.headers()['content-encoding']).toBe('br')
    sizes.push(
      response
        .request()
        .sizes()
        .then(({ responseBodySize }) => responseBodySize),
    )
  })
  await visit(page, path)
  const loaded = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
  expect(loaded).toBeGreaterThan(50_000)
  expect(loaded).toBeLessThanOrEqual(mostScript)
  expect(files.length, files.join('\n')).toBeLessThanOrEqual(mostFiles)
})

it('requests each part of the overview once', async () => {
  const page = await open('/nowhere', 'owner')
  // Changes by other tests would make the page repeat requests.
  await page.route('**/v1/stream', withoutEvents)
  const asked: string[] = []
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url())
    if (isAnswer(pathname)) asked.push(`${request.method()} ${pathname}${search} ${request.postData() ?? ''}`)
  })
  await visit(page, '/')
  await page
    .getByRole('region', { name: 'Monitors, most unusual first' })
    .getByText(/n = \d/)
    .first()
    .waitFor()
  await quiet(page)
  expect(asked.toSorted()).toEqual([...new Set(asked)].toSorted())
  // The page also requests a list for each monitor, experiment, bucket, and webhook endpoint that it shows.
  const lists = asked
    .filter((request) => !/\/v1\/[a-z-]+\/[0-9a-f-]{36}/.test(request))
    .map((request) => request.split(/[ ?]/)[1])
  expect([...new Set(lists)].toSorted()).toEqual([
    '/v1/alert-incidents',
    '/v1/alert-rules',
    '/v1/analytics/query',
    '/v1/buckets',
    '/v1/conversation-exports',
    '/v1/conversations/search',
    '/v1/experiments',
    '/v1/findings',
    '/v1/health',
    '/v1/integrations',
    '/v1/me',
    '/v1/members',
    '/v1/monitor-exports',
    '/v1/monitors',
    '/v1/notifications',
    '/v1/stream',
    '/v1/webhook-endpoints',
  ])
})

it('only preloads code when the pointer is on a link, and stays even if the session has ended', async () => {
  const page = await open('/nowhere', 'member')
  await page.route('**/v1/stream', withoutEvents)
  await visit(page, '/companies')
  await page.getByRole('heading', { level: 1 }).waitFor()
  await quiet(page)
  const asked: string[] = []
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (isAnswer(pathname)) asked.push(pathname)
  })
  await page.context().clearCookies()
  const code = page.waitForResponse(/\/console\/assets\/overview-[^/]+\.js$/)
  await page.getByRole('link', { name: 'Overview' }).hover()
  await code
  await quiet(page)
  expect(asked).toEqual([])
  expect(new URL(page.url()).pathname).toBe('/companies')
})

it('requests the data of a preloaded page when it is opened', async () => {
  const page = await open('/companies', 'member')
  // Conversations from other tests would make the page request its data again.
  await page.route('**/v1/stream', withoutEvents)
  await page.reload()
  await quiet(page)
  const code = page.waitForResponse(/\/console\/assets\/overview-[^/]+\.js$/)
  await page.getByRole('link', { name: 'Overview' }).hover()
  await code
  let counts = 0
  page.on('request', (request) => {
    if (request.postData()?.includes('"volume"')) counts += 1
  })
  await page.getByRole('link', { name: 'Overview' }).click()
  await page.getByRole('region', { name: 'Volume' }).getByRole('link').first().waitFor()
  expect(counts).toBe(1)
})
