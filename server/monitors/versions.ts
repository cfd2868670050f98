import { isDeepStrictEqual } from 'node:util'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Definition } from './definition.ts'
import { insertMonitorVersion } from './queries.ts'

/** As it is stored: JSON knows one zero. */
const stored = (definition: unknown): unknown => JSON.parse(JSON.stringify(definition))

type Current = { id: string; number: number; definition: object }

/**
 * The version that a definition makes current: the next one, or none when the present one says the same. The caller
 * holds the monitor.
 */
export const nextVersion = async (trx: Db, org: OrgId, monitor: Current, definition: Definition) => {
  if (isDeepStrictEqual(stored(definition), monitor.definition)) return undefined
  const number = monitor.number + 1
  await insertMonitorVersion(trx, org, monitor.id, number, definition)
  return number
}
