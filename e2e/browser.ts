// Opens pages of a real server in a real browser. Every test also fails on errors that no page may have.

import axe, { type AxeResults } from 'axe-core'
import type { Browser, BrowserContextOptions, Page, Request, Route } from 'playwright-core'
import { expect, inject, onTestFinished } from 'vitest'
import { launchChromium } from './chromium.ts'
import type { People, Role } from './people.ts'

export const origin = inject('origin')

let browser: Browser | undefined

/** Shares one browser among all files in a process. The browser ends with the process. */
const launch = async () => {
  if (!browser?.isConnected()) browser = await launchChromium(inject('chromium'))
  return browser
}

/** Returns whether the console logged an error response. Tests provoke some. */
const isRefusal = (text: string) => /the server responded with a status of 4\d\d/.test(text)

type Traffic = { underWay: Set<Request>; changedAt: number }

const trafficOf = new WeakMap<Page, Traffic>()

/** Returns whether a request is the event stream, which lasts as long as the page. */
const isStream = (request: Request) => new URL(request.url()).pathname === '/v1/stream'

const watchTraffic = (page: Page) => {
  const traffic: Traffic = { underWay: new Set(), changedAt: performance.now() }
  trafficOf.set(page, traffic)
  const end = (request: Request) => {
    if (traffic.underWay.delete(request)) traffic.changedAt = performance.now()
  }
  page.on('request', (request) => {
    if (isStream(request)) return
    traffic.underWay.add(request)
    traffic.changedAt = performance.now()
  })
  page.on('requestfinished', end)
  page.on('requestfailed', end)
  // Requests of a page that was closed never end.
  page.on('framenavigated', (frame) => void (frame === page.mainFrame() && traffic.underWay.clear()))
}

/** Responds with an event stream that has no events, and delays the next attempt by ten minutes. */
export const withoutEvents = (route: Route): Promise<void> =>
  route.fulfill({ contentType: 'text/event-stream', body: 'retry: 600000\n\n' })

const quietMs = 500

/** Resolves once the page has loaded and waits for nothing but events. */
export const quiet = async (page: Page): Promise<void> => {
  await page.waitForLoadState('load')
  const isQuiet = () => {
    const { underWay, changedAt } = trafficOf.get(page) ?? { underWay: new Set(), changedAt: 0 }
    return underWay.size === 0 && performance.now() - changedAt > quietMs
  }
  await expect.poll(isQuiet, { timeout: 15_000 }).toBe(true)
}

const watch = (page: Page, faults: string[], at: string) => {
  watchTraffic(page)
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()) && !isRefusal(message.text()))
      faults.push(`console: ${message.text()}`)
  })
  page.on('pageerror', (error) => faults.push(`thrown: ${error.stack ?? error}`))
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (url.protocol.startsWith('http') && url.origin !== at) faults.push(`asked another host: ${url.href}`)
  })
}

type Open = BrowserContextOptions & {
  theme?: 'light' | 'dark'
  /** A service other than the one that all tests share, and its session. */
  elsewhere?: { origin: string; session: People[Role] }
}

const cookieOf = (session: People[Role], url: string) => ({ ...session, url, httpOnly: true, sameSite: 'Lax' }) as const

/** From now on, the page's requests are sent as this person. */
export const signInAs = (page: Page, role: Role): Promise<void> =>
  page.context().addCookies([cookieOf(inject('people')[role], origin)])

/** Opens a page of the console, signed in with the role if one is given. */
export const open = async (
  path: string,
  as?: Role,
  { theme = 'light', elsewhere, ...options }: Open = {},
): Promise<Page> => {
  const at = elsewhere?.origin ?? origin
  const session = elsewhere?.session ?? (as && inject('people')[as])
  const context = await (await launch()).newContext({
    viewport: { width: 1440, height: 900 },
    colorScheme: theme,
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    permissions: ['clipboard-read', 'clipboard-write'],
    ...options,
  })
  const faults: string[] = []
  // Hooks run in reverse order. The page is checked after it is closed, so that no error is missed.
  onTestFinished(() => expect(faults, 'what the page did that it must not').toEqual([]))
  onTestFinished(() => context.close())
  if (session) await context.addCookies([cookieOf(session, at)])
  const page = await context.newPage()
  page.setDefaultTimeout(15_000)
  watch(page, faults, at)
  onTestFinished(async ({ task }) => {
    if (task.result?.state !== 'fail') return
    throw new Error(`what was seen at ${page.url()}:\n${await page.locator('body').ariaSnapshot()}`)
  })
  await page.goto(at + path)
  return page
}

/** Returns a route handler that rejects the first request with 429. */
export const refuseOnce = (method = 'POST') => {
  let isFirst = true
  return (route: Route) => {
    if (!isFirst || route.request().method() !== method) return route.continue()
    isFirst = false
    return route.fulfill({ status: 429, json: { error: 'rate_limited', message: 'Too much at once.' } })
  }
}

/** Holds responses back until `letGo` is called. `settled` resolves when the page is waiting for nothing else. */
export const holdBack = async (page: Page, late: RegExp) => {
  const { promise: free, resolve: letGo } = Promise.withResolvers<void>()
  const [underWay, held] = [new Set<Request>(), new Set<Request>()]
  page.on('request', (request) => isStream(request) || underWay.add(request))
  page.on('requestfinished', (request) => underWay.delete(request))
  page.on('requestfailed', (request) => underWay.delete(request))
  await page.route(late, async (route) => {
    held.add(route.request())
    await free
    await route.continue()
  })
  const settled = () => expect.poll(() => held.size > 0 && underWay.size === held.size).toBe(true)
  return { settled, letGo }
}

/** Sends a request with the owner's key. */
export const ask = async <T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<T> => {
  const answer = await fetch(origin + path, {
    method,
    headers: {
      authorization: `Bearer ${inject('key')}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
  return (text === '' ? undefined : JSON.parse(text)) as T
}

type Listed = { data: { id: string; name: string }[] }

export const yesterday = new Date(Date.now() - 86_400_000).toISOString()

/** Lists the demo's conversations, latest first. Omits conversations from other tests, because they may be erased. */
export const conversationIds = async (limit: number, filter: Record<string, unknown> = {}): Promise<string[]> => {
  const body = { filter: { ...filter, until: yesterday }, limit }
  const { data } = await ask<Listed>('POST', '/v1/conversations/search', body)
  if (data.length < limit) throw new Error(`the demo has ${data.length} such conversations`)
  return data.map(({ id }) => id)
}

/** Returns the ID of the demo's monitor with this name. Other tests may delete the monitors that they create. */
export const monitorId = async (name: string): Promise<string> => {
  const { data } = await ask<Listed>('GET', '/v1/monitors?limit=200')
  const found = data.find((monitor) => monitor.name === name)
  if (!found) throw new Error(`the demo has no monitor ${name}`)
  return found.id
}

const ofColors = ['color-contrast', 'link-in-text-block']

/**
 * Returns a page's WCAG 2.2 AA violations. If only the theme has changed since the last call, `only: 'colors'` is
 * enough.
 */
export const breaches = async (page: Page, { only }: { only?: 'colors' } = {}): Promise<string[]> => {
  // The page's content security policy blocks foreign scripts, so this one is injected through the debugger.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source)
  const runOnly = only ? ofColors : ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
  // Reporting the elements that pass takes longer than finding violations.
  const options = JSON.stringify({ runOnly, resultTypes: ['violations'] })
  const { violations }: AxeResults = await page.evaluate(`axe.run(document, ${options})`)
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}\n${html}\n${failureSummary}`),
  )
}
