import type { Db } from '../platform/db/database.ts'
import type { Actor } from '../platform/identity/actor.ts'
import type { MonitorDefinition } from './definition.ts'
import type { FindBlind } from './deps.ts'
import { exampleIdsOf, hideExamples } from './learned.ts'
import type { getMonitor } from './queries.ts'

type Stored = Awaited<ReturnType<typeof getMonitor>>
type Version = { number: number; definition: object; note: string | null; createdAt: Date }

const shownVersion = ({ definition, note, ...version }: Version) => ({
  ...version,
  // Definitions were validated for their kind when they were stored.
  definition: definition as MonitorDefinition,
  ...(note !== null && { note }),
})

const shownMonitor = ({ number, definition, note, versionCreatedAt, ...monitor }: Stored) => ({
  ...monitor,
  currentVersion: shownVersion({ number, definition, note, createdAt: versionCreatedAt }),
})

type Reader = { db: Db; findBlind: FindBlind }

/** Hides the examples that a person still has to judge. */
const forReader = async <T extends { definition: object }>(
  { db, findBlind }: Reader,
  actor: Actor,
  all: T[],
): Promise<T[]> => {
  const ids = [...new Set(all.flatMap(({ definition }) => exampleIdsOf(definition)))]
  const hidden = new Set(ids.length > 0 ? await findBlind(db, actor, ids) : [])
  return all.map((one) => ({ ...one, definition: hideExamples(one.definition, hidden) }))
}

/** Returns monitors in the API's format. */
export const showMonitors = async (reader: Reader, actor: Actor, monitors: Stored[]) =>
  (await forReader(reader, actor, monitors)).map(shownMonitor)

export const showMonitor = async (reader: Reader, actor: Actor, monitor: Stored) => {
  const [hidden = monitor] = await forReader(reader, actor, [monitor])
  return shownMonitor(hidden)
}

/** Returns versions in the API's format. */
export const showVersions = async (reader: Reader, actor: Actor, versions: Version[]) =>
  (await forReader(reader, actor, versions)).map(shownVersion)
