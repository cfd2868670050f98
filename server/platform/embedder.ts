import type { OrgId } from './db/database.ts'

/** A text's vector, and the number of the model that created it. Only vectors of the same model can be compared. */
export type Embedded = { model: number; vector: Float32Array }

/** `background` requests let queries go first. */
export type EmbeddingTerms = { signal: AbortSignal; background: boolean }

/** Turns texts into vectors. `server/embeddings` implements it. */
export type Embedder = {
  /**
   * Embeds texts with the organization's model. Throws `unavailable` if embeddings are disabled, or if the model can't
   * currently answer.
   */
  embed: (org: OrgId, texts: string[], terms: EmbeddingTerms) => Promise<Embedded[]>
}
