import { readTurns } from '../conversations/ingest/tasks.ts'
import { lockNamedConversations } from '../conversations/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import type { EmbeddingTerms } from '../platform/embedder.ts'
import { mapWithPauses } from '../platform/map-with-pauses.ts'
import { sortLater } from './cells/jobs.ts'
import { findCurrentModel } from './model-numbers.ts'
import { type Passage, passagesOf } from './passages.ts'
import {
  deleteEmbeddings,
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

/** Embeds those conversations that have a transcript, and that the organization's model has not embedded yet. */
export const embedConversations = async (
  deps: Deps,
  org: OrgId,
  ids: string[],
  terms: EmbeddingTerms,
): Promise<NewEmbeddings> => {
  const { number } = await findCurrentModel(deps.db, org)
  const texts = await listUnembeddedTexts(deps.database.dbOf(org), org, ids, number)
  const read: { text: StoredText; passages: Passage[] }[] = []
  for (const text of texts) read.push({ text, passages: await readPassages(deps, org, text) })
  const all = read.flatMap(({ passages }) => passages.map(({ text }) => text))
  const embedded = (await deps.embedder.embed(org, all, terms)).values()
  const conversations = await mapWithPauses(read, ({ text: { id, hash }, passages }) => ({
    id,
    hash,
    passages: passages.map(({ firstTurn, lastTurn }, position): NewPassage => {
      const { model, vector } = embedded.next().value ?? { model: 0, vector: new Float32Array() }
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

/** Stores embedded conversations, except for those that were erased or got a changed transcript in the meantime. */
export const storeEmbeddings = async (
  deps: Pick<Deps, 'jobs' | 'reactions'>,
  trx: Db,
  org: OrgId,
  { model, conversations }: NewEmbeddings,
): Promise<void> => {
  const ids = conversations.map(({ id }) => id)
  if (ids.length === 0) return
  await lockNamedConversations(trx, org, { ids, externalIds: [] })
  const hashes = await listHashes(trx, org, ids)
  const unchanged = conversations.filter(({ id, hash }) => hashes.get(id) === hash)
  if (unchanged.length === 0) return
  const conversationIds = unchanged.map(({ id }) => id)
  await deleteEmbeddings(trx, org, conversationIds)
  const passages = unchanged.flatMap((one) => one.passages)
  await insertEmbeddings(trx, org, { conversationIds, model, passages })
  const firstPassages = passages.filter(({ position }) => position === 0)
  await deps.reactions.conversationsEmbedded(trx, org, { firstPassages })
  await sortLater(deps, trx, org, [...new Set(passages.map((passage) => passage.model))])
}
