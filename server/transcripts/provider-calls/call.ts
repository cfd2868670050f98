import { isObject } from '../../platform/is-object.ts'
import { booleanOf, isDeeperThan, type JsonObject, numberOf, textOf } from '../json.ts'

/** A provider's finished conversation in Earshot's format. Null means unknown. */

export type Metric = { key: string; value: number | boolean | string; comment?: string }

export type ProviderCall = {
  externalId: string
  agentExternalId: string | null
  agentName: string | null
  versionLabel: string | null
  systemPrompt: string | null
  channel: 'call' | 'chat' | 'voicemail'
  direction: 'inbound' | 'outbound' | null
  status: 'completed' | 'failed'
  startedAt: Date
  endedAt: Date | null
  durationSeconds: number | null
  endReason: string | null
  customerId: string | null
  metadata: JsonObject
  /** The part of the payload to store as the transcript. Null if there is none (yet). */
  transcript: unknown
  recordingUrl: string | null
  metrics: Metric[]
}

/** `ignored` means that the payload is valid, but does not contain a finished conversation. */
export type CallReading = ProviderCall | { ignored: string } | { unreadable: string }

const deepest = 200

/** Limits the depth of payloads, so that their content can be traversed and serialized again. */
export const bounded =
  (read: (payload: JsonObject) => CallReading) =>
  (payload: unknown): CallReading => {
    if (!isObject(payload)) return { unreadable: 'the payload is not an object' }
    if (isDeeperThan(payload, deepest)) return { unreadable: `the payload is nested more than ${deepest} levels deep` }
    return read(payload)
  }

export const isCall = (reading: CallReading): reading is ProviderCall => 'externalId' in reading

export const directionOf = (value: unknown): ProviderCall['direction'] =>
  value === 'inbound' || value === 'outbound' ? value : null

/** Returns an integer number of seconds. */
export const durationOf = (seconds: number | null): number | null =>
  seconds !== null && seconds >= 0 && seconds < 1e9 ? Math.round(seconds) : null

/** Returns a URL that can be downloaded, as opposed to a path on the provider's disk. */
const addressOf = (value: unknown): string | null => {
  const text = textOf(value)
  return text !== null && /^https?:\/\//i.test(text) ? text : null
}

export const firstAddress = (...values: unknown[]): string | null =>
  values.map(addressOf).find((address) => address !== null) ?? null

/** Returns the first list or text that is not empty. */
export const transcriptOf = (...values: unknown[]): unknown =>
  values.find((value) => (Array.isArray(value) ? value.length > 0 : textOf(value) !== null)) ?? null

/** The maximum length of a metric's key. A longer key may be cut within a character. */
const longestKey = 120

/**
 * Collects the provider's measurements. Numbers, booleans, and strings stay unchanged, and all other values become
 * JSON. If a key occurs twice, its last value counts.
 */
export const metricsOf = (provider: string) => {
  const metrics = new Map<string, Metric>()
  const add = (name: string, value: unknown, comment?: unknown): void => {
    const plain = booleanOf(value) ?? (typeof value === 'number' ? numberOf(value) : textOf(value))
    const written = plain ?? (typeof value === 'object' && value !== null ? JSON.stringify(value) : null)
    if (written === null) return
    const key = `${provider}.${name}`.slice(0, longestKey).toWellFormed()
    const text = textOf(comment)
    metrics.set(key, { key, value: written, ...(text !== null && { comment: text }) })
  }
  return { add, all: () => [...metrics.values()] }
}
