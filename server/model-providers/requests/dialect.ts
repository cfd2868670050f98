import type { ProviderSettings } from '../settings.ts'

/**
 * The input of a model. `system` contains instructions. Text from others is only in `user` or in `shared`, the start of
 * the user's message that many requests have in common.
 */
export type ModelPrompt = {
  system: string
  shared?: string | undefined
  /** Sounds that the model hears before the text. Only for models that accept sound. */
  sounds?: PromptSound[] | undefined
  user: string
  schema: object
}

/** A WAV file and its description. */
export type PromptSound = { caption: string; wav: Buffer; seconds: number }

export type ModelTokens = {
  /** All tokens in the input, including cached ones. */
  input: number
  output: number
  /** The input tokens that came from the provider's cache. */
  cachedInput: number
  /** The input tokens that were written to the provider's cache. */
  cacheWrite: number
  /** The input tokens that are sound. */
  audioInput?: number
}

/** `cut` means that the endpoint ended the text before the model did. */
export type ModelReply = { text: string; end: 'whole' | 'cut' | 'refused'; tokens: ModelTokens | null }

/** A model offered by a provider. */
export type OfferedModel = { id: string; name: string | null }

export type HttpRequest = {
  method: 'GET' | 'POST' | 'DELETE'
  url: URL
  headers: Record<string, string>
  body?: string
}

/** A request with a file. */
export type FileRequest = Omit<HttpRequest, 'body'> & { body: Buffer }

export type PromptOptions = {
  model: string
  system: string
  /** Only for dialects that mark the start of the message, so that the provider caches it. */
  shared?: string | undefined
  /** Only for dialects that accept sound. */
  sounds?: PromptSound[] | undefined
  user: string
  /** Undefined if the provider doesn't accept a schema. In that case, the prompt describes it. */
  schema: object | undefined
  contextTokens: number
}

/** A part of a recording, as a WAV file. */
export type TranscriptionOptions = { model: string; audio: Buffer; isTimed: boolean }

/** Milliseconds count from the start of the audio. */
export type TranscribedSegment = { text: string; startMs: number; endMs: number }

/** `segments` is null if the response has no times. */
export type TranscriptionReply = { text: string; segments: TranscribedSegment[] | null }

/** Texts to embed with one request. */
export type EmbeddingOptions = { model: string; texts: string[] }

/** The vectors are in the order of the texts. */
export type EmbeddingReply = { vectors: number[][]; tokens: ModelTokens | null }

/** Writes requests for one kind of provider, and reads its responses. */
export type Dialect = {
  /** Whether `ask` accepts the shared start of a message. Otherwise, it is part of `user`. */
  marksShared?: true
  /** Whether `ask` accepts sounds. */
  takesSound?: true
  ask: (settings: ProviderSettings, options: PromptOptions) => HttpRequest | Promise<HttpRequest>
  /** Returns undefined if the response does not have the format of this kind of provider. */
  read: (body: unknown) => ModelReply | undefined
  /** Undefined if this kind of provider can't transcribe recordings. */
  transcribe?: (settings: ProviderSettings, options: TranscriptionOptions) => FileRequest
  /** Returns undefined if the response has no transcript. */
  readTranscription?: (body: unknown) => TranscriptionReply | undefined
  /** Undefined if this kind of provider can't embed texts. */
  embed?: (settings: ProviderSettings, options: EmbeddingOptions) => HttpRequest
  /** Returns undefined if the response has no vectors. */
  readEmbeddings?: (body: unknown) => EmbeddingReply | undefined
  /** The requests that list the models. Undefined if the provider cannot list them. */
  list?: (settings: ProviderSettings) => HttpRequest[] | Promise<HttpRequest[]>
  /** Returns the models in one response, or undefined if it does not have the format of this kind of provider. */
  readList?: (body: unknown) => OfferedModel[] | undefined
}

/** The largest number that the column can store. */
const mostTokens = 2 ** 31 - 1

const isCount = (value: unknown): value is number => Number.isInteger(value) && Number(value) >= 0

type ReportedTokens = {
  input: unknown
  output: unknown
  cachedInput?: unknown
  cacheWrite?: unknown
  audioInput?: unknown
}

/** Returns null unless the provider reported both input and output tokens. */
export const readTokens = (reported: ReportedTokens): ModelTokens | null => {
  const { input, output, cachedInput, cacheWrite, audioInput } = reported
  if (!isCount(input) || !isCount(output)) return null
  const part = (value: unknown, most: number) => (isCount(value) ? Math.min(value, most) : 0)
  const all = Math.min(input, mostTokens)
  const cached = part(cachedInput, all)
  return {
    input: all,
    output: Math.min(output, mostTokens),
    cachedInput: cached,
    cacheWrite: part(cacheWrite, all - cached),
    ...(isCount(audioInput) && audioInput > 0 && { audioInput: Math.min(audioInput, all) }),
  }
}

/** Returns a URL for a path below the base URL. Keeps the query string of the base URL. */
export const below = (base: string, path: string): URL => {
  const url = new URL(base)
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`
  return url
}

export const postJson = (url: URL, headers: Record<string, string>, body: object): HttpRequest => ({
  method: 'POST',
  url,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

/** Joins the text of a response that consists of blocks. */
export const joinTexts = (blocks: readonly unknown[], isText: (block: Record<string, unknown>) => boolean): string =>
  blocks
    .map((block) => {
      const one = Object(block) as Record<string, unknown>
      return isText(one) && typeof one.text === 'string' ? one.text : ''
    })
    .join('')

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

/** Returns the models in a list with entries that have these properties. */
export const readModels = (
  list: unknown,
  { id: idName, name: nameName }: { id: string; name?: string },
): OfferedModel[] | undefined => {
  if (!Array.isArray(list)) return undefined
  return list.flatMap((entry) => {
    const one = Object(entry) as Record<string, unknown>
    const id = text(one[idName])
    return id === undefined ? [] : [{ id, name: (nameName && text(one[nameName])) || null }]
  })
}
