// Everything that calls the API uses this client. The console uses the public API, with a session cookie instead of a
// key.

import createClient from 'openapi-fetch'
import { Fault, type Issue } from './fault.ts'
import type { paths } from './schema.d.ts'

const readFault = async (response: Response): Promise<Fault> => {
  const body = (await response.json().catch(() => ({}))) as {
    error?: string
    message?: string
    details?: { issues?: Issue[]; retryAfterSeconds?: number }
  }
  return new Fault({
    status: response.status,
    message: body.message ?? 'The response couldn’t be read. Try again.',
    issues: body.details?.issues ?? [],
    requestId: response.headers.get('x-request-id'),
  })
}

// The client uses the global fetch at the time of each request, so that tests can replace it.
export const api = createClient<paths>({ baseUrl: location.origin, fetch: (request) => fetch(request) })

api.use({
  onResponse: async ({ response }) => {
    if (!response.ok) throw await readFault(response)
  },
  onError: ({ error }) =>
    error instanceof Fault || (error instanceof DOMException && error.name === 'AbortError')
      ? undefined
      : new Fault({ status: 0, message: 'Earshot can’t be reached. Check your connection and try again.' }),
})

/** Returns a response's data. Errors are thrown as Faults. */
export const answer = async <T>(request: Promise<{ data?: T }>): Promise<T> => {
  const { data } = await request
  // Only a 204 response has no data, and then T is undefined too.
  return data as T
}
