import { createHash } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { makeKey, makeOrganization } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { Earshot, EarshotError, type NewConversation } from '../src/earshot.ts'
import { openSha256 } from '../src/sha256.ts'
import { loseAnswer, openWire, refuse, silence } from './wire.ts'

const wire = await openWire()
const server = await testServer({ EARSHOT_BASE_URL: wire.url })
wire.target = server.origin

const call = (number: number, fields: Partial<NewConversation> = {}): NewConversation => ({
  externalId: `call-${number}`,
  agent: { externalId: 'leo', name: 'Leo', channel: 'voice' },
  channel: 'call',
  startedAt: new Date(Date.UTC(2026, 10, 1) + number * 60_000).toISOString(),
  ...fields,
})

let key: string
let earshot: Earshot
beforeEach(async () => {
  key = (await makeOrganization(server)).key
  earshot = new Earshot({ url: wire.url, key })
  wire.seen.length = 0
  expect(wire.faults).toEqual([])
})

const faultOf = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.unreachable('it succeeded'),
    (error: unknown) => error,
  )

describe('lists', () => {
  beforeEach(async () => {
    await earshot.conversations.createBatch({ conversations: Array.from({ length: 7 }, (_each, at) => call(at)) })
    wire.seen.length = 0
  })

  it('only load the pages that are read', async () => {
    const found: string[] = []
    for await (const { externalId } of earshot.conversations.list({ limit: 3 })) found.push(String(externalId))
    expect(found).toEqual([6, 5, 4, 3, 2, 1, 0].map((number) => `call-${number}`))
    expect(wire.seen.length).toBe(3)
    wire.seen.length = 0
    for await (const _first of earshot.conversations.list({ limit: 3 })) break
    expect(wire.seen.length).toBe(1)
  })

  it('return a page, all pages, or all items, by GET and by POST', async () => {
    const { data, nextCursor } = await earshot.conversations.list({ limit: 5 }).page()
    expect(data.length).toBe(5)
    const rest = await earshot.conversations.list({ limit: 5, cursor: String(nextCursor) }).all()
    expect(rest.map(({ externalId }) => externalId)).toEqual(['call-1', 'call-0'])
    const sizes: number[] = []
    const search = earshot.conversations.search({ filter: { channels: ['call'] }, limit: 4 })
    for await (const page of search.pages()) sizes.push(page.data.length)
    expect(sizes).toEqual([4, 3])
  })
})

describe('failures', () => {
  it('contain everything that the server returned', async () => {
    // @ts-expect-error: a name must be a text
    const error = await faultOf(earshot.companies.create({ name: 5, colour: 'red' }))
    expect(error).toBeInstanceOf(EarshotError)
    expect(error).toMatchObject({ status: 400, code: 'validation failed', requestId: expect.stringMatching(/./) })
    expect((error as EarshotError).issues.length).toBe(2)
    expect(await faultOf(earshot.companies.get(crypto.randomUUID()))).toMatchObject({ status: 404, code: 'not found' })
    expect(await faultOf(new Earshot({ url: wire.url, key: 'ear_nobody' }).me.get())).toMatchObject({ status: 401 })
  })

  it('are retried if temporary, as often as configured, after the requested time', async () => {
    wire.faults.push(refuse(502), refuse(503, { 'retry-after': '1' }, '{"error":"x","message":"Not ready."}'))
    const beganAt = performance.now()
    expect((await earshot.me.get()).role).toBe('owner')
    expect(performance.now() - beganAt).toBeGreaterThan(1_000)
    expect(wire.seen.length).toBe(3)

    wire.faults.push(refuse(502), refuse(502))
    expect(await faultOf(earshot.me.get({ retries: 1 }))).toMatchObject({ status: 502, code: 'unexpected response' })
  })

  it('are not retried if a feature is disabled or the server asks for an hour', async () => {
    wire.faults.push(refuse(503, {}, '{"error":"temporarily unavailable","message":"It is off."}'))
    expect(await faultOf(earshot.me.get())).toMatchObject({ status: 503, message: 'It is off.' })
    wire.faults.push(refuse(429, { 'retry-after': '3600' }, '{"error":"rate limited","message":"Later."}'))
    expect(await faultOf(earshot.me.get())).toMatchObject({ status: 429, retryAfterSeconds: 3600 })
  })

  it('are retried after a lost response only if it cannot create duplicates', async () => {
    wire.faults.push(loseAnswer)
    expect(await faultOf(earshot.companies.create({ name: 'Acme' }))).toMatchObject({ code: 'unreachable' })
    expect((await earshot.companies.list().all()).map(({ name }) => name)).toEqual(['Acme'])

    wire.faults.push(loseAnswer)
    const { externalId: _, ...nameless } = call(1)
    expect(await faultOf(earshot.conversations.create(nameless))).toMatchObject({ status: 0 })
    wire.faults.push(loseAnswer)
    expect((await earshot.conversations.create(call(2))).externalId).toBe('call-2')
    expect((await earshot.conversations.list().all()).length).toBe(2)
    wire.faults.push(loseAnswer)
    const batch = { conversations: [call(3), nameless] }
    expect(await faultOf(earshot.conversations.createBatch(batch))).toMatchObject({ status: 0 })
    expect((await earshot.conversations.list().all()).length).toBe(4)
    wire.faults.push(loseAnswer)
    const { data } = await earshot.conversations.createBatch({ conversations: [call(2), call(4)] })
    expect(data.map(({ status }) => status)).toEqual(['unchanged', 'unchanged'])

    wire.faults.push(refuse(429, { 'retry-after': '0' }, '{"error":"rate limited","message":"Slower."}'))
    const { id } = await earshot.companies.create({ name: 'Bright' })
    wire.faults.push(loseAnswer)
    expect(await earshot.companies.delete(id)).toBe(undefined)
    expect((await earshot.companies.list().all()).length).toBe(1)
  })

  it('include URLs without a server or with another one', async () => {
    wire.faults.push(refuse(200, {}, '<h1>Sign in</h1>'), refuse(301, { location: 'https://x.example/' }))
    expect(await faultOf(earshot.me.get())).toMatchObject({ code: 'unexpected response' })
    expect(String(await faultOf(earshot.me.get()))).toContain('redirects to "https://x.example/"')
    const nowhere = new Earshot({ url: 'http://127.0.0.1:1', key, retries: 0 })
    expect(String(await faultOf(nowhere.me.get()))).toMatch(/127\.0\.0\.1:1 cannot be reached: .*/)
    expect(() => new Earshot({ url: 'earshot.example', key })).toThrow(TypeError)
    expect(() => earshot.companies.get('')).toThrow('An ID must be')
  })
})

describe('timeouts', () => {
  it('apply to each attempt', async () => {
    wire.faults.push(silence)
    const error = await faultOf(earshot.me.get({ timeoutMs: 50, retries: 0 }))
    expect(error).toMatchObject({ code: 'timed out', status: 0 })
    wire.faults.push(silence)
    expect((await earshot.me.get({ timeoutMs: 2_000 })).role).toBe('owner')
  })

  it('end at once on abort, during a request and between retries', async () => {
    wire.faults.push(silence)
    const asking = new AbortController()
    const asked = faultOf(earshot.me.get({ signal: asking.signal }))
    await expect.poll(() => wire.seen.length).toBe(1)
    asking.abort(new Error('Enough.'))
    expect(await asked).toMatchObject({ message: 'Enough.' })

    wire.faults.push(refuse(429, { 'retry-after': '60' }, '{"error":"rate limited","message":"Slower."}'))
    const waiting = new AbortController()
    const waited = faultOf(earshot.me.get({ signal: waiting.signal }))
    await expect.poll(() => wire.seen.length).toBe(2)
    waiting.abort(new Error('Enough.'))
    expect(await waited).toMatchObject({ message: 'Enough.' })
    expect(wire.seen.length).toBe(2)
  })
})

describe('an import', () => {
  const many = async function* (count: number, fields: (at: number) => object = () => ({})) {
    for (let at = 0; at < count; at++) yield call(at, fields(at))
  }

  const read = async (results: AsyncIterable<unknown>) => {
    for await (const _each of results);
  }

  it('sends chunks, returns results in order, and repeats a chunk after a lost response', async () => {
    wire.faults.push(refuse(502), loseAnswer)
    const told: [number, string][] = []
    const odd = (at: number) => (at === 4 ? { channel: 'pigeon' } : {})
    for await (const result of earshot.conversations.import(many(25, odd), { chunkSize: 10 })) {
      told.push([result.index, result.status])
      expect(result.item.externalId).toBe(`call-${result.index}`)
      if (result.status === 'rejected') expect(result.error?.message).toContain('channel')
    }
    expect(told.map(([index]) => index)).toEqual(Array.from({ length: 25 }, (_each, at) => at))
    expect(told.filter(([, status]) => status === 'rejected')).toEqual([[4, 'rejected']])
    expect((await earshot.conversations.list().all()).length).toBe(24)
  })

  it('only buffers chunks in progress, and ends when its reader stops', async () => {
    let taken = 0
    const counted = async function* () {
      for await (const item of many(100)) {
        taken++
        yield item
      }
    }
    for await (const { index } of earshot.conversations.import(counted(), { chunkSize: 5, concurrency: 2 })) {
      expect(taken).toBeLessThanOrEqual(index + 16)
      if (index === 9) break
    }
    expect(taken).toBeLessThan(30)
  })

  it('fails if conversations without an external ID may have been stored, or the key lacks permission', async () => {
    wire.faults.push(loseAnswer)
    const nameless = [{ ...call(1), externalId: null }]
    expect(await faultOf(read(earshot.conversations.import(nameless)))).toMatchObject({ status: 0 })
    const viewer = new Earshot({ url: wire.url, key: (await makeKey(server, key, 'viewer')).key })
    expect(await faultOf(read(viewer.conversations.import([call(1)])))).toMatchObject({ status: 403 })
  })
})

it('computes the same SHA-256 as the runtime, whatever the chunks', () => {
  for (const length of [0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 1_000, 100_003]) {
    const bytes = Uint8Array.from({ length }, (_each, at) => (at * 7 + length) % 256)
    for (const size of [1, 13, 64, 100, 4_096]) {
      const hash = openSha256()
      for (let at = 0; at < length; at += size) hash.add(bytes.subarray(at, at + size))
      expect(hash.digest(), `${length} by ${size}`).toBe(createHash('sha256').update(bytes).digest('base64'))
    }
  }
})
