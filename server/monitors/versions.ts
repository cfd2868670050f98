import { isDeepStrictEqual } from 'node:util'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { MonitorDefinition } from './definition.ts'
import { insertMonitorVersion } from './queries.ts'

/** Returns the definition in the form in which the database stores it, because JSON turns -0 into 0. */
const stored = (definition: unknown): unknown => JSON.parse(JSON.stringify(definition))

type Current = { id: string; number: number; definition: object }

/** Returns whether a definition is different from the current one. */
export const changesDefinition = ({ definition }: Pick<Current, 'definition'>, next: MonitorDefinition): boolean =>
  !isDeepStrictEqual(stored(next), definition)

/**
 * Makes a definition current. Inserts a new version, unless the current version is equal. The note is the reason for
 * the version. The caller has locked the monitor.
 */
export const nextVersion = async (
  trx: Db,
  org: OrgId,
  monitor: Current,
  definition: MonitorDefinition,
  note: string | null = null,
) => {
  if (!changesDefinition(monitor, definition)) return undefined
  const number = monitor.number + 1
  await insertMonitorVersion(trx, org, monitor.id, number, definition, note)
  return number
}
