// Declares members of Node's HTTP server that its types don't declare. node-internals.test.ts shows what an update
// breaks.
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Returns the response that is being written to a connection. It may belong to an earlier request. */
export const responseUnderway = (socket: Socket): ServerResponse | undefined => {
  const { _httpMessage: response } = socket as Socket & { _httpMessage?: ServerResponse | null }
  return response ?? undefined
}
