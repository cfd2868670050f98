import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { describe, expect, it, vi } from 'vitest'
import { listen } from '../../test/outside.ts'
import { Earshot, type EarshotError, type NewConversation } from '../src/earshot.ts'

/** Tests servers that are broken or aren't Earshot. They must not mislead the library or receive the key. */

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => unknown

const key = 'ear_a-key-that-is-told-to-nobody'

/** Starts a server that returns these responses in order, and then repeats the last one. */
const serviceOf = async (...answers: Answer[]) => {
  const seen: { url: string; authorization: string | undefined; body: string }[] = []
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    seen.push({ url: request.url ?? '', authorization: request.headers.authorization, body })
    return answers[Math.min(seen.length, answers.length) - 1]?.(request, response, body)
  })
  const { url } = await listen(server)
  return { url, seen, earshot: new Earshot({ url, key }) }
}

const says =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (_request, response) =>
    response.writeHead(status, headers).end(JSON.stringify(body))

const faultOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => expect.unreachable('it succeeded'),
    (error: unknown) => error,
  )

describe('the key', () => {
  it('is only sent to the server, whatever URL is requested', async () => {
    const other = await serviceOf(says(200, {}))
    const { earshot, url, seen } = await serviceOf(says(200, {}))
    const host = other.url.replace('http://', '')
    for (const address of [`${other.url}/v1/me`, `@${host}/v1/me`, 'v1/me']) {
      expect(await faultOf(earshot.request('GET', address)), address).toBeInstanceOf(TypeError)
    }
    expect([...other.seen, ...seen]).toEqual([])
    await earshot.request('GET', `//${host}/v1/me`)
    expect([other.seen.length, seen[0]?.url]).toEqual([0, `//${host}/v1/me`])
    expect(url).not.toBe(other.url)
  })

  it('appears in no error, and neither does a password in the URL', () => {
    for (const wrong of [`${key}\n`, `${key} `, `${key}ß`]) {
      const make = () => new Earshot({ url: 'http://127.0.0.1', key: wrong })
      expect(make).toThrow(TypeError)
      expect(make).not.toThrow(key)
    }
    for (const url of ['http://me:hidden@127.0.0.1', 'http://127.0.0.1/?a=hidden', 'http://127.0.0.1/#hidden']) {
      expect(() => new Earshot({ url, key })).toThrow(TypeError)
      expect(() => new Earshot({ url, key })).not.toThrow('hidden')
    }
  })
})

it('gives up on an endless list', async () => {
  for (const page of [{ data: [{}], nextCursor: 'again' }, { data: [{}] }, { data: [{}], nextCursor: 7 }]) {
    const { earshot, seen } = await serviceOf(says(200, page))
    expect(await faultOf(earshot.monitors.list().all())).toMatchObject({ code: 'unexpected response' })
    expect(seen.length).toBeLessThan(3)
  }
})

it('waits at least as long as requested, and longer each time, even for zero', async () => {
  vi.useFakeTimers()
  try {
    for (const retryAfter of ['0', '1', 'Mon, 01 Jan 2001 00:00:00 GMT']) {
      const times: number[] = []
      const fetch = async () => {
        times.push(Date.now())
        return new Response('{"error":"x","message":"Not ready."}', {
          status: 503,
          headers: { 'retry-after': retryAfter },
        })
      }
      const failed = faultOf(new Earshot({ url: 'http://127.0.0.1', key, fetch, retries: 10 }).me.get())
      await vi.runAllTimersAsync()
      expect(await failed).toMatchObject({ status: 503 })
      expect(times.length).toBe(11)
      // The client retries for about two minutes, because a server may be starting.
      expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(60_000)
    }
  } finally {
    vi.useRealTimers()
  }
})

it('ignores a Retry-After that is neither seconds nor a date', async () => {
  for (const retryAfter of ['-5', '1.5', 'soon', '']) {
    const { earshot } = await serviceOf(
      says(429, { error: 'rate limited', message: 'Slow.' }, { 'retry-after': retryAfter }),
    )
    const error = await faultOf(earshot.me.get({ retries: 0 }))
    expect((error as EarshotError).retryAfterSeconds, retryAfter).toBe(undefined)
  }
})

it('accepts a custom fetch without response URLs, and an infinite timeout', async () => {
  const fetch = async () => new Response('<h1>busy</h1>', { status: 500 })
  const earshot = new Earshot({ url: 'http://127.0.0.1:4000', key, fetch })
  expect(await faultOf(earshot.me.get())).toMatchObject({ status: 500, code: 'unexpected response' })
  const slow = await serviceOf((_request, response) => setTimeout(() => response.end('{}'), 50))
  expect(await slow.earshot.me.get({ timeoutMs: Infinity, retries: 0 })).toEqual({})
})

it('immediately rejects input that cannot be serialized', async () => {
  const { earshot, seen } = await serviceOf(says(200, {}))
  const config = { limit: 5n } as unknown as Parameters<typeof earshot.conversations.search>[0]
  expect(await faultOf(earshot.conversations.search(config).page())).toBeInstanceOf(TypeError)
  expect(seen).toEqual([])
})

const callOf = (number: number, text = ''): NewConversation => ({
  externalId: `call-${number}`,
  agentExternalId: 'leo',
  channel: 'call',
  startedAt: '2026-11-20T09:00:00Z',
  transcript: [{ role: 'customer', text }],
})

const read = async <T>(results: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = []
  for await (const result of results) all.push(result)
  return all
}

describe('an import', () => {
  const created = (count: number) => ({
    data: Array.from({ length: count }, (_each, index) => ({ index, status: 'created' })),
  })

  it('fails if results are missing', async () => {
    for (const body of [created(2), {}, { data: null }]) {
      const { earshot } = await serviceOf(says(200, body))
      const calls = [callOf(1), callOf(2), callOf(3)]
      expect(await faultOf(read(earshot.conversations.import(calls)))).toMatchObject({ code: 'unexpected response' })
    }
  })

  it('sends smaller chunks through a proxy with a size limit, and returns results in order', async () => {
    const { earshot } = await serviceOf((_request, response, body) => {
      if (body.length > 2_000) return response.writeHead(413).end('<h1>Request Entity Too Large</h1>')
      return response.end(JSON.stringify(created(body.trim().split('\n').length)))
    })
    const calls = Array.from({ length: 40 }, (_each, at) => callOf(at, at === 17 ? 'x'.repeat(3_000) : ''))
    const results = await read(earshot.conversations.import(calls))
    expect(results.map(({ index }) => index)).toEqual(calls.map((_call, at) => at))
    expect(results.filter(({ status }) => status !== 'created').map(({ index, status }) => [index, status])).toEqual([
      [17, 'rejected'],
    ])
  })

  it('sends a large conversation in its own request', async () => {
    const { earshot, seen } = await serviceOf((_request, response, body) =>
      response.end(JSON.stringify(created(body.trim().split('\n').length))),
    )
    await read(earshot.conversations.import([callOf(1, 'x'.repeat(2_000_000)), callOf(2, 'x'.repeat(5_000_000))]))
    expect(seen.map(({ body }) => body.trim().split('\n').length)).toEqual([1, 1])
  })

  it('rejects options that would buffer everything in memory', async () => {
    const { earshot } = await serviceOf(says(200, created(1)))
    for (const options of [{ concurrency: Number.NaN }, { chunkSize: 0 }, { concurrency: 0.5 }]) {
      expect(await faultOf(read(earshot.conversations.import([callOf(1)], options)))).toBeInstanceOf(TypeError)
    }
  })
})

describe('the file of an export', () => {
  const config = { monitors: [{ id: 'm' }], since: '', until: '', timezone: 'UTC', format: 'csv' as const }
  const made = { id: 'e', status: 'completed', rowCount: 1, bytes: 6, errorCode: null, downloadPath: '/v1/file' }
  const link = says(302, {}, { location: '/files/it' })
  const file =
    (name: string): Answer =>
    (_request, response) =>
      response
        .writeHead(200, { 'content-disposition': `attachment; filename="${name}"` })
        .write('abc', () => response.end('def'))

  it('has no name outside the current folder', async () => {
    for (const [name, taken] of [
      ['../../.bashrc', '.bashrc'],
      ['C:\\Windows\\calls.csv', 'calls.csv'],
      ['..', 'earshot-e'],
      ['a/', 'earshot-e'],
      ['calls.csv', 'calls.csv'],
    ] as const) {
      const { earshot } = await serviceOf(says(202, made), link, file(name))
      const { fileName, stream } = await earshot.exports.createAndDownload(config)
      expect(fileName).toBe(taken)
      await stream.cancel()
    }
  })

  it('is requested again if the server or the storage is busy', async () => {
    const busy = says(429, { error: 'rate limited', message: 'Slow.' }, { 'retry-after': '0' })
    const { earshot } = await serviceOf(says(202, made), busy, link, says(503, {}), link, file('calls.csv'))
    const { fileName, bytes } = await earshot.exports.createAndDownload(config)
    expect([fileName, Buffer.from(await bytes()).toString()]).toEqual(['calls.csv', 'abcdef'])
  })

  it('fails with the error of its progress callback, without losing data', async () => {
    const { earshot } = await serviceOf(says(202, made), link, file('calls.csv'))
    const onProgress = vi.fn().mockImplementationOnce(() => {
      throw new Error('No room on the page')
    })
    const { bytes } = await earshot.exports.createAndDownload(config, { onProgress })
    await expect(bytes()).rejects.toThrow('No room on the page')
  })
})
