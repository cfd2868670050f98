// Declares members of pg that are missing from its types. Its version is pinned, and the tests in pg-internals.test.ts
// fail if an update changes them.
import type pg from 'pg'

/**
 * Returns pg's function for reading a connection, so that it can be replaced. Returns undefined unless there is exactly
 * one.
 */
export const readerOf = ({ stream }: pg.Connection): ((bytes: Buffer) => void) | undefined => {
  const [reader, ...others] = stream.listeners('data') as ((bytes: Buffer) => void)[]
  return others.length === 0 ? reader : undefined
}

/** Returns the process ID of the server session. The server reports the ID when the client connects. */
export const processIdOf = (client: pg.Client): number | null => {
  const { processID } = client as pg.Client & { processID: number | null }
  return processID
}
