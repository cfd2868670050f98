import type { Clause } from './db/clause.ts'
import type { OrgId } from './db/database.ts'

/** A text, a conversation, or one of its turns by index. */
export type Meaning = { text: string } | { conversationId: string } | { conversationId: string; turn: number }

/** A conversation with its most similar passage. The similarity is a cosine, from -1 to 1. */
export type Similar = { conversationId: string; similarity: number; firstTurn: number; lastTurn: number }

/** Compares conversations by their meaning. `server/embeddings/` implements it. */
export type Meanings = {
  /**
   * Returns the conversations with the most similar passages, nearest first and each only once. Omits the conversation
   * that the meaning comes from. `within` limits the search to conversations that satisfy conditions on the table
   * `conversations`. If there are not too many of them, all are compared. Throws `notFound` if the conversation or turn
   * of the meaning does not exist, and `unavailable` if search by meaning is disabled.
   */
  findSimilar: (
    org: OrgId,
    meaning: Meaning,
    options: { minimumSimilarity: number; limit: number; within?: Clause[] },
  ) => Promise<Similar[]>
  /**
   * Returns a function that returns the similarity of these conversations to a meaning. Its first call reads their
   * vectors, and embeds those that are not embedded yet.
   */
  compareAmong: (org: OrgId, conversationIds: string[]) => (meaning: Meaning) => Promise<Map<string, number>>
  /** Passages with at least this similarity usually have the same meaning. */
  defaultMinimumSimilarity: number
}
