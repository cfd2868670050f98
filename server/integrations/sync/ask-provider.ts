import { OutboundError } from '../../platform/outbound/errors.ts'
import type { Outbound } from '../../platform/outbound/outbound.ts'
import { readRetryAfter } from '../../platform/outbound/retry-after.ts'
import type { CallApi, ProviderRequest } from './providers.ts'

/** Sends one request to a provider, and determines what the response means for the sync. */

export type Account = { source: CallApi; apiKey: string; baseUrl: string }

export type ProviderAnswer =
  | { body: Buffer }
  /** Only this item is unavailable. */
  | { missing: string }
  /** The request can be retried later. The provider may specify when. */
  | { busySeconds: number }
  /** Requests will be rejected until someone changes the settings. */
  | { refused: string; status?: 401 | 403 }
  /** The failure may be temporary. */
  | { trouble: string }

const timeoutMs = 30_000
const defaultBusySeconds = 60

const whyNot = (error: unknown): ProviderAnswer => {
  if (!(error instanceof OutboundError)) throw error
  if (error.reason === 'forbidden_address') return { refused: error.message }
  return error.reason === 'too_large' ? { missing: error.message } : { trouble: error.message }
}

export const askProvider = async (
  outbound: Outbound,
  { source, apiKey, baseUrl }: Account,
  { method, path, body }: ProviderRequest,
  { maxBytes, now }: { maxBytes: number; now: Date },
): Promise<ProviderAnswer> => {
  const headers = {
    accept: 'application/json',
    ...source.headers(apiKey),
    ...(body && { 'content-type': 'application/json' }),
  }
  try {
    // Redirects are not followed, so that the key is only sent to the configured URL.
    const answer = await outbound.request(baseUrl.replace(/\/+$/, '') + path, {
      method,
      headers,
      maxBytes,
      timeoutMs,
      plainHttp: 'allowed networks',
      ...(body && { body: JSON.stringify(body) }),
    })
    const { status } = answer
    if (status === 200) return { body: answer.body }
    if (status === 401 || status === 403) {
      return { refused: `The provider rejected the API key (status ${status}). Update it to resume the sync.`, status }
    }
    if (status === 429 || (status === 503 && answer.headers['retry-after'] !== undefined)) {
      const askedMs = readRetryAfter(answer.headers['retry-after'], now)
      return { busySeconds: Math.ceil(askedMs / 1_000) || defaultBusySeconds }
    }
    const message = `The provider returned status ${status}.`
    return status >= 400 && status < 500 && status !== 408 ? { missing: message } : { trouble: message }
  } catch (error) {
    return whyNot(error)
  }
}

export const parseAnswer = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}
