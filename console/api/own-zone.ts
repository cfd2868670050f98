import { ownZone } from '../lib/zones.ts'
import { Fault } from './fault.ts'

const isUnknownZone = (error: unknown): boolean =>
  error instanceof Fault && error.status === 400 && error.issues.some(({ path }) => path.endsWith('timezone'))

/** Sends a request with the viewer's time zone, or with UTC if the server doesn't know that zone. */
export const inOwnZone = async <T>(ask: (timezone: string) => Promise<T>): Promise<T> => {
  const timezone = ownZone()
  try {
    return await ask(timezone)
  } catch (error) {
    if (timezone === 'UTC' || !isUnknownZone(error)) throw error
    return ask('UTC')
  }
}
