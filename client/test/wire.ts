import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { afterAll } from 'vitest'
import { forward, listen, passOn, passOnUntil } from '../../test/outside.ts'

type Fault = (incoming: IncomingMessage, outgoing: ServerResponse, answer: () => Promise<IncomingMessage>) => unknown

/** Opens a proxy between the client and the server. Each of `faults` replaces the response to one request. */
export const openWire = async () => {
  const faults: Fault[] = []
  const seen: { method: string; url: string; range: string | undefined; authorization: string | undefined }[] = []
  const wire = { url: '', target: '', faults, seen }
  const server = createServer(async (incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming
    seen.push({ method, url, range: headers.range, authorization: headers.authorization })
    const fault = faults.shift() ?? pass
    await fault(incoming, outgoing, () => forward(incoming, outgoing, wire.target))
  })
  wire.url = (await listen(server, afterAll)).url
  return wire
}

export const pass: Fault = async (_incoming, outgoing, answer) => passOn(await answer(), outgoing)

/** Lets the server process the request, but loses its response. */
export const loseAnswer: Fault = async (_incoming, outgoing, answer) => {
  const answered = await answer()
  answered.resume().once('end', () => outgoing.destroy())
}

/** Truncates the response. */
export const cutAfter =
  (bytes: number): Fault =>
  async (_incoming, outgoing, answer) => {
    passOnUntil(bytes, await answer(), outgoing)
  }

/** Returns another file of the same length. */
export const spoil: Fault = async (_incoming, outgoing, answer) => {
  const answered = await answer()
  outgoing.writeHead(answered.statusCode ?? 500, answered.headers)
  answered.on('data', (chunk: Buffer) => outgoing.write(chunk.fill(0x78))).once('end', () => outgoing.end())
}

/** Returns a response like a proxy or the server itself. */
export const refuse =
  (status: number, headers: Record<string, string> = {}, body = '<h1>busy</h1>'): Fault =>
  (incoming, outgoing) => {
    incoming.resume()
    outgoing.writeHead(status, headers).end(body)
  }

export const silence: Fault = (incoming) => void incoming.resume()
