import { connect } from 'node:net'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeCompany, makeOrganization } from './make.ts'
import { type Malformed, malform, type SeededRandom, type Sound, seededRandom } from './malformed.ts'
import { acceptedCall, fillPath, listOperations, pathWith, type SweptOperation, sharedIds } from './operations.ts'
import { openConnection, type RawAnswer, type RawConnection } from './raw-http.ts'
import { serviceKey, testServer } from './server.ts'

/**
 * Sends random requests, because anyone can send anything. No request may break or block the service, or get an unclear
 * response.
 */

/**
 * `FUZZ_SEED=… vitest run test/fuzz` sends the same requests again. `FUZZ_REQUESTS=2000` sets the number per operation.
 */
const seed = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 32))
const requestsPerOperation = Number(process.env.FUZZ_REQUESTS ?? 40)
/** Returns the number of requests to an operation. A request without a body can have fewer faults. */
const requestsTo = ({ bodies, raw }: Sound) => Math.ceil(requestsPerOperation * (bodies.length > 0 || raw ? 1 : 2 / 3))
const concurrency = 16

const server = await testServer({
  EARSHOT_EMBEDDINGS: 'on',
  // People who are created during the test sign in from their own IP addresses.
  EARSHOT_TRUST_PROXY: '1',
  EARSHOT_LIMITS: 'ratePerSecond=1000000,rateBurst=1000000',
})
const { call } = server
// A stream has no end that these raw connections could detect. server/stream/ tests it.
const operations = listOperations(server).filter(({ name }) => name !== 'GET /v1/stream')
const { port } = server.deps.listening

// The engine provides the function here, so that the test needs no command-line flag.
setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')
/** Leaves out compiled code. The engine compiles the validators of each operation while requests make them hot. */
const heapMegabytes = () => {
  server.logged.length = 0
  collectGarbage()
  const spaces = getHeapSpaceStatistics().filter(({ space_name: name }) => !/code|trusted/.test(name))
  return spaces.reduce((sum, { space_used_size: used }) => sum + used, 0) / 1024 / 1024
}

const faultsOf = ({ status, headers, body }: RawAnswer, head: boolean): string[] => {
  const faults: string[] = []
  if (status >= 500 && status !== 503) faults.push('the service failed')
  if (!headers.get('x-request-id')) faults.push('no request id')
  if (status === 401 && headers.get('www-authenticate') !== 'Bearer') faults.push('no WWW-Authenticate')
  if (status === 405 && !headers.get('allow')) faults.push('no Allow')
  if (status < 400 || head) return faults
  if (!headers.get('content-type')?.startsWith('application/json')) return [...faults, 'the error is no JSON']
  const { error, message, ...rest } = JSON.parse(body.toString('utf8'))
  const isError = typeof error === 'string' && typeof message === 'string' && message !== ''
  const others = Object.keys(rest).filter((name) => name !== 'details')
  return isError && others.length === 0 ? faults : [...faults, 'no Error body']
}

const show = (bytes: Buffer) => JSON.stringify(bytes.subarray(0, 1_500).toString('latin1'))

/** Sends requests over a few keep-alive connections, and counts the responses by status. */
const sendAll = async (requests: Iterable<Malformed>) => {
  const statuses: Record<string, number> = {}
  const failures: string[] = []
  const queue = requests[Symbol.iterator]()
  /** Sends a request, and describes what is wrong with its responses. */
  const faultsOfExchange = async (connection: RawConnection, { bytes, head, last }: Malformed) => {
    const answers = await connection.exchange(bytes, { head, last })
    for (const { status } of answers) statuses[status] = (statuses[status] ?? 0) + 1
    // The service may disconnect senders that stop in the middle of a request.
    if (answers.length === 0 && !last) return ['no answer']
    return answers.flatMap((answer) => faultsOf(answer, head).map((text) => `${answer.status} ${text} ${answer.body}`))
  }
  const work = async () => {
    let connection: RawConnection | undefined
    for (let next = queue.next(); !next.done; next = queue.next()) {
      const { bytes, fault } = next.value
      if (!connection?.isOpen()) connection = openConnection(port)
      const { close } = connection
      const faults = await faultsOfExchange(connection, next.value).catch((error: unknown) => {
        close()
        return [String(error)]
      })
      failures.push(...faults.map((text) => `${text} (${fault}): ${show(bytes)}`))
    }
    connection?.close()
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  return { statuses, failures }
}

const soundRequest = (swept: SweptOperation, path: string, key: string): Sound => {
  const { body, raw, headers } = acceptedCall(swept)
  const ofService = swept.access === 'service'
  return {
    method: swept.method,
    path,
    key: swept.access === 'public' ? undefined : ofService ? serviceKey : key,
    bodies: body === undefined ? [] : [body, swept.operation.requestBody?.content['application/json']?.example ?? body],
    raw: typeof raw === 'string' ? Buffer.from(raw) : raw,
    contentType: headers?.['content-type'] ?? (body === undefined ? undefined : 'application/json'),
  }
}

const filePath = async ({ key }: { key: string }) => {
  const { id } = await makeCompany(server, key)
  const raw = Buffer.from('89504e470d0a1a0a0000', 'hex')
  const answer = await call('PUT', `/v1/companies/${id}/logo`, { key, raw, headers: { 'content-type': 'image/png' } })
  return new URL(answer.body.logoUrl).pathname
}

function* repeat(times: number, random: SeededRandom, sound: Sound): Generator<Malformed> {
  for (let i = 0; i < times; i++) yield malform(random, sound)
}

/**
 * Creates a valid request. Each comes from its own organization, so that it can't reach the data or limits of another
 * one.
 */
const makeSoundRequest = async (swept: SweptOperation): Promise<Sound> => {
  const target = await makeOrganization(server)
  const path = swept.path.startsWith('/files/') ? await filePath(target) : await fillPath(server, swept, target)
  return soundRequest(swept, path, target.key)
}

/** Sends requests once before memory is first measured, so that lazily created objects exist already. */
const warmUp = async () => {
  const shared = await makeOrganization(server)
  const idsOf = sharedIds(server, shared)
  const requests: Malformed[] = []
  for (const swept of operations) {
    // A service request could suspend the organization.
    if (swept.access === 'service' || swept.path.startsWith('/files/')) continue
    const sound = soundRequest(swept, pathWith(swept, await idsOf(swept)), shared.key)
    requests.push(...repeat(5, seededRandom(0), sound))
  }
  await sendAll(requests)
}

let org: Awaited<ReturnType<typeof makeOrganization>>
let heapBefore: number
const total: Record<string, number> = {}

beforeAll(async () => {
  process.stdout.write(`fuzz: FUZZ_SEED=${seed}\n`)
  org = await makeOrganization(server)
  await warmUp()
  heapBefore = heapMegabytes()
})

afterAll(() => {
  process.stdout.write(`fuzz: answered ${JSON.stringify(total)}\n`)
})

it.each(operations.map((swept, index) => ({ ...swept, index })))(
  '$name responds to malformed requests, never with a 500',
  async ({ index, ...swept }) => {
    const sound = await makeSoundRequest(swept)
    const requests = requestsTo(sound)
    const { statuses, failures } = await sendAll(repeat(requests, seededRandom(seed + index), sound))
    for (const [status, count] of Object.entries(statuses)) total[status] = (total[status] ?? 0) + count
    expect(failures.slice(0, 10), `FUZZ_SEED=${seed}, ${failures.length} in all`).toEqual([])
    expect(statuses[503] ?? 0, 'refused as overload').toBeLessThan(requests / 20)
    expect(server.logged.filter((line) => /"level":"(error|fatal)"/.test(line))).toEqual([])
    server.logged.length = 0

    const answer = await call('GET', '/v1/me', { key: org.key })
    expect(answer.status).toBe(200)
  },
  60_000,
)

describe('malformed HTTP', () => {
  const request = 'GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n'

  /** Expects that every response is one of the service's own, and that the connection ends. */
  const expectRefused = async (bytes: string | Buffer) => {
    const connection = openConnection(port)
    const answers = await connection.exchange(bytes, { last: true })
    for (const answer of answers) {
      expect(answer.status).toBeLessThan(500)
      expect(faultsOf(answer, false)).toEqual([])
    }
    return answers
  }

  it.each([
    'GET\r\n\r\n',
    'GET /healthz\r\n\r\n',
    'GET /healthz HTTP/9.9\r\n\r\n',
    'get /healthz HTTP/1.1\r\nhost: x\r\n\r\n',
    'GET  /healthz HTTP/1.1\r\nhost: x\r\n\r\n',
    'GET /a b HTTP/1.1\r\nhost: x\r\n\r\n',
    'GET /healthz HTTP/1.1\r\nno colon\r\n\r\n',
    'GET /healthz HTTP/1.1\r\nhost : x\r\n\r\n',
    'GET /healthz HTTP/1.1\r\nx: a\u0000b\r\n\r\n',
    'GET /healthz HTTP/1.1\nhost: x\n\n',
    'GET /healthz HTTP/1.1\r\nhost: x\r\n folded\r\n\r\n',
    'GET http://user:pass@evil.example:99999999/ HTTP/1.1\r\nhost: x\r\n\r\n',
    'GET //evil.example/%2e%2e/ HTTP/1.1\r\nhost: x\r\n\r\n',
    'OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n',
    'CONNECT localhost:1 HTTP/1.1\r\nhost: x\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'POST /v1/companies HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx',
    'POST /v1/companies HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003',
    '\r\n\r\n\r\n',
    '',
  ])('%j is rejected or answered, never with an error', async (bytes) => {
    await expectRefused(Buffer.from(bytes, 'latin1'))
  })

  it('random bytes are rejected', async () => {
    const random = seededRandom(seed)
    for (let i = 0; i < 300; i++) {
      const noise = Buffer.from(Array.from({ length: 1 + random.below(200) }, () => random.below(256)))
      await expectRefused(random.chance(0.5) ? noise : Buffer.concat([Buffer.from('GET /'), noise]))
    }
  })

  it.each([20_000, 500_000])('%i bytes of headers return 431, even if the sender continues', async (size) => {
    for (let i = 0; i < 10; i++) {
      const [answer] = await expectRefused(`GET /healthz HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(size)}\r\n\r\n`)
      expect(answer?.status).toBe(431)
    }
  })

  it('pipelined requests are answered in order', async () => {
    const paths = ['/healthz', '/nowhere', '/v1/me', '/%zz', '/healthz']
    const requests = paths.map((path) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`)
    requests.push('GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
    const answers = await openConnection(port).exchange(requests.join(''), { untilEnd: true })
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 401, 400, 200, 200])
  })

  it('data after a complete request is not treated as its response', async () => {
    const body = JSON.stringify({ name: 'Acme' })
    const head = `POST /v1/companies HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${org.key}\r\ncontent-type: application/json\r\n`
    const bytes = `${head}content-length: ${body.length}\r\n\r\n${body}}} and more\r\n\r\n`
    const answers = await openConnection(port).exchange(bytes, { untilEnd: true })
    expect(answers.map(({ status }) => status)).toEqual([201])
  })

  it('endless bodies from senders who disconnect leave no connection open', async () => {
    const starts = ['', '{', '{"name":"Ac'].flatMap((body) => [
      `content-length: 100\r\n\r\n${body}`,
      `transfer-encoding: chunked\r\n\r\n${body === '' ? '' : `${body.length.toString(16)}\r\n${body}\r\n`}`,
    ])
    const head = `POST /v1/companies HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${org.key}\r\ncontent-type: application/json\r\n`
    for (let i = 0; i < 200; i++) {
      const socket = connect(port, '127.0.0.1').on('error', () => {})
      socket.write(head + starts[i % starts.length], () => socket.destroy())
    }
    const open = () => new Promise<number>((resolve) => server.app.server.getConnections((_, count) => resolve(count)))
    await expect.poll(open, { timeout: 10_000 }).toBeLessThan(3)
    expect((await expectRefused(request))[0]?.status ?? 200).toBe(200)
  })
})

it('leaves no memory behind', () => {
  // The first request of each operation compiles its statements and serializers.
  expect(heapMegabytes() - heapBefore).toBeLessThan(0.12 * operations.length)
})
