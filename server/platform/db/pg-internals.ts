// Declares members of pg that its types don't list. Its version is pinned, and pg-internals.test.ts says what an
// update breaks.
import type pg from 'pg'

/** Returns pg's own reader of a connection, to put another one in its place; undefined if there isn't exactly one. */
export const readerOf = ({ stream }: pg.Connection): ((bytes: Buffer) => void) | undefined => {
  const [reader, ...others] = stream.listeners('data') as ((bytes: Buffer) => void)[]
  return others.length === 0 ? reader : undefined
}

/** Returns the process of the server session, as reported when connecting. */
export const processIdOf = (client: pg.Client): number | null => {
  const { processID } = client as pg.Client & { processID: number | null }
  return processID
}
