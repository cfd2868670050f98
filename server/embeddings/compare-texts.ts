// Compares texts by their meaning, such as those of findings.

import { createHash } from 'node:crypto'
import type { OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import type { Embedded } from '../platform/embedder.ts'
import { findCurrentModel } from './model-numbers.ts'
import { explainFailure, termsOfQuery } from './query-terms.ts'
import { similarityBetween } from './vectors.ts'

/** The beginning of a text says what it is about. Models ignore the rest of long texts anyway. */
const longest = 2_000

/** Texts are compared again and again while somebody types. Their vectors take 2 KB each. */
const mostKept = 5_000
const kept = new Map<string, Embedded>()

const keep = (key: string, embedded: Embedded): void => {
  kept.delete(key)
  kept.set(key, embedded)
  const [oldest] = kept.keys()
  if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest)
}

/** Returns how similar each of these texts is to a text, from -1 to 1. Texts in other languages are not similar. */
export const compareTexts = async (
  { db, embedder }: Pick<Deps, 'db' | 'embedder'>,
  org: OrgId,
  text: string,
  others: string[],
): Promise<number[]> => {
  const { name } = await findCurrentModel(db, org)
  const texts = [text, ...others].map((one) => one.slice(0, longest))
  const keys = texts.map((one) =>
    createHash('sha256')
      .update(JSON.stringify([org, name, one]))
      .digest('base64'),
  )
  const missing = [...new Set(keys)].filter((key) => !kept.has(key))
  const lacking = missing.map((key) => texts[keys.indexOf(key)] ?? '')
  const made = await embedder.embed(org, lacking, termsOfQuery()).catch(explainFailure)
  const known = new Map(keys.flatMap((key) => (kept.has(key) ? [[key, kept.get(key) as Embedded] as const] : [])))
  for (const [at, embedded] of made.entries()) known.set(missing[at] ?? '', embedded)
  for (const [key, embedded] of known) keep(key, embedded)
  const [own, ...compared] = keys.map((key) => known.get(key))
  return compared.map((one) => (own && one && own.model === one.model ? similarityBetween(own.vector, one.vector) : 0))
}
