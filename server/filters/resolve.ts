import type { OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { ApiError } from '../platform/errors.ts'
import type { Similar } from '../platform/meanings.ts'
import {
  type Exclusion,
  type Likeness,
  type Narrowing,
  narrowingClauses,
  type Part,
  type Plain,
  type Resolved,
  type Selection,
} from './queries.ts'

/**
 * Finds the conversations that `similarTo` stands for, because SQL can't compare meanings. Stored filters keep the
 * condition, and are resolved whenever they are used.
 */

/** The nearest conversations that a condition on the meaning can select. */
const mostSimilar = 10_000

/**
 * Finds the conversations that a condition stands for. `around` are the parts of the filter that contain the condition
 * and must all match.
 */
type Find<Found> = (likeness: Likeness, around: Narrowing[]) => Promise<Found>

const resolvePart = async <Found>(
  { similarTo, ...part }: Part,
  find: Find<Found>,
  around: Narrowing[],
): Promise<Part<Found>> => (similarTo ? { ...part, similarTo: await find(similarTo, [...around, part]) } : part)

const resolveParts = async <Found>(
  { anyOf, ...part }: Exclusion,
  find: Find<Found>,
  around: Narrowing[],
): Promise<Exclusion<Found>> => {
  const resolved = await resolvePart(part, find, around)
  if (!anyOf) return resolved
  return { ...resolved, anyOf: await Promise.all(anyOf.map((one) => resolvePart(one, find, [...around, part]))) }
}

const resolveAll = async <Found>(
  { exclude, ...own }: Selection,
  find: Find<Found>,
  around: Narrowing[] = [],
): Promise<Selection<Found>> => {
  const resolved = await resolveParts(own, find, around)
  return exclude ? { ...resolved, exclude: await resolveParts(exclude, find, [...around, own]) } : resolved
}

const comparesMeaning = ({ similarTo }: Part): boolean => similarTo !== undefined

/** Returns whether a filter compares no meanings. */
export const isPlain = (selection: Selection): selection is Plain => {
  const { anyOf = [], exclude, ...own } = selection
  return ![own, ...anyOf, ...(exclude ? [exclude, ...(exclude.anyOf ?? [])] : [])].some(comparesMeaning)
}

/** Separates the meaning from the minimum, which depends on the model unless it is given. */
const readLikeness = ({ meanings }: Pick<Deps, 'meanings'>, { minimumSimilarity, ...meaning }: Likeness) => ({
  meaning,
  minimumSimilarity: minimumSimilarity ?? meanings.defaultMinimumSimilarity,
})

/** Unknown conversations are similar to nothing, like all unknown IDs in filters. */
const unlessUnknown = <Found>(error: unknown, none: Found): Found => {
  if (error instanceof ApiError && error.kind === 'notFound') return none
  throw error
}

/**
 * Prepares a filter for SQL. Throws `unavailable` if it compares meanings while that is disabled. `among` contains
 * additional conditions: the result only applies to conversations that satisfy them. The result also only applies to
 * the filter's times.
 */
export const resolve = (
  deps: Pick<Deps, 'meanings'>,
  org: OrgId,
  selection: Selection,
  among: Narrowing = {},
): Promise<Selection<Similar[]>> =>
  resolveAll(
    selection,
    (likeness, around) => {
      const { meaning, minimumSimilarity } = readLikeness(deps, likeness)
      const within = around.flatMap((part) => narrowingClauses(org, part))
      return deps.meanings
        .findSimilar(org, meaning, { minimumSimilarity, limit: mostSimilar, within })
        .catch((error) => unlessUnknown(error, []))
    },
    [among],
  )

/**
 * Returns a function that prepares filters for SQL that only checks these conversations, which may have just arrived.
 * They are embedded once for all filters. While comparing meanings is disabled, `similarTo` matches nothing, so that
 * other conditions and monitors still work.
 */
export const resolveAmong = (deps: Pick<Deps, 'meanings' | 'config'>, org: OrgId, ids: string[]) => {
  const compare = deps.meanings.compareAmong(org, ids)
  return (selection: Selection): Promise<Resolved> =>
    resolveAll(selection, async (likeness) => {
      if (!deps.config.embeddings) return []
      const { meaning, minimumSimilarity } = readLikeness(deps, likeness)
      const similarities = await compare(meaning).catch((error) => unlessUnknown(error, new Map<string, number>()))
      const own = 'conversationId' in meaning ? meaning.conversationId : undefined
      return [...similarities]
        .filter(([id, similarity]) => id !== own && similarity >= minimumSimilarity)
        .map(([conversationId]) => ({ conversationId }))
    })
}
