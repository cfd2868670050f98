// Finds conversations by meaning.

import { readTurns } from '../conversations/ingest/tasks.ts'
import { getTranscript } from '../conversations/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { dropOldest } from '../platform/drop-oldest.ts'
import type { Embedded } from '../platform/embedder.ts'
import { ApiError, notFound } from '../platform/errors.ts'
import type { Meaning, Meanings, Similar } from '../platform/meanings.ts'
import { cellsNear } from './cells/near.ts'
import { embedConversations } from './embed-conversations.ts'
import { type CurrentModel, findCurrentModel } from './model-numbers.ts'
import {
  areAtMost,
  findFirstPassage,
  listEmbedded,
  listNearestInCells,
  listNearestWithin,
  listPassagesOf,
  type StoredPassage,
} from './queries.ts'
import { beginningOf, explainFailure, keyOfText, termsOfQuery } from './query-terms.ts'
import { rankPassages } from './rank.ts'
import { codeOf, mostDifferentBits, readVector } from './vectors.ts'

/**
 * English passages with at least this similarity usually have the same meaning. docs/decisions/0051-embeddings.md
 * explains the figure.
 */
export const defaultMinimumSimilarity = 0.65

/** Null if there is nothing to compare, because the conversation or turn has no words. */
type Query = { current: CurrentModel; embedded: Embedded | null }

/** The vectors of recently embedded texts, oldest first. */
type Cached = { embedded: Promise<Embedded>; until: number }
const cache = new Map<string, Cached>()
const mostCached = 1_000
const cachedMs = 60_000

const embedText = async ({ embedder }: Deps, org: OrgId, text: string): Promise<Embedded> => {
  const [embedded] = await embedder.embed(org, [beginningOf(text)], termsOfQuery()).catch(explainFailure)
  if (!embedded) throw new Error('The embedder returned no vector')
  return embedded
}

const removeExpired = (now: number): void => {
  for (const [key, { until }] of cache) {
    if (until > now) return
    cache.delete(key)
  }
}

const embedOnce = (deps: Deps, org: OrgId, { number }: CurrentModel, text: string): Promise<Embedded> => {
  const key = keyOfText(org, number, beginningOf(text))
  const now = performance.now()
  removeExpired(now)
  const known = cache.get(key)
  if (known) return known.embedded
  const made = { embedded: embedText(deps, org, text), until: now + cachedMs }
  cache.set(key, made)
  made.embedded.catch(() => cache.get(key) === made && cache.delete(key))
  dropOldest(cache, mostCached)
  return made.embedded
}

const textOfTurn = async ({ threads }: Deps, db: Db, org: OrgId, id: string, index: number): Promise<string> => {
  const { content, format, startedAt } = await getTranscript(db, org, id)
  if (content === null || format === null) throw notFound()
  const turn = (await readTurns(threads, org, content, { provider: format, startedAt })).find(
    (one) => one.index === index,
  )
  if (!turn) throw notFound()
  return turn.text ?? ''
}

/** Returns the vector of a conversation's first passage. */
const vectorOfConversation = async (
  deps: Deps,
  org: OrgId,
  id: string,
  current: CurrentModel,
): Promise<Embedded | null> => {
  const db = deps.database.dbOf(org)
  const stored = await findFirstPassage(db, org, id, current.ofPassages)
  if (stored) return { model: stored.model, vector: Float32Array.from(readVector(stored.vector)) }
  // The conversation doesn't exist, or has no words.
  await getTranscript(db, org, id)
  const made = await embedNow(deps, org, [id])
  const passage = made.conversations[0]?.passages[0]
  return passage ? { model: passage.model, vector: Float32Array.from(passage.vector, signed) } : null
}

/** Converts an unsigned byte to a signed number. */
const signed = (byte: number): number => (byte << 24) >> 24

const embedNow = (deps: Deps, org: OrgId, ids: string[]) =>
  embedConversations(deps, org, ids, termsOfQuery()).catch(explainFailure)

const requireEnabled = ({ config }: Deps): void => {
  if (!config.embeddings) throw new ApiError('unavailable', 'Search by meaning is disabled on this server.')
}

const embedMeaning = async (deps: Deps, org: OrgId, meaning: Meaning): Promise<Query> => {
  requireEnabled(deps)
  const current = await findCurrentModel(deps.db, org)
  if ('text' in meaning) return { current, embedded: await embedOnce(deps, org, current, meaning.text) }
  const { conversationId } = meaning
  if (!('turn' in meaning)) return { current, embedded: await vectorOfConversation(deps, org, conversationId, current) }
  const text = await textOfTurn(deps, deps.database.dbOf(org), org, conversationId, meaning.turn)
  return { current, embedded: text.trim() === '' ? null : await embedText(deps, org, text) }
}

type SearchOptions = Parameters<Meanings['findSimilar']>[2]

/**
 * More candidates than results are needed, because several passages of a conversation can be near, and because codes
 * and vectors are not in exactly the same order.
 */
const candidatesPerResult = 8
const [fewestCandidates, mostCandidates] = [3_000, 20_000]
/** If conditions select at most this many conversations, all of them are compared, rather than those in the nearest cells. */
const mostCompared = 100_000

const listCandidates = async (
  deps: Deps,
  org: OrgId,
  { model, vector }: Embedded,
  { limit, within = [], minimumSimilarity, except }: SearchOptions & { except: string | undefined },
): Promise<StoredPassage[]> => {
  const db = deps.database.dbOf(org)
  const most = Math.min(mostCandidates, Math.max(fewestCandidates, limit * candidatesPerResult))
  const farthest = mostDifferentBits(minimumSimilarity)
  const near = { model, code: codeOf(vector), farthest, limit: most, except, within }
  if (within.length > 0 && (await areAtMost(db, org, within, mostCompared))) return listNearestWithin(db, org, near)
  return listNearestInCells(db, org, near, await cellsNear(db, org, model, vector))
}

/**
 * Returns the conversations with the most similar passages, nearest first and each only once. Omits the conversation
 * that the meaning comes from.
 */
export const findSimilar = async (
  deps: Deps,
  org: OrgId,
  meaning: Meaning,
  options: SearchOptions,
): Promise<Similar[]> => {
  const { minimumSimilarity, limit } = options
  const { embedded } = await embedMeaning(deps, org, meaning)
  if (!embedded) return []
  const except = 'conversationId' in meaning ? meaning.conversationId : undefined
  const candidates = await listCandidates(deps, org, embedded, { ...options, except })
  return (await rankPassages(candidates, embedded.vector, minimumSimilarity)).slice(0, limit)
}

/** A passage that is stored or was just embedded. */
type Passage = StoredPassage & { model: number }

/** Reads the passages of conversations. Embeds those that are not embedded yet. */
const readPassages = async (deps: Deps, org: OrgId, ids: string[]): Promise<Passage[]> => {
  const db = deps.database.dbOf(org)
  const { number, ofPassages } = await findCurrentModel(deps.db, org)
  const isEmbedded = await listEmbedded(db, org, ids, number)
  const passages = await listPassagesOf(db, org, ids, ofPassages)
  const lacking = ids.filter((id) => !isEmbedded.has(id))
  if (lacking.length === 0) return passages
  const { conversations } = await embedNow(deps, org, lacking)
  const made = conversations.flatMap((one) => one.passages)
  return [...passages, ...made.map((passage) => ({ ...passage, vector: Buffer.from(passage.vector) }))]
}

/**
 * Returns a function that returns the similarity of these conversations to a meaning. They are embedded once, however
 * many meanings they are compared with. Omits conversations that can't be compared, because they have no words, or
 * because another built-in model embeds their language.
 */
export const compareAmong = (deps: Deps, org: OrgId, conversationIds: string[]) => {
  let passages: Promise<Passage[]> | undefined
  return async (meaning: Meaning): Promise<Map<string, number>> => {
    const { embedded } = await embedMeaning(deps, org, meaning)
    if (!embedded || conversationIds.length === 0) return new Map()
    passages ??= readPassages(deps, org, conversationIds)
    const comparable = (await passages).filter(({ model }) => model === embedded.model)
    const ranked = await rankPassages(comparable, embedded.vector, -1)
    return new Map(ranked.map(({ conversationId, similarity }) => [conversationId, similarity]))
  }
}
