import { monitorEventLoopDelay } from 'node:perf_hooks'
import { expect, it } from 'vitest'
import { makeOrganization } from '../make.ts'
import { openConnection } from '../raw-http.ts'
import { testServer } from '../server.ts'
import { worstValues } from '../worst-bodies.ts'

/** Sends bodies that once blocked the process for seconds. `npm run bench -- event-loop` measures every route. */

const server = await testServer({ EARSHOT_TRUST_PROXY: '1' })
const { key } = await makeOrganization(server, { features: { phiMode: true } })
await server.call('PATCH', '/v1/organization', { key, body: { redaction: true } })

/**
 * This is far longer than needed on a machine that is busy with other tests, and far shorter than it took before the
 * fixes.
 */
const boundMs = 1_500

/** Measures the longest time that the event loop was blocked while the body was sent and answered. */
const blockOf = async (method: string, path: string, raw: string, headers: Record<string, string> = {}) => {
  const bytes = new Uint8Array(Buffer.from(raw))
  const delays = monitorEventLoopDelay({ resolution: 5 })
  delays.enable()
  const { status } = await server.call(method, path, {
    key,
    raw: bytes,
    headers: { 'content-type': 'application/json', ...headers },
  })
  delays.disable()
  return { status, ms: delays.max / 1e6 }
}

const mebibyte = 1024 * 1024
const fields =
  '"agent":{"externalId":"leo","name":"Leo","channel":"voice"},"channel":"call","startedAt":"2026-11-20T09:00:00Z"'
const names = Object.keys(worstValues)
const write = (name: string, bytes: number): string => worstValues[name]?.(bytes) ?? ''

it.each(names)('1 MiB of %s does not block the event loop, as a body or as a transcript', async (name) => {
  const plain = await blockOf('POST', '/v1/companies', write(name, mebibyte - 10))
  expect(plain.status).toBeGreaterThanOrEqual(400)
  expect(plain.ms).toBeLessThan(boundMs)
  const transcript = await blockOf(
    'POST',
    '/v1/conversations',
    `{${fields},"transcript":${write(name, mebibyte - 300)}}`,
  )
  expect(transcript.status).toBeLessThan(500)
  expect(transcript.ms).toBeLessThan(boundMs)
})

it('colons behind a long name, and commas without items, do not block the event loop', async () => {
  const colons = `{"${'a'.repeat(mebibyte / 2)}"${':'.repeat(2 * mebibyte)}}`
  for (const raw of [colons, `{"conversations":[${','.repeat(4 * mebibyte)}]}`]) {
    const { status, ms } = await blockOf('POST', '/v1/conversations/batch', raw)
    expect(status).toBeGreaterThanOrEqual(400)
    expect(ms).toBeLessThan(boundMs)
  }
})

it.each(['negative zeros', 'empty objects', 'properties', 'turns of digits'])(
  'a batch of 32 MiB of %s does not block the event loop',
  async (name) => {
    const value = write(name, 32 * mebibyte - 50)
    const list = await blockOf('POST', '/v1/conversations/batch', `{"conversations":${value}}`)
    expect([200, 400, 413]).toContain(list.status)
    // Sending the body takes part of this time.
    expect(list.ms).toBeLessThan(3 * boundMs)
  },
)

it.each(['/auth/sign-in/email', '/auth/forgotten-password', '/auth/invitation', '/auth/invitation/check'])(
  '%s takes at most 8 KiB, and counts attempts before it reads them',
  async (path) => {
    const address = `192.0.2.${path.length}`
    const head = (length: number) =>
      `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nx-forwarded-for: ${address}\r\ncontent-length: ${length}\r\n\r\n`
    const statusOf = async (length: number) => {
      const connection = openConnection(server.deps.listening.port)
      try {
        const [answer] = await connection.exchange(head(length))
        return answer?.status
      } finally {
        connection.close()
      }
    }
    expect(await statusOf(8 * 1024 + 1)).toBe(413)
    const statuses: (number | undefined)[] = []
    for (let attempt = 0; attempt < 21; attempt++) statuses.push(await statusOf(8 * 1024 + 1))
    expect(statuses.at(-1)).toBe(429)
  },
)
