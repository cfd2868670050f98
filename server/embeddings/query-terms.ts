import { EndpointError } from '../model-providers/requests/endpoint-error.ts'
import type { EmbeddingTerms } from '../platform/embedder.ts'
import { ApiError } from '../platform/errors.ts'

const patienceMs = 30_000

/** Returns the terms of an embedding that someone is waiting for. */
export const termsOfQuery = (): EmbeddingTerms => ({ signal: AbortSignal.timeout(patienceMs), background: false })

/** Throws the error in the format of the API. */
export const explainFailure = (error: unknown): never => {
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    throw new ApiError('unavailable', 'The embedding model took too long. Try again later.')
  }
  if (!(error instanceof EndpointError)) throw error
  throw new ApiError('unavailable', `The embedding model is not responding: ${error.message}. Try again later.`)
}
