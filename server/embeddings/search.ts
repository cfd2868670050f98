// Finds conversations by meaning.

import { readTurns } from '../conversations/ingest/tasks.ts'
import { getTranscript } from '../conversations/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { dropOldest } from '../platform/drop-oldest.ts'
import type { Embedded } from '../platform/embedder.ts'
import { ApiError, notFound } from '../platform/errors.ts'
import { cellsNear } from './cells/near.ts'
import { embedConversations } from './embed-conversations.ts'
import { type CurrentModel, findCurrentModel } from './model-numbers.ts'
import {
  type Candidate,
  findFirstPassage,
  listEmbedded,
  listNearestAmong,
  listNearestInCells,
  listPassages,
  listPassagesOf,
  type StoredPassage,
} from './queries.ts'
import { beginningOf, explainFailure, keyOfText, termsOfQuery } from './query-terms.ts'
import { codeOf, mostDifferentBits, readVector, similarityBetween } from './vectors.ts'

/**
 * A text, a conversation, or one of its turns by index. The meaning of a conversation is the customer's first request.
 */
export type Meaning = { text: string } | { conversationId: string } | { conversationId: string; turn: number }

/** A conversation, with its most similar passage. The similarity is a cosine, from -1 to 1. */
export type Similar = { conversationId: string; similarity: number; firstTurn: number; lastTurn: number }

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

const embedOnce = (deps: Deps, org: OrgId, { name }: CurrentModel, text: string): Promise<Embedded> => {
  const key = keyOfText(org, name, beginningOf(text))
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

type SearchOptions = { minimumSimilarity: number; limit: number; among?: string[] | undefined }

/**
 * More candidates than results are needed, because several passages of a conversation can be near, and because codes
 * and vectors are not in exactly the same order.
 */
const candidatesPerResult = 8
const [fewestCandidates, mostCandidates] = [3_000, 20_000]

const listCandidates = async (
  deps: Deps,
  org: OrgId,
  { model, vector }: Embedded,
  { limit, among, minimumSimilarity, except }: SearchOptions & { except: string | undefined },
): Promise<Candidate[]> => {
  const db = deps.database.dbOf(org)
  const most = Math.min(mostCandidates, Math.max(fewestCandidates, limit * candidatesPerResult))
  const near = { model, code: codeOf(vector), farthest: mostDifferentBits(minimumSimilarity), limit: most, except }
  if (among) return listNearestAmong(db, org, near, among)
  return listNearestInCells(db, org, near, await cellsNear(db, org, model, vector))
}

type Compared = StoredPassage & { similarity: number }

/** Returns the most similar passage of each conversation, nearest first. */
const bestOfEach = (passages: StoredPassage[], vector: ArrayLike<number>): Compared[] => {
  const best = new Map<string, Compared>()
  for (const passage of passages) {
    const similarity = similarityBetween(vector, readVector(passage.vector))
    const before = best.get(passage.conversationId)
    if (!before || similarity > before.similarity) best.set(passage.conversationId, { ...passage, similarity })
  }
  return [...best.values()].sort(
    (a, b) => b.similarity - a.similarity || (a.conversationId < b.conversationId ? -1 : 1),
  )
}

/**
 * Returns the conversations with the most similar passages, nearest first and each only once. Omits the conversation
 * that the meaning comes from. `among` limits the search to these conversations.
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
  const passages = await listPassages(deps.database.dbOf(org), org, candidates)
  return bestOfEach(passages, embedded.vector)
    .filter(({ similarity }) => similarity >= minimumSimilarity)
    .slice(0, limit)
    .map(({ conversationId, similarity, firstTurn, lastTurn }) => ({ conversationId, similarity, firstTurn, lastTurn }))
}

/**
 * Returns how similar conversations are to a meaning. Embeds conversations that are not embedded yet. Omits
 * conversations that can't be compared, because they have no words, or because another built-in model embeds their
 * language.
 */
export const similarityOf = async (
  deps: Deps,
  org: OrgId,
  meaning: Meaning,
  conversationIds: string[],
): Promise<Map<string, number>> => {
  const { current, embedded } = await embedMeaning(deps, org, meaning)
  if (!embedded || conversationIds.length === 0) return new Map()
  const db = deps.database.dbOf(org)
  const isEmbedded = await listEmbedded(db, org, conversationIds, current.number)
  const passages = await listPassagesOf(db, org, conversationIds, embedded.model)
  const lacking = conversationIds.filter((id) => !isEmbedded.has(id))
  if (lacking.length > 0) {
    const { conversations } = await embedNow(deps, org, lacking)
    for (const passage of conversations.flatMap((one) => one.passages)) {
      if (passage.model === embedded.model) passages.push({ ...passage, vector: Buffer.from(passage.vector) })
    }
  }
  return new Map(
    bestOfEach(passages, embedded.vector).map(({ conversationId, similarity }) => [conversationId, similarity]),
  )
}
