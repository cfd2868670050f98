// Compares texts by their meaning, such as those of findings.

import type { OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { dropOldest } from '../platform/drop-oldest.ts'
import { findCurrentModel } from './model-numbers.ts'
import { beginningOf, explainFailure, keyOfText, termsOfQuery } from './query-terms.ts'
import { quantize, similarityBetween } from './vectors.ts'

type Kept = { model: number; vector: Int8Array }

/**
 * The maximum number of cached vectors. While somebody types, the same texts are compared repeatedly. Each vector takes
 * 512 bytes.
 */
const mostKept = 20_000
const kept = new Map<string, Kept>()

const keep = (key: string, vector: Kept): void => {
  kept.delete(key)
  kept.set(key, vector)
  dropOldest(kept, mostKept)
}

/** A text that may already have a cached vector. Equal texts have equal hashes. */
type Hashed = { id: string; hash: string }

/**
 * Returns how similar each of these texts is to a text, from -1 to 1, in the same order. Texts in a different language
 * don't count as similar. `readTexts` returns texts by ID. It is only called for those without a cached vector.
 */
export const compareTexts = async (
  { db, embedder }: Pick<Deps, 'db' | 'embedder'>,
  org: OrgId,
  text: string,
  { others, readTexts }: { others: Hashed[]; readTexts: (ids: string[]) => Promise<Map<string, string>> },
): Promise<number[]> => {
  const { number } = await findCurrentModel(db, org)
  const keyOf = ({ hash }: Hashed) => keyOfText(org, number, hash)
  const vectors = new Map(others.flatMap((one) => [[keyOf(one), kept.get(keyOf(one))] as const]))
  const lacking = [...new Map(others.map((one) => [keyOf(one), one])).values()].filter(
    (one) => !vectors.get(keyOf(one)),
  )
  const texts = lacking.length > 0 ? await readTexts(lacking.map(({ id }) => id)) : new Map<string, string>()
  const read = lacking.flatMap((one) => {
    const found = texts.get(one.id)
    return found === undefined ? [] : [{ key: keyOf(one), text: found }]
  })
  const all = [text, ...read.map((one) => one.text)].map(beginningOf)
  const [own, ...made] = await embedder.embed(org, all, termsOfQuery()).catch(explainFailure)
  for (const [at, { model, vector }] of made.entries()) {
    vectors.set(read[at]?.key ?? '', { model, vector: quantize(vector) })
  }
  for (const [key, vector] of vectors) if (vector) keep(key, vector)
  return others.map((one) => {
    const vector = vectors.get(keyOf(one))
    return own && vector && own.model === vector.model ? similarityBetween(own.vector, vector.vector) : 0
  })
}
