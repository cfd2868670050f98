// A real browser on the real service. What no page may do is watched in every test.

import axe, { type AxeResults } from 'axe-core'
import type { Browser, BrowserContextOptions, Page, Request, Route } from 'playwright-core'
import { expect, inject, onTestFinished } from 'vitest'
import { launchChromium } from './chromium.ts'
import type { Role } from './people.ts'

export const origin = inject('origin')

let browser: Browser | undefined

/** One for all the files that a process runs: it ends with the process. */
const launch = async () => {
  if (!browser?.isConnected()) browser = await launchChromium(inject('chromium'))
  return browser
}

/** Refusals that a test provokes are told on the browser's console too. */
const isRefusal = (text: string) => /the server responded with a status of 4\d\d/.test(text)

const watch = (page: Page, faults: string[]) => {
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()) && !isRefusal(message.text()))
      faults.push(`console: ${message.text()}`)
  })
  page.on('pageerror', (error) => faults.push(`thrown: ${error.stack ?? error}`))
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (url.protocol.startsWith('http') && url.origin !== origin) faults.push(`asked another host: ${url.href}`)
  })
}

type Open = BrowserContextOptions & { theme?: 'light' | 'dark' }

/** A page of the console, as this person; without one nobody is signed in. */
export const open = async (path: string, as?: Role, { theme = 'light', ...options }: Open = {}): Promise<Page> => {
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
  // What comes last runs first: looked at once the page is closed, nothing that it did is missed.
  onTestFinished(() => expect(faults, 'what the page did that it must not').toEqual([]))
  onTestFinished(() => context.close())
  if (as) await context.addCookies([{ ...inject('people')[as], url: origin, httpOnly: true, sameSite: 'Lax' }])
  const page = await context.newPage()
  page.setDefaultTimeout(15_000)
  watch(page, faults)
  onTestFinished(async ({ task }) => {
    if (task.result?.state !== 'fail') return
    throw new Error(`what was seen at ${page.url()}:\n${await page.locator('body').ariaSnapshot()}`)
  })
  await page.goto(origin + path)
  return page
}

/** For a route: the first request is refused as too many, the others go on. */
export const refuseOnce = (method = 'POST') => {
  let isFirst = true
  return (route: Route) => {
    if (!isFirst || route.request().method() !== method) return route.continue()
    isFirst = false
    return route.fulfill({ status: 429, json: { error: 'rate_limited', message: 'Too much at once.' } })
  }
}

/** What comes late: held back until it is let go. Settled is a page that waits for nothing else. */
export const holdBack = async (page: Page, late: RegExp) => {
  const { promise: free, resolve: letGo } = Promise.withResolvers<void>()
  const [underWay, held] = [new Set<Request>(), new Set<Request>()]
  page.on('request', (request) => underWay.add(request))
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

/** Asks the service with the owner's key. */
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

/** Conversations of the demo's own, the newest first: what other tests send may be erased again. */
export const conversationIds = async (limit: number, filter: Record<string, unknown> = {}): Promise<string[]> => {
  const body = { filter: { ...filter, until: yesterday }, limit }
  const { data } = await ask<Listed>('POST', '/v1/conversations/search', body)
  if (data.length < limit) throw new Error(`the demo has ${data.length} such conversations`)
  return data.map(({ id }) => id)
}

/** By the name that the demo gave it: what other tests make may be deleted again. */
export const monitorId = async (name: string): Promise<string> => {
  const { data } = await ask<Listed>('GET', '/v1/monitors?limit=200')
  const found = data.find((monitor) => monitor.name === name)
  if (!found) throw new Error(`the demo has no monitor ${name}`)
  return found.id
}

const ofColors = ['color-contrast', 'link-in-text-block']

/** What of WCAG 2.2 AA a page breaks; or, where nothing else has changed since it was last asked, by its colours alone. */
export const breaches = async (page: Page, { only }: { only?: 'colors' } = {}): Promise<string[]> => {
  // The page's policy keeps scripts out that are not its own; this one comes by the debugger.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source)
  const runOnly = only ? ofColors : ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
  // To tell of each element that breaks nothing takes longer than to find those that do.
  const options = JSON.stringify({ runOnly, resultTypes: ['violations'] })
  const { violations }: AxeResults = await page.evaluate(`axe.run(document, ${options})`)
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}\n${html}\n${failureSummary}`),
  )
}
