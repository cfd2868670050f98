import type { Turn, TurnRole } from './turn.ts'

/** One entry, as returned by a format's reader. Omitted values are not set in the turn. */
export type TurnDraft = {
  role: TurnRole
  kind: Turn['kind']
  text?: string | null
  /** The time from the start of the conversation. The caller rounds and validates it. */
  startMs?: number | null
  endMs?: number | null
  interrupted?: boolean
  words?: { text: string; startMs?: number | null; endMs?: number | null }[]
  /** The caller parses JSON text in `arguments` and `result`. */
  tool?: {
    callId?: string | null
    name?: string | null
    arguments?: unknown
    result?: unknown
    isError?: boolean | null
  }
  latency?: { [Figure in keyof NonNullable<Turn['latency']>]?: number | null }
}

export type Hints = {
  /** The name of the format to try first. */
  provider?: string
  /** The start of the conversation, for sources with absolute times. */
  startedAt?: Date
}

/** Reads one format. Returns undefined if the content has another structure. */
export type Reader = (content: unknown, hints: Hints) => Iterable<TurnDraft> | undefined

/** The content has the structure of a format, but one of its values is invalid. */
export class Unreadable extends Error {}
