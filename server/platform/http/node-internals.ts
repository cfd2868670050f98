// Declares members of Node's HTTP server that are missing from its types. The tests in node-internals.test.ts fail if
// an update changes them.
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Returns the response that is currently being written to a connection. It may belong to an earlier request. */
export const responseUnderway = (socket: Socket): ServerResponse | undefined => {
  const { _httpMessage: response } = socket as Socket & { _httpMessage?: ServerResponse | null }
  return response ?? undefined
}
