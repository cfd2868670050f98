// Calls the service with the client library, and downloads its files in parts.

import { Readable } from 'node:stream'
import { Earshot } from '../../../client/src/earshot.ts'
import { EarshotError } from '../../../client/src/errors.ts'
import { openSend } from '../../../client/src/send.ts'

/** The number of retries for a request that gets no response, or a response that asks for a retry. */
const retries = 5

export const strangeAnswer = (url: string) =>
  new EarshotError(`${url} did not respond like Earshot. Check the URL, and whether a proxy is in front of it.`, {
    code: 'unexpected response',
  })

export type Remote = ReturnType<typeof openRemote>

export const openRemote = ({ url, key, signal }: { url: string; key: string; signal: AbortSignal }) => {
  const service = { url, key, retries }
  const send = openSend(service)
  return {
    url,
    earshot: new Earshot(service),
    /** Returns the URL of the file and its digest. The key is not sent to this URL. */
    link: async (path: string) => {
      const answer = await send.raw('GET', path, {}, { signal })
      const location = answer.headers.get('location')
      const digest = answer.headers.get('x-file-digest')
      if (location === null || digest === null) throw strangeAnswer(url)
      return { location: new URL(location, url), digest }
    },
    download: async (location: URL, from: number) => {
      const headers: Record<string, string> = from > 0 ? { range: `bytes=${from}-` } : {}
      const requestOptions = { withoutKey: true, headers }
      const { status, body } = await send.raw('GET', location.href, requestOptions, { signal, retries: 0 })
      // Node has two types with this name: the web standard's type, and its own.
      const stream = body as Parameters<typeof Readable.fromWeb>[0] | null
      return { status, body: stream === null ? Readable.from([]) : Readable.fromWeb(stream) }
    },
  }
}
