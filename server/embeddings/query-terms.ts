import { createHash } from 'node:crypto'
import { EndpointError } from '../model-providers/requests/endpoint-error.ts'
import type { OrgId } from '../platform/db/database.ts'
import type { EmbeddingTerms } from '../platform/embedder.ts'
import { ApiError } from '../platform/errors.ts'

/** The maximum length of a text. Its beginning is enough to show what it is about. */
const longestText = 2_000

export const beginningOf = (text: string): string => text.slice(0, longestText)

/** Returns a key for a text and the model that embeds it, which is shorter than the text. */
export const keyOfText = (org: OrgId, model: number, text: string): string =>
  createHash('sha256')
    .update(JSON.stringify([org, model, text]))
    .digest('base64')

const patienceMs = 30_000

/** Returns the terms for an embedding that someone is waiting for. */
export const termsOfQuery = (): EmbeddingTerms => ({ signal: AbortSignal.timeout(patienceMs), background: false })

/** Rethrows an error in the API's format. */
export const explainFailure = (error: unknown): never => {
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    throw new ApiError('unavailable', 'The embedding model took too long. Try again later.')
  }
  if (!(error instanceof EndpointError)) throw error
  throw new ApiError('unavailable', `The embedding model is not responding: ${error.message}. Try again later.`)
}
