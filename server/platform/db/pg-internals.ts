// Declares members of pg that its types don't declare. Its version is pinned, and pg-internals.test.ts shows what an
// update breaks.
import type pg from 'pg'

/**
 * Returns the function with which pg reads a connection, so that another one can replace it. Returns undefined unless
 * there is exactly one.
 */
export const readerOf = ({ stream }: pg.Connection): ((bytes: Buffer) => void) | undefined => {
  const [reader, ...others] = stream.listeners('data') as ((bytes: Buffer) => void)[]
  return others.length === 0 ? reader : undefined
}

/** Returns the process ID of the server session, which the server reports when connecting. */
export const processIdOf = (client: pg.Client): number | null => {
  const { processID } = client as pg.Client & { processID: number | null }
  return processID
}
