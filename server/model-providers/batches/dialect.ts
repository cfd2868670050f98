import type { HttpRequest } from '../requests/dialect.ts'
import type { ProviderKind, ProviderSettings } from '../settings.ts'

/** A batch as its provider reports it. */
export type RemoteBatch = {
  id: string
  /** `rejected` means that the provider processed none of its requests. */
  state: 'processing' | 'ended' | 'rejected'
  /** The reason for the rejection, as one word. */
  fault: string | null
  requests: number
  answered: number
  failed: number
  createdAt: Date
  expiresAt: Date | null
  /** The marker that was sent with the batch. Undefined if the provider does not store markers. */
  marker: string | undefined
  /** The batch's files: the requests, the answers, and the errors. */
  files: { input: string | null; output: string | null; errors: string | null }
}

/** One result of a batch. Without a body, the request was not answered. */
export type BatchLine = { id: string; body: unknown }

/** The ID and the JSON body of a request. */
type Line = { id: string; body: string }

type Creation = {
  /** Identifies the batch, so that it can be found if its ID is lost. */
  marker: string
  /** The uploaded file, if the provider reads requests from a file. */
  file: string | null
  lines: readonly Line[]
}

/** Writes the requests that manage batches at one kind of provider, and reads the responses. */
export type BatchDialect = {
  /** Uploads the requests. Undefined if they are part of the request that creates the batch. */
  upload?: (settings: ProviderSettings, creation: Omit<Creation, 'file'>) => HttpRequest
  /** Returns the file's ID, or undefined if the response contains none. */
  readUpload?: (body: unknown) => string | undefined
  /** Requests the status of an uploaded file, which may not be usable yet. Undefined if files are always usable. */
  checkUpload?: (settings: ProviderSettings, file: string) => HttpRequest
  create: (settings: ProviderSettings, creation: Creation) => HttpRequest
  get: (settings: ProviderSettings, id: string) => HttpRequest
  /** Lists the newest batches, or those that follow a given batch. */
  list: (settings: ProviderSettings, after: string | undefined) => HttpRequest
  cancel: (settings: ProviderSettings, id: string) => HttpRequest
  /** The requests that download the results, one after the other. */
  results: (settings: ProviderSettings, batch: RemoteBatch) => HttpRequest[]
  /** The requests that delete the provider's data for a batch after its results were read. */
  remove: (settings: ProviderSettings, batch: RemoteBatch) => HttpRequest[]
  read: (body: unknown) => RemoteBatch | undefined
  readLine: (line: unknown) => BatchLine | undefined
}

export type BatchDialects = Partial<Record<ProviderKind, BatchDialect>>

/** Returns the properties of a value. A value that is not an object has none. */
export const propertiesOf = (value: unknown): Record<string, unknown> => Object(value) as Record<string, unknown>

export const countIn = (value: unknown): number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 ? Math.min(value, 2 ** 31 - 1) : 0

export const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' && value.length <= 200 ? value : undefined

export const wordIn = (value: unknown): string | null =>
  typeof value === 'string' && /^[a-z][a-z_]{0,63}$/.test(value) ? value : null
