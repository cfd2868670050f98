import type { OrgId } from './db/database.ts'

/** A text, a conversation, or one of its turns by index. */
export type Meaning = { text: string } | { conversationId: string } | { conversationId: string; turn: number }

/** A conversation with its most similar passage. The similarity is a cosine, from -1 to 1. */
export type Similar = { conversationId: string; similarity: number; firstTurn: number; lastTurn: number }

/** Compares conversations by their meaning. `server/embeddings/` implements it. */
export type Meanings = {
  /**
   * Returns the conversations with the most similar passages, nearest first and each only once. Omits the conversation
   * that the meaning comes from. Throws `notFound` if that conversation or turn does not exist, and `unavailable` if
   * search by meaning is disabled.
   */
  findSimilar: (
    org: OrgId,
    meaning: Meaning,
    options: { minimumSimilarity: number; limit: number },
  ) => Promise<Similar[]>
  /** Returns how similar conversations are to a meaning. Embeds conversations that are not embedded yet. */
  similarityOf: (org: OrgId, meaning: Meaning, conversationIds: string[]) => Promise<Map<string, number>>
  /** Passages with at least this similarity usually have the same meaning. */
  defaultMinimumSimilarity: number
}
