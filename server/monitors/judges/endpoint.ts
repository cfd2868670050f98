// Sends one request to a model. Returns its response, or throws the reason why there is none.
import type { Clock } from '../../platform/clock.ts'
import { OutboundError } from '../../platform/outbound/errors.ts'
import { openOperatorClient } from '../../platform/outbound/operator.ts'
import { readRetryAfter } from '../../platform/outbound/retry-after.ts'
import { anthropic } from './anthropic.ts'
import { EndpointError, kindOfStatus } from './endpoint-error.ts'
import { openaiCompatible } from './openai-compatible.ts'
import type { JudgePrompt } from './prompt.ts'
import type { Dialect, ModelReply } from './provider.ts'

export type EndpointOptions = {
  provider: 'openai-compatible' | 'anthropic'
  baseUrl: string | undefined
  apiKey: string | undefined
  timeoutMs: number
}

const dialects: Record<EndpointOptions['provider'], Dialect> = { 'openai-compatible': openaiCompatible, anthropic }

const knownAddresses: Partial<Record<EndpointOptions['provider'], string>> = { anthropic: 'https://api.anthropic.com' }

/** A response usually has a few kilobytes, and a longer one than this is invalid. */
const mostAnswerBytes = 4 * 1024 * 1024

/** Node's timers can't be longer. */
const longestTimeoutMs = 2 ** 31 - 1

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Returns the endpoint's error code, such as `model_not_found`, if it is a single word. Nothing else of a response is
 * shown, because error messages quote what was sent, including keys.
 */
const faultWord = (body: unknown, apiKey: string | undefined): string => {
  const { code, type } = Object((body as { error?: unknown } | undefined)?.error) as { code?: unknown; type?: unknown }
  const word = [code, type].find(
    (one) => typeof one === 'string' && /^[a-z]+(_[a-z]+){0,6}$/.test(one) && one.length <= 64,
  )
  return typeof word === 'string' && !apiKey?.includes(word) ? ` (${word})` : ''
}

export const openEndpoint = (
  { provider, baseUrl = knownAddresses[provider], apiKey, timeoutMs }: EndpointOptions,
  clock: Clock,
) => {
  const dialect = dialects[provider]
  const client = openOperatorClient({ maxBytes: mostAnswerBytes })

  const post = async (base: string, body: object, signal: AbortSignal) => {
    try {
      return await client.request(dialect.url(base), {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': 'Earshot', ...dialect.headers(apiKey) },
        body: JSON.stringify(body),
        timeoutMs: Math.min(timeoutMs, longestTimeoutMs),
        signal,
      })
    } catch (error) {
      if (error instanceof OutboundError) throw new EndpointError('down', error.message)
      throw error
    }
  }

  /** Returns undefined if the response is not from a model. */
  const ask = async (model: string, prompt: JudgePrompt, signal: AbortSignal): Promise<ModelReply | undefined> => {
    if (baseUrl === undefined) throw new EndpointError('refused', 'no URL is configured')
    const { status, headers, body } = await post(baseUrl, dialect.body(model, prompt), signal)
    if (status === 200) return dialect.read(parse(body))
    const message = `the endpoint returned status ${status}${faultWord(parse(body), apiKey)}`
    throw new EndpointError(kindOfStatus(status), message, readRetryAfter(headers['retry-after'], clock.now()))
  }

  return { ask, close: client.close }
}
