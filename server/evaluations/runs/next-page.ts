import type { Narrowing } from '../../filters/queries.ts'
import { resolve } from '../../filters/resolve.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { listSelectedAmong } from '../queries.ts'
import { listStretch, type Population, type ResolvedPopulation, type RunPosition } from './queries.ts'

const longestStretch = 4_000

/** Prepares the filters of a run for SQL. With `among`, the result only applies to conversations that satisfy it. */
export const resolvePopulation = async (
  deps: Pick<Deps, 'meanings'>,
  org: OrgId,
  population: Population,
  among: Narrowing = population.conversationIds ? { conversationIds: population.conversationIds } : {},
): Promise<ResolvedPopulation> => ({
  ...population,
  filter: await resolve(deps, org, population.filter, among),
  scope: await resolve(deps, org, population.scope, { ...population.filter, ...among }),
})

/**
 * Returns the conversations in an interval that match the filter and scope of a run. Only checks results in that
 * interval.
 */
const listTaken = async (
  db: Db,
  org: OrgId,
  { filter, scope }: ResolvedPopulation,
  stretch: RunPosition[],
): Promise<RunPosition[]> => {
  const [first, last] = [stretch[0], stretch.at(-1)]
  if (!first || !last) return []
  const since = first.startedAt.toISOString()
  const until = new Date(last.startedAt.getTime() + 1).toISOString()
  const ids = stretch.map(({ id }) => id)
  const taken = await listSelectedAmong(db, org, ids, [{ ...filter, since, until }, scope])
  return stretch.filter(({ id }) => taken.every((ofOne) => ofOne.has(id)))
}

type PageAfter = { size: number; after: RunPosition | undefined }

/**
 * Returns the next conversations of a run in time order. An index on words, metadata, or results would find all of a
 * run's conversations for each page. Instead, this checks one interval of time after another, and uses longer intervals
 * if they contain few conversations.
 */
export const findNextPage = async (
  deps: Pick<Deps, 'db' | 'meanings'>,
  org: OrgId,
  population: Population,
  { size, after }: PageAfter,
) => {
  const { db } = deps
  const found: RunPosition[] = []
  let place = after
  for (let length = size; ; length = Math.min(longestStretch, length * 2)) {
    const stretch = await listStretch(db, org, population, length, place)
    const among = { conversationIds: stretch.map(({ id }) => id) }
    found.push(...(await listTaken(db, org, await resolvePopulation(deps, org, population, among), stretch)))
    if (found.length >= size || stretch.length < length) return found.slice(0, size)
    place = stretch.at(-1)
  }
}
