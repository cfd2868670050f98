import { readTurns } from '../conversations/ingest/tasks.ts'
import { lockNamedConversations } from '../conversations/queries.ts'
import { EndpointError } from '../model-providers/requests/endpoint-error.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import type { EmbeddingTerms } from '../platform/embedder.ts'
import { mapWithPauses } from '../platform/map-with-pauses.ts'
import { sortLater } from './cells/jobs.ts'
import { findCurrentModel } from './model-numbers.ts'
import { type Passage, passagesOf } from './passages.ts'
import {
  deleteEmbeddings,
  deleteProgress,
  deleteUselessMarks,
  insertEmbeddings,
  listHashes,
  listUnembeddedTexts,
  type NewPassage,
  type StoredText,
} from './queries.ts'
import { codeOf, quantize } from './vectors.ts'

type EmbeddedConversation = { id: string; hash: string; passages: NewPassage[] }

/** Embedded conversations that are not stored yet. */
export type NewEmbeddings = { model: number; conversations: EmbeddedConversation[] }

const readPassages = async ({ threads }: Deps, org: OrgId, text: StoredText): Promise<Passage[]> => {
  const { content, format, startedAt } = text
  return passagesOf(await readTurns(threads, org, content, { provider: format, startedAt }))
}

type Read = { text: StoredText; passages: Passage[] }
type ReadConversations = { model: number; read: Read[] }

/** Reads the conversations that have a transcript and that the organization's model has not embedded yet. */
const readConversations = async (deps: Deps, org: OrgId, ids: string[]): Promise<ReadConversations> => {
  const { number } = await findCurrentModel(deps.db, org)
  const read: Read[] = []
  for (const text of await listUnembeddedTexts(deps.database.dbOf(org), org, ids, number)) {
    read.push({ text, passages: await readPassages(deps, org, text) })
  }
  return { model: number, read }
}

const embedPassages = async (
  deps: Deps,
  org: OrgId,
  { model: number, read }: ReadConversations,
  terms: EmbeddingTerms,
): Promise<NewEmbeddings> => {
  const all = read.flatMap(({ passages }) => passages.map(({ text }) => text))
  const embedded = (await deps.embedder.embed(org, all, terms)).values()
  const conversations = await mapWithPauses(read, ({ text: { id, hash }, passages }) => ({
    id,
    hash,
    passages: passages.map(({ firstTurn, lastTurn }, position): NewPassage => {
      const { value } = embedded.next()
      if (!value) throw new Error('The embedder returned too few vectors')
      const { model, vector } = value
      const code = codeOf(vector)
      return {
        conversationId: id,
        position,
        model,
        code,
        vector: Uint8Array.from(quantize(vector)),
        firstTurn,
        lastTurn,
      }
    }),
  }))
  return { model: number, conversations }
}

/** Embeds the conversations that have a transcript and that the organization's model has not embedded yet. */
export const embedConversations = async (
  deps: Deps,
  org: OrgId,
  ids: string[],
  terms: EmbeddingTerms,
): Promise<NewEmbeddings> => {
  return embedPassages(deps, org, await readConversations(deps, org, ids), terms)
}

/** A text that no model refuses. */
const harmless = 'Hello'

/**
 * Embeds a conversation. If the model refuses this text but not a harmless one, stores the conversation without
 * passages, so that it is not retried forever.
 */
export const embedConversation = async (
  deps: Deps,
  org: OrgId,
  id: string,
  terms: EmbeddingTerms,
): Promise<NewEmbeddings> => {
  const conversations = await readConversations(deps, org, [id])
  try {
    return await embedPassages(deps, org, conversations, terms)
  } catch (error) {
    if (!(error instanceof EndpointError) || error.kind !== 'refused') throw error
    await deps.embedder.embed(org, [harmless], terms)
    deps.log.warn({ organizationId: org, conversationId: id, reason: error.message }, 'a model refused a conversation')
    const { model, read } = conversations
    return { model, conversations: read.map(({ text: { hash } }) => ({ id, hash, passages: [] })) }
  }
}

/**
 * Stores embedded conversations, except for those that were erased in the meantime or have a new transcript. Stores
 * nothing if the organization has chosen another model in the meantime. Unmarks the other conversations unless they got a
 * transcript in the meantime.
 */
export const storeEmbeddings = async (
  deps: Pick<Deps, 'jobs' | 'reactions'>,
  trx: Db,
  org: OrgId,
  { ids, made: { model, conversations } }: { ids: string[]; made: NewEmbeddings },
): Promise<void> => {
  await lockNamedConversations(trx, org, { ids, externalIds: [] })
  const embedded = new Set(conversations.map(({ id }) => id))
  const others = ids.filter((id) => !embedded.has(id))
  if (others.length > 0) await deleteUselessMarks(trx, org, others)
  if (embedded.size === 0) return
  const hashes = await listHashes(trx, org, [...embedded])
  const unchanged = conversations.filter(({ id, hash }) => hashes.get(id) === hash)
  if (unchanged.length === 0) return
  if ((await findCurrentModel(trx, org)).number !== model) {
    // The background job embeds the conversations with the new model.
    await deleteProgress(trx, org)
    return
  }
  const conversationIds = unchanged.map(({ id }) => id)
  await deleteEmbeddings(trx, org, conversationIds)
  const passages = unchanged.flatMap((one) => one.passages)
  await insertEmbeddings(trx, org, { conversationIds, model, passages })
  const firstPassages = passages.filter(({ position }) => position === 0)
  await deps.reactions.conversationsEmbedded(trx, org, { firstPassages })
  await sortLater(deps, trx, org, [...new Set(passages.map((passage) => passage.model))])
}
