// Starts external services for tests: small servers on this machine, and names that resolve as a test specifies.
import type { LookupAddress } from 'node:dns'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  request,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo, Server as TcpServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

/** Registers a function that closes the server: for a single test, or with `afterAll` for all tests of a file. */
type WhenOver = (close: () => Promise<void>) => void

/** Listens on a free port of 127.0.0.1 until the test is over. */
export const listen = async (server: Server | TcpServer, whenOver: WhenOver = onTestFinished) => {
  const sockets = new Set<{ destroy: () => unknown }>()
  let connections = 0
  server.on('connection', (socket) => {
    connections++
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  }
  whenOver(close)
  const { port } = server.address() as AddressInfo
  return { port, url: `http://127.0.0.1:${port}`, connections: () => connections, open: () => sockets.size, close }
}

export const serve = (handler: RequestListener, whenOver?: WhenOver) => listen(createServer(handler), whenOver)

/** Responds with the request as JSON. */
export const echo: RequestListener = async (incoming, outgoing) => {
  const { method, url, headers } = incoming
  outgoing.end(JSON.stringify({ method, url, headers, body: await text(incoming) }))
}

/** Forwards a request to a service and returns its response. If one side disconnects, so does the other. */
export const forward = (incoming: IncomingMessage, outgoing: ServerResponse, origin: string) =>
  new Promise<IncomingMessage>((resolve) => {
    const { method, url = '', headers } = incoming
    const passed = request(new URL(url, origin), { method, headers }, resolve)
    passed.on('error', () => outgoing.destroy())
    outgoing.once('close', () => passed.destroy())
    incoming.pipe(passed)
  })

/** Passes the response on unchanged. */
export const passOn = (answer: IncomingMessage, outgoing: ServerResponse) => {
  outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
  answer.pipe(outgoing)
}

/** Passes on the first bytes of the response, then ends the connection. */
export const passOnUntil = (bytes: number, answer: IncomingMessage, outgoing: ServerResponse) => {
  outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
  let sent = 0
  answer.on('data', (chunk: Buffer) => {
    outgoing.write(chunk.subarray(0, bytes - sent), () => {
      if (sent >= bytes) outgoing.socket?.end()
    })
    sent += chunk.length
  })
}

/** Resolves names from a table. Each name's responses are used in turn, and the last one is repeated. */
export const resolver = (table: Record<string, string[][]>) => {
  const asked: string[] = []
  const resolve = async (hostname: string): Promise<LookupAddress[]> => {
    const answers = table[hostname] ?? []
    const earlier = asked.filter((name) => name === hostname).length
    asked.push(hostname)
    const addresses = answers[Math.min(earlier, answers.length - 1)] ?? []
    return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  }
  return { resolve, asked }
}
