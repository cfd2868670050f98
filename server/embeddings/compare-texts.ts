// Compares texts by their meaning, such as those of findings.

import type { OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { dropOldest } from '../platform/drop-oldest.ts'
import type { Embedded } from '../platform/embedder.ts'
import { findCurrentModel } from './model-numbers.ts'
import { beginningOf, explainFailure, keyOfText, termsOfQuery } from './query-terms.ts'
import { similarityBetween } from './vectors.ts'

/** Texts are compared again and again while somebody types, so vectors are cached. Each takes 2 KB. */
const mostKept = 5_000
const kept = new Map<string, Embedded>()

const keep = (key: string, embedded: Embedded): void => {
  kept.delete(key)
  kept.set(key, embedded)
  dropOldest(kept, mostKept)
}

/**
 * Returns how similar each of these texts is to a text, from -1 to 1. Texts in a different language don't count as
 * similar.
 */
export const compareTexts = async (
  { db, embedder }: Pick<Deps, 'db' | 'embedder'>,
  org: OrgId,
  text: string,
  others: string[],
): Promise<number[]> => {
  const { name } = await findCurrentModel(db, org)
  const texts = [text, ...others].map(beginningOf)
  const keys = texts.map((one) => keyOfText(org, name, one))
  const missing = [...new Set(keys)].filter((key) => !kept.has(key))
  const lacking = missing.map((key) => texts[keys.indexOf(key)] ?? '')
  const made = await embedder.embed(org, lacking, termsOfQuery()).catch(explainFailure)
  const known = new Map(keys.flatMap((key) => (kept.has(key) ? [[key, kept.get(key) as Embedded] as const] : [])))
  for (const [at, embedded] of made.entries()) known.set(missing[at] ?? '', embedded)
  for (const [key, embedded] of known) keep(key, embedded)
  const [own, ...compared] = keys.map((key) => known.get(key))
  return compared.map((one) => (own && one && own.model === one.model ? similarityBetween(own.vector, one.vector) : 0))
}
