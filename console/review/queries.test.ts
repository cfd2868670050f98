import { QueryClient } from '@tanstack/react-query'
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'

type Reply = { status?: number; body?: unknown }

const requests: string[] = []
const replies = new Map<string, Reply | (() => Promise<Reply>)>()

vi.stubGlobal('location', { origin: 'https://earshot.example.com' })
vi.stubGlobal('fetch', async (request: Request) => {
  const { pathname, searchParams } = new URL(request.url)
  const name = `${request.method} ${pathname}`
  requests.push(name)
  const cursor = searchParams.get('cursor')
  const reply = replies.get(cursor === null ? name : `${name} after ${cursor}`)
  const { status = 200, body = {} } = typeof reply === 'function' ? await reply() : (reply ?? { status: 500 })
  return status === 204 ? new Response(null, { status }) : Response.json(body, { status })
})
// The client reads its origin when it is imported.
const { changeReview, claimReview, isLost, releaseReview, reviewResultsOptions } = await import('./queries.ts')
const { Fault } = await import('../api/fault.ts')

afterAll(() => void vi.unstubAllGlobals())
beforeEach(() => {
  requests.length = 0
  replies.clear()
})

const review = (id: string, bucketId = 'bucket') => ({ id, bucketId, leaseExpiresAt: '2026-11-25T12:30:00.000Z' })
const claim = (present?: string) => claimReview({ bucketId: 'bucket', me: 'me', present })

describe('the review to show', () => {
  it('is the one in the URL if it can still be extended', async () => {
    replies.set('POST /v1/reviews/a/heartbeat', { body: review('a') })
    expect(await claim('a')).toMatchObject({ id: 'a' })
    expect(requests).toEqual(['POST /v1/reviews/a/heartbeat'])
  })

  it.each([404, 409])('is another one in progress if the one in the URL is lost (%i)', async (status) => {
    replies.set('POST /v1/reviews/a/heartbeat', { status, body: { message: 'Lost.' } })
    replies.set('GET /v1/reviews', { body: { data: [review('b')], nextCursor: null } })
    replies.set('POST /v1/reviews/b/heartbeat', { body: review('b') })
    expect(await claim('a')).toMatchObject({ id: 'b' })
  })

  it('is not the one in the URL if that belongs to another bucket', async () => {
    replies.set('POST /v1/reviews/a/heartbeat', { body: review('a', 'other') })
    replies.set('GET /v1/reviews', { body: { data: [], nextCursor: null } })
    replies.set('POST /v1/buckets/bucket/claim', { body: review('c') })
    expect(await claim('a')).toMatchObject({ id: 'c' })
  })

  it('is the next one if the one in progress was lost meanwhile', async () => {
    replies.set('GET /v1/reviews', { body: { data: [review('b')], nextCursor: null } })
    replies.set('POST /v1/reviews/b/heartbeat', { status: 409, body: { message: 'Lost.' } })
    replies.set('POST /v1/buckets/bucket/claim', { body: review('c') })
    expect(await claim()).toMatchObject({ id: 'c' })
  })

  it('is none if nothing is left', async () => {
    replies.set('GET /v1/reviews', { body: { data: [], nextCursor: null } })
    replies.set('POST /v1/buckets/bucket/claim', { status: 204 })
    expect(await claim()).toBeNull()
  })

  it('is not claimed if the server fails, so that no second review is claimed', async () => {
    replies.set('POST /v1/reviews/a/heartbeat', { status: 503, body: { message: 'Busy.' } })
    await expect(claim('a')).rejects.toMatchObject({ status: 503 })
    expect(requests).toEqual(['POST /v1/reviews/a/heartbeat'])
  })
})

it('releases a review only after its last change is saved', async () => {
  let save: (reply: Reply) => void = () => undefined
  replies.set('PATCH /v1/reviews/a', () => new Promise((resolve) => (save = resolve)))
  replies.set('POST /v1/reviews/a/release', { body: review('a') })
  const changed = changeReview('a', { rating: 4 })
  const released = releaseReview('a', 'bucket')
  await vi.waitFor(() => expect(requests).toEqual(['PATCH /v1/reviews/a']))
  save({ body: review('a') })
  await Promise.all([changed, released])
  expect(requests).toEqual(['PATCH /v1/reviews/a', 'POST /v1/reviews/a/release'])
})

it('has the results on all pages', async () => {
  const path = 'GET /v1/conversations/c/results'
  replies.set(path, { body: { data: [{ monitorVersion: 3 }], nextCursor: 'two' } })
  replies.set(`${path} after two`, { body: { data: [{ monitorVersion: 2 }], nextCursor: 'three' } })
  replies.set(`${path} after three`, { body: { data: [{ monitorVersion: 1 }], nextCursor: null } })
  const results = await new QueryClient().fetchQuery(reviewResultsOptions('c'))
  expect(results.map(({ monitorVersion }) => monitorVersion)).toEqual([3, 2, 1])
})

it('is lost if someone else has claimed it or it was erased, not on other errors', () => {
  const isLostAt = (status: number) => isLost(new Fault({ status, message: '' }))
  expect([404, 409, 403, 429, 500, 0].map(isLostAt)).toEqual([true, true, false, false, false, false])
  expect(isLost(new Error('other'))).toBe(false)
})
