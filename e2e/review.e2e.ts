import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { ask, breaches, conversationIds, monitorId, open, origin, refuseOnce } from './browser.ts'

type Listed<T> = { data: T[] }
type Review = { id: string; status: string; conversationId: string; judgments: { comment: string | null }[] }

/** Creates a bucket of calls that the first monitor marked as affected. */
const makeBucket = async (calls: number, settings: Record<string, unknown> = {}) => {
  const asks = await monitorId('Asks for a person')
  const filter = { monitors: [{ id: asks, result: 'affected' }], channels: ['call'] }
  const name = `Room ${crypto.randomUUID().slice(0, 8)}`
  const bucket = await ask<{ id: string }>('POST', '/v1/buckets', {
    name,
    type: 'static',
    monitorIds: [asks, await monitorId('Left waiting')],
    ...settings,
  })
  await ask('POST', `/v1/buckets/${bucket.id}/conversations`, {
    conversationIds: await conversationIds(calls, filter),
  })
  return { id: bucket.id, name }
}

const reviewsOf = async (bucketId: string) =>
  (await ask<Listed<Review>>('GET', `/v1/reviews?bucketId=${bucketId}`)).data

const stack = (page: Page) => page.getByRole('list', { name: 'Judgments' })
const said = (page: Page) => page.getByRole('status')

it('works by keyboard: judge, write a note, complete, and claim the next conversation', async () => {
  const { id, name } = await makeBucket(2, { noteOnDisagreement: true })
  const page = await open('/review', 'member')
  // The delay makes React render late, as it does on a busy machine.
  await page.addInitScript(`const { postMessage } = MessagePort.prototype
    MessagePort.prototype.postMessage = function (...all) { setTimeout(() => postMessage.apply(this, all), 100) }`)
  await page.reload()
  const start = page.getByRole('link', { name: `Start reviewing ${name}` })
  await start.focus()
  await page.keyboard.press('Enter')
  await stack(page).getByRole('heading', { name: 'Asks for a person' }).waitFor()

  await page.keyboard.press('2')
  await page.getByText('A note is required because you disagree with the monitor.').waitFor()
  await page.keyboard.press('j')
  await stack(page).getByRole('heading', { name: 'Left waiting' }).waitFor()
  await page.keyboard.press('3')
  await page.keyboard.press('Enter')
  // The server requires a note, and the page moves the focus to it.
  await page.getByText('A note is required because you disagree with the monitor.').waitFor()
  const note = page.getByLabel('Note on Asks for a person')
  await note.and(page.locator(':focus')).waitFor()
  await page.keyboard.type('They ask whether one exists.')
  await page.keyboard.press('Escape')
  await page.keyboard.press('Enter')
  await said(page).getByText('You disagree with the monitor on Asks for a person: affected.').waitFor()

  await stack(page).getByRole('heading', { name: 'Asks for a person' }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByText('Choose a result first.').waitFor()
  await page.keyboard.press('1')
  await page.keyboard.press('3')
  await page.keyboard.press('j')
  await page.keyboard.press('4')
  await page.getByRole('button', { name: '4 of 5' }).waitFor()
  await page.keyboard.press('n')
  await page.keyboard.type('Polite.')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('heading', { name: 'All done' }).waitFor()

  const reviews = await reviewsOf(id)
  expect(reviews.map(({ status }) => status)).toEqual(['completed', 'completed'])
  expect(reviews[1]?.judgments.map(({ comment }) => comment)).toContain('They ask whether one exists.')
  expect(reviews[0]).toMatchObject({ rating: 4, notes: 'Polite.' })
})

it('hides monitor results until the reviewer has answered', async () => {
  const { id } = await makeBucket(1, { blind: true })
  const page = await open(`/review/${id}`, 'member')
  await stack(page).getByRole('heading', { name: 'Asks for a person' }).waitFor()
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  await page.reload()
  await stack(page).getByRole('heading', { name: 'Asks for a person' }).waitFor()
  await expect.poll(() => asked.filter((path) => path.endsWith('/transcript'))).toHaveLength(1)
  expect(asked.filter((path) => /\/conversations\/[^/]+\/(results|findings|reviews)$/.test(path))).toEqual([])
  expect(await page.getByText('Monitor result:').count()).toBe(0)
  expect(await page.locator('mark').count()).toBe(0)
  const [held] = await reviewsOf(id)
  const other = await page.context().newPage()
  await other.goto(`${origin}/conversations/${held?.conversationId}`)
  await other
    .getByText(/blind review of this conversation/)
    .first()
    .waitFor()
  await other.close()
  await page.keyboard.press('1')
  await page.keyboard.press('2')
  await page.keyboard.press('Enter')
  await said(page)
    .getByText(/^Review completed\. You/)
    .waitFor()
})

it('hides results that the same reviewer has just seen in another bucket', async () => {
  const seen = await makeBucket(1)
  const blind = await makeBucket(1, { blind: true })
  const page = await open(`/review/${seen.id}`, 'member')
  await page.getByText('Monitor result:').waitFor()
  await page.locator('mark').first().waitFor()
  await page.getByRole('link', { name: 'Leave review' }).click()
  await page.getByRole('link', { name: `Start reviewing ${blind.name}` }).click()
  await page.getByRole('heading', { level: 1, name: blind.name }).waitFor()
  await stack(page).getByRole('heading', { name: 'Asks for a person' }).waitFor()
  expect(await page.locator('mark').count()).toBe(0)
  expect(await page.getByText('Monitor result:').count()).toBe(0)
  await page.keyboard.press('1')
  await page.keyboard.press('2')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'All done' }).waitFor()
})

it('skips a monitor without a result that only the server knows of', async () => {
  const { id: later } = await ask<{ id: string }>('POST', '/v1/monitors', {
    name: 'Never looked',
    kind: 'external',
    definition: {},
  })
  const { id } = await makeBucket(1, { blind: true, monitorIds: [later, await monitorId('Left waiting')] })
  const page = await open(`/review/${id}`, 'member')
  await stack(page).getByRole('heading', { name: 'Never looked' }).waitFor()
  await page.keyboard.press('1')
  await page.keyboard.press('2')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'All done' }).waitFor()
  const [review] = await reviewsOf(id)
  expect(review).toMatchObject({ status: 'completed', judgments: [{ correctResult: 'not_affected' }] })
})

it('requires a note even if another monitor turns out to have no result', async () => {
  const { id: later } = await ask<{ id: string }>('POST', '/v1/monitors', {
    name: 'Never heard',
    kind: 'external',
    definition: {},
  })
  const monitorIds = [later, await monitorId('Asks for a person')]
  const { id } = await makeBucket(1, { blind: true, noteOnDisagreement: true, monitorIds })
  const page = await open(`/review/${id}`, 'member')
  await stack(page).getByRole('heading', { name: 'Never heard' }).waitFor()
  // The keys are pressed without waiting for answers to be saved.
  await page.keyboard.press('1')
  await page.keyboard.press('2')
  await page.keyboard.press('Enter')
  await page.getByLabel('Note on Asks for a person').and(page.locator(':focus')).waitFor()
  expect(await stack(page).getByRole('heading', { name: 'Never heard' }).count()).toBe(0)
  await page.keyboard.type('They ask for nobody.')
  await page.keyboard.press('Escape')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'All done' }).waitFor()
})

it('keeps the review on reload, releases it on leaving, and skips on the second press', async () => {
  const { id, name } = await makeBucket(3)
  const page = await open(`/review/${id}`, 'member')
  await stack(page).getByRole('heading', { name: 'Asks for a person' }).waitFor()
  const kept = page.waitForResponse((response) => response.request().method() === 'PATCH')
  await page.keyboard.press('1')
  await stack(page).getByRole('heading', { name: 'Left waiting' }).waitFor()
  await (await kept).finished()
  expect((await reviewsOf(id))[0]?.judgments).toHaveLength(1)
  await expect.poll(() => new URL(page.url()).searchParams.get('review')).not.toBeNull()
  const address = page.url()
  await page.reload()
  await stack(page).getByRole('heading', { name: 'Asks for a person' }).waitFor()
  expect(page.url()).toBe(address)
  await page.getByRole('button', { name: 'Affected', exact: true, pressed: true }).waitFor()
  expect(await reviewsOf(id)).toMatchObject([{ status: 'in_progress' }])

  await page.getByRole('link', { name: 'Leave review' }).click()
  await page.getByRole('heading', { name: 'Review', exact: true }).waitFor()
  await expect.poll(async () => (await reviewsOf(id))[0]?.status).toBe('pending')

  await page.getByRole('link', { name: `Start reviewing ${name}` }).click()
  await stack(page).waitFor()
  await page.keyboard.press('s')
  await page.getByText('Another reviewer will get this').waitFor()
  await page.keyboard.press('Escape')
  await page.getByText('Another reviewer will get this').waitFor({ state: 'detached' })
  await page.keyboard.press('s')
  await page.keyboard.press('s')
  await said(page).getByText('Skipped.').waitFor()
  await expect.poll(async () => (await reviewsOf(id)).map(({ status }) => status)).toEqual(['in_progress', 'skipped'])
  await page.goto(`${origin}/`)
  await expect.poll(async () => (await reviewsOf(id)).map(({ status }) => status)).toEqual(['pending', 'skipped'])
})

it('saves the last input on leaving immediately and after a temporary error', async () => {
  const { id, name } = await makeBucket(1)
  const page = await open(`/review/${id}`, 'member')
  await stack(page).getByRole('heading', { name: 'Asks for a person' }).waitFor()
  await page.keyboard.press('1')
  await page.getByRole('link', { name: 'Leave review' }).click()
  await expect.poll(() => reviewsOf(id)).toMatchObject([{ status: 'pending', judgments: [{}] }])
  await page.getByRole('link', { name: `Start reviewing ${name}` }).click()
  await page.getByRole('button', { name: 'Affected', exact: true, pressed: true }).waitFor()
  await page.route('**/v1/reviews/*', refuseOnce('PATCH'))
  await page.keyboard.press('j')
  await stack(page).getByRole('heading', { name: 'Left waiting' }).waitFor()
  await page.keyboard.press('2')
  await page.getByText('Your changes aren’t saved yet. Retrying…').waitFor()
  await expect.poll(async () => (await reviewsOf(id))[0]?.judgments.length, { timeout: 10_000 }).toBe(2)
  await page.getByText('Your changes aren’t saved yet').waitFor({ state: 'detached' })
})

it('says if the lease is lost or the conversation erased, and continues with the next', async () => {
  const { id } = await makeBucket(2)
  const page = await open(`/review/${id}`, 'member')
  await stack(page).getByRole('heading', { name: 'Asks for a person' }).waitFor()
  const [held] = await reviewsOf(id)
  const given = await page.request.post(`${origin}/v1/reviews/${held?.id}/release`, { headers: { origin }, data: {} })
  expect(given.ok()).toBe(true)
  const taken = await ask<Review>('POST', `/v1/buckets/${id}/claim`)
  expect(taken.conversationId).toBe(held?.conversationId)
  await page.keyboard.press('1')
  await page.getByRole('heading', { name: 'This review is no longer yours' }).waitFor()
  await page.getByText('another reviewer has it').waitFor()
  await page.getByRole('button', { name: 'Claim next' }).click()
  await stack(page).getByRole('heading', { name: 'Asks for a person' }).waitFor()
  await ask('POST', `/v1/reviews/${taken.id}/release`)

  const startedAt = new Date(Date.now() - 60_000).toISOString()
  const gone = await ask<{ id: string }>('POST', '/v1/conversations', {
    agent: { externalId: 'e2e', name: 'Eve', channel: 'voice' },
    channel: 'chat',
    startedAt,
    transcript: [{ role: 'customer', text: 'Hi' }],
  })
  const bucket = await ask<{ id: string }>('POST', '/v1/buckets', { name: `Gone ${gone.id}`, type: 'static' })
  await ask('POST', `/v1/buckets/${bucket.id}/conversations`, { conversationIds: [gone.id] })
  await page.goto(`${origin}/review/${bucket.id}`)
  await stack(page).waitFor()
  await ask('DELETE', `/v1/conversations/${gone.id}`)
  await page.keyboard.press('Control+Enter')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('heading', { name: 'This review is no longer yours' }).waitFor()
})

it('runs a shortcut once while its key is held down, and confirms an empty review', async () => {
  const { id } = await makeBucket(2, { monitorIds: [] })
  // Pages without TLS have no `crypto.randomUUID`.
  const page = await open('/review', 'member')
  await page.addInitScript('delete Crypto.prototype.randomUUID')
  await page.goto(`${origin}/review/${id}`)
  await stack(page).waitFor()
  for (let times = 0; times < 4; times++) await page.keyboard.down('s')
  await page.keyboard.up('s')
  await page.getByText('Another reviewer will get this').waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Enter')
  await page.getByText('You haven’t rated anything. Press Enter again to submit anyway.').waitFor()
  expect((await reviewsOf(id)).map(({ status }) => status)).toEqual(['in_progress'])
  await page.keyboard.press('Enter')
  await expect.poll(async () => (await reviewsOf(id)).map(({ status }) => status)).toEqual(['in_progress', 'completed'])
})

it('extends the lease during activity', async () => {
  const { name } = await makeBucket(1)
  const page = await open('/review', 'member')
  await page.clock.install()
  await page.getByRole('link', { name: `Start reviewing ${name}` }).click()
  await stack(page).waitFor()
  await page.getByText('Reserved for 30 m').waitFor()
  const beat = page.waitForRequest(/\/heartbeat$/)
  await page.mouse.move(200, 200)
  await page.mouse.move(240, 240)
  await page.clock.fastForward('07:00')
  await beat
})

it('tells viewers that they cannot review, and shows that a bucket is empty', async () => {
  const { id } = await ask<{ id: string }>('POST', '/v1/buckets', { name: 'An empty room', type: 'static' })
  const viewer = await open('/review', 'viewer')
  await viewer.getByText('Viewers can’t review conversations').waitFor()
  expect(await viewer.getByRole('link', { name: /^Start/ }).count()).toBe(0)
  await viewer.goto(`${origin}/review/${crypto.randomUUID()}`)
  await viewer.getByRole('alert').waitFor()
  await viewer.getByRole('link', { name: 'Back to reviews' }).waitFor()
  const page = await open(`/review/${id}`, 'member')
  await page.getByRole('heading', { name: 'Nothing to review' }).waitFor()
  expect(await breaches(page)).toEqual([])
  await page.getByRole('link', { name: 'Back to reviews' }).click()
  await page.getByRole('list', { name: 'Buckets to review' }).waitFor()
})

it.each(['light', 'dark'] as const)('meets WCAG 2.2 AA (%s) and fits 320 pixels', async (theme) => {
  const { id } = await makeBucket(1)
  const page = await open('/review', 'member', { theme })
  await page.getByRole('list', { name: 'Buckets to review' }).waitFor()
  expect(await breaches(page)).toEqual([])
  await page.setViewportSize({ width: 320, height: 640 })
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.goto(`${origin}/review/${id}`)
  await stack(page).getByRole('heading', { name: 'Asks for a person' }).waitFor()
  await page.getByText('Monitor result:').waitFor()
  await page.keyboard.press('1')
  expect(await breaches(page)).toEqual([])
  await page.setViewportSize({ width: 320, height: 640 })
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
  expect(await breaches(page)).toEqual([])
})
