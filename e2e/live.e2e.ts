import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { ask, breaches, monitorId, open } from './browser.ts'

/** Tests that pages show changes made elsewhere, without polling. */

/** Resolves when a page's event stream is open. */
const opened = (page: Page) => page.waitForResponse((response) => response.url().endsWith('/v1/stream'))

const count = (page: Page, wanted: RegExp) => {
  let requests = 0
  page.on('request', (request) => {
    if (wanted.test(new URL(request.url()).pathname)) requests++
  })
  return () => requests
}

const store = (customerId: string, minute: number) =>
  ask<{ id: string }>('POST', '/v1/conversations', {
    externalId: randomUUID(),
    agent: { externalId: 'live', name: 'Live', channel: 'voice' },
    channel: 'call',
    customerId,
    startedAt: new Date(Date.now() - (10 - minute) * 60_000).toISOString(),
  })

const pathOf = (customerId: string) => `/conversations?filter=${encodeURIComponent(JSON.stringify({ customerId }))}`

it('offers new conversations in a button, and keeps the list where it is', async () => {
  const customerId = `live-${randomUUID()}`
  await store(customerId, 0)
  const page = await open('/agents', 'viewer')
  const streaming = opened(page)
  await page.goto(new URL(pathOf(customerId), page.url()).href)
  await streaming
  const rows = page.getByRole('grid', { name: 'Conversations' }).getByText(customerId)
  await rows.first().waitFor()
  await store(customerId, 1)
  await page.getByRole('button', { name: '1 new conversation' }).waitFor()
  expect(await rows.count()).toBe(1)
  await store(customerId, 2)
  const button = page.getByRole('button', { name: '2 new conversations' })
  await button.waitFor()
  expect(await breaches(page)).toEqual([])
  await button.click()
  await expect.poll(() => rows.count()).toBe(3)
  await expect.poll(() => button.count()).toBe(0)
})

it('shows an export that was created elsewhere, and when it completes', async () => {
  const config = {
    monitors: [{ id: await monitorId('Tool failed') }],
    since: '2021-01-01T00:00:00Z',
    until: new Date().toISOString(),
    timezone: 'UTC',
    format: 'csv',
  }
  const page = await open('/exports', 'viewer')
  await page.getByRole('heading', { name: 'Exports', exact: true }).waitFor()
  const { id } = await ask<{ id: string }>('POST', '/v1/monitor-exports', { operationId: randomUUID(), config })
  const stored = async () => (await ask<{ status: string }>('GET', `/v1/monitor-exports/${id}`)).status
  await expect.poll(stored, { timeout: 15_000 }).toBe('completed')
  await page.locator(`a[href*="${id}"]`).first().waitFor()
})

it('shares one stream between tabs, which continues when the first tab closes', async () => {
  const first = await open('/agents', 'member')
  const second = await first.context().newPage()
  const [ofFirst, ofSecond] = [count(first, /^\/v1\/stream$/), count(second, /^\/v1\/stream$/)]
  await second.goto(new URL('/findings', first.url()).href)
  await second.getByRole('heading', { name: 'Findings', exact: true }).waitFor()
  const title = `Live ${randomUUID()}`
  await ask('POST', '/v1/findings', { title })
  await second.getByText(title).waitFor()
  expect([ofFirst(), ofSecond()]).toEqual([expect.any(Number), 0])
  const taken = opened(second)
  await first.close()
  await taken
  const next = `Live ${randomUUID()}`
  await ask('POST', '/v1/findings', { title: next })
  await second.getByText(next).waitFor()
})
