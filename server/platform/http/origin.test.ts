import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { describe, expect, it } from 'vitest'
import { makeOrganization, makePerson } from '../../../test/make.ts'
import { testServer } from '../../../test/server.ts'

/**
 * Returns a function that sends a write request with a session, like a page on `origin` that the browser opened under
 * the name `host`.
 */
const writer = async (env: Record<string, string>, ownOrigin?: string) => {
  const server = await testServer({ EARSHOT_TRUST_PROXY: '1', ...env })
  const { key } = await makeOrganization(server)
  const { headers } = await makePerson(server, key)
  const { port } = new URL(server.origin)
  const write = async (origin: string, host: string): Promise<number | undefined> => {
    const sent = request(`${server.origin}/v1/companies`, {
      method: 'POST',
      headers: { cookie: headers.cookie, origin, host, 'content-type': 'application/json' },
    })
    sent.end('{"name":"Acme"}')
    const [answer]: IncomingMessage[] = await once(sent, 'response')
    answer?.resume()
    return answer?.statusCode
  }
  return { write, port, baseUrl: ownOrigin ?? server.deps.baseUrl() }
}

describe('a session without EARSHOT_BASE_URL', async () => {
  const { write, port, baseUrl } = await writer({})

  it.each(['localhost', '127.0.0.1', '127.8.8.8', '[::1]'])(
    'can write from pages of %s, with that name',
    async (name) => {
      expect(await write(`http://${name}:${port}`, `${name}:${port}`)).toBe(201)
    },
  )

  it('can write from pages of the base URL of links', async () => {
    expect(baseUrl).toBe(`http://127.0.0.1:${port}`)
    expect(await write(baseUrl, 'behind-a-proxy')).toBe(201)
  })

  it.each([
    ['a name that was pointed here', 'http://evil.example', 'evil.example'],
    ['a name that begins like a loopback one', 'http://127.0.0.1.evil.example', '127.0.0.1.evil.example'],
    ['a name below localhost', 'http://evil.localhost', 'evil.localhost'],
    ['another port of this machine', 'http://localhost:1', 'localhost'],
    ['another name of this machine', 'http://localhost:1', '127.0.0.1:1'],
    ['an address of the network', 'http://192.168.1.5:4000', '192.168.1.5:4000'],
    ['nothing', 'null', 'localhost'],
    ['a name in the place of the user', 'http://localhost@evil.example', 'localhost@evil.example'],
  ])('cannot write from %s', async (_what, origin, host) => {
    expect(await write(origin, host)).toBe(403)
  })
})

it('with EARSHOT_BASE_URL, a session can only write from that origin', async () => {
  const { write, port, baseUrl } = await writer({ EARSHOT_BASE_URL: 'https://earshot.example.com' })
  expect(await write(baseUrl, `127.0.0.1:${port}`)).toBe(201)
  for (const name of ['localhost', '127.0.0.1', 'earshot.example.com']) {
    expect(await write(`http://${name}:${port}`, `${name}:${port}`)).toBe(403)
  }
})

it.each(['0.0.0.0', '::'])('links use localhost if the process listens on %s', async (HOST) => {
  const { write, port, baseUrl } = await writer({ HOST })
  expect(baseUrl).toBe(`http://localhost:${port}`)
  expect(await write(baseUrl, `localhost:${port}`)).toBe(201)
})
