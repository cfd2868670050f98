// Sends one request to a model. Returns the response, or throws the reason why there is none.
import type { Clock } from '../../platform/clock.ts'
import { OutboundError } from '../../platform/outbound/errors.ts'
import { readRetryAfter } from '../../platform/outbound/retry-after.ts'
import type { ProviderKind, ProviderSettings } from '../settings.ts'
import type {
  Dialect,
  EmbeddingReply,
  FileRequest,
  HttpRequest,
  ModelPrompt,
  ModelReply,
  OfferedModel,
  TranscriptionReply,
} from './dialect.ts'
import { anthropic } from './dialects/anthropic.ts'
import { azureOpenai } from './dialects/azure-openai.ts'
import { bedrock } from './dialects/bedrock.ts'
import { google } from './dialects/google.ts'
import { ollama } from './dialects/ollama.ts'
import { openaiCompatible } from './dialects/openai-compatible.ts'
import { EndpointError, kindOfStatus } from './endpoint-error.ts'
import { returnsTimes } from './transcription.ts'
import type { Transport } from './transport.ts'

const dialects: Record<ProviderKind, Dialect> = {
  'openai-compatible': openaiCompatible,
  anthropic,
  google,
  'azure-openai': azureOpenai,
  bedrock,
  ollama,
}

type EndpointOptions = {
  kind: ProviderKind
  settings: ProviderSettings
  contextTokens: number
  timeoutMs: number
  transport: Transport
  clock: Clock
}

/** Node's timers can't run longer than this. */
const longestTimeoutMs = 2 ** 31 - 1

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Reads a response. Returns undefined if reading fails, because any server can respond at an address. */
const readWith = <T>(read: (body: unknown) => T | undefined, body: unknown): T | undefined => {
  try {
    return read(body)
  } catch {
    return undefined
  }
}

const isWord = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= 64 && /^[A-Za-z]+(_[A-Za-z]+){0,6}$/.test(value)

const propertyOf = (value: unknown, name: string): unknown => (Object(value) as Record<string, unknown>)[name]

/**
 * Returns the endpoint's error code, such as `model_not_found`, if it is a single word. No other part of the response
 * is shown, because error messages quote request data, including keys.
 */
const faultWord = (body: unknown, errorType: unknown, { apiKey, secretAccessKey }: ProviderSettings) => {
  const error = propertyOf(body, 'error')
  // Ollama answers with a sentence instead of a code.
  if (typeof error === 'string') return /^model '[^']*' not found/.test(error) ? 'model_not_found' : undefined
  const details = propertyOf(error, 'details')
  const reason = Array.isArray(details) ? propertyOf(details[0], 'reason') : undefined
  // AWS puts the code into a header, followed by a colon and a URL.
  const ofHeader = typeof errorType === 'string' ? errorType.split(':')[0] : undefined
  const words = [reason, propertyOf(error, 'code'), propertyOf(error, 'type'), propertyOf(error, 'status'), ofHeader]
  const word = words.find(isWord)
  const isSecret = [apiKey, secretAccessKey].some((secret) => word !== undefined && secret?.includes(word))
  return isSecret ? undefined : word
}

/** Returns the system message for a provider that doesn't accept a schema. */
const withSchema = (system: string, schema: object): string =>
  `${system}\n\nTHE FORM\nAnswer with one JSON object that matches this JSON Schema, and nothing else:\n${JSON.stringify(schema)}`

export const openEndpoint = ({ kind, settings, contextTokens, timeoutMs, transport, clock }: EndpointOptions) => {
  const dialect = dialects[kind]

  const send = async (request: HttpRequest | FileRequest, signal: AbortSignal): Promise<unknown> => {
    const sending = { ...request, headers: { 'user-agent': 'Earshot', ...request.headers } }
    const answered = await transport({ ...sending, timeoutMs: Math.min(timeoutMs, longestTimeoutMs), signal }).catch(
      (error: unknown) => {
        if (!(error instanceof OutboundError)) throw error
        const { reason, message } = error
        if (reason !== 'forbidden_address') throw new EndpointError('down', message, { unreached: reason })
        throw new EndpointError('locked', 'the address of the endpoint is not allowed', {
          unreached: reason,
          messageWithHost: message,
        })
      },
    )
    const { status, headers, body } = answered
    const parsed = parse(body)
    // Azure returns 201 when it creates something.
    if (status === 200 || status === 201) return parsed
    const word = faultWord(parsed, headers['x-amzn-errortype'], settings)
    // Google returns 400 for an invalid key.
    const errorKind = word === 'API_KEY_INVALID' ? 'locked' : kindOfStatus(status)
    throw new EndpointError(errorKind, `the endpoint returned status ${status}${word ? ` (${word})` : ''}`, {
      retryAfterMs: readRetryAfter(headers['retry-after'], clock.now()),
      status,
      ...(word !== undefined && { word }),
    })
  }

  /** Returns the request that asks a model. */
  const write = (model: string, { system, shared, sounds, user, schema }: ModelPrompt) => {
    if (sounds && !dialect.takesSound) throw new EndpointError('refused', 'this kind of provider does not accept sound')
    const isDescribed = settings.structuredOutput === 'prompt'
    return dialect.ask(settings, {
      model,
      system: isDescribed ? withSchema(system, schema) : system,
      ...(dialect.marksShared ? { shared, user } : { user: shared === undefined ? user : `${shared}\n${user}` }),
      ...(sounds && { sounds }),
      schema: isDescribed ? undefined : schema,
      contextTokens,
    })
  }

  /** Returns undefined if the response is not from a model. */
  const read = (body: unknown): ModelReply | undefined => readWith(dialect.read, body)

  const ask = async (model: string, prompt: ModelPrompt, signal: AbortSignal): Promise<ModelReply | undefined> =>
    read(await send(await write(model, prompt), signal))

  /**
   * Returns the transcript for a part of a recording, or undefined if the response has none. Throws if this kind of
   * provider can't transcribe.
   */
  const transcribe = async (
    model: string,
    audio: Buffer,
    signal: AbortSignal,
  ): Promise<TranscriptionReply | undefined> => {
    const { transcribe: requestOf, readTranscription } = dialect
    if (!requestOf || !readTranscription)
      throw new EndpointError('refused', 'this kind of provider does not accept recordings')
    const request = requestOf(settings, { model, audio, isTimed: returnsTimes(model) })
    return readWith(readTranscription, await send(request, signal))
  }

  /** Returns the vectors of texts, or undefined if the response does not have one for each text. */
  const embed = async (model: string, texts: string[], signal: AbortSignal): Promise<EmbeddingReply | undefined> => {
    const { embed: requestOf, readEmbeddings } = dialect
    if (!requestOf || !readEmbeddings) throw new EndpointError('refused', 'this kind of provider cannot embed texts')
    const reply = readWith(readEmbeddings, await send(requestOf(settings, { model, texts }), signal))
    return reply?.vectors.length === texts.length ? reply : undefined
  }

  /**
   * Returns the models that the provider offers, or undefined if it cannot list them. Throws if the response is not a
   * list of models.
   */
  const list = async (signal: AbortSignal): Promise<OfferedModel[] | undefined> => {
    const { list: requestsOf, readList } = dialect
    if (!requestsOf || !readList) return undefined
    const requests = await requestsOf(settings)
    const lists = await Promise.all(
      requests.map(async (request) => {
        const models = readWith(readList, await send(request, signal))
        if (!models) throw new EndpointError('refused', 'the endpoint returned no list of models')
        return models
      }),
    )
    return lists.flat()
  }

  return { ask, transcribe, embed, list, write, read, send }
}

export type Endpoint = ReturnType<typeof openEndpoint>
