import type { Turn, TurnRole } from './turn.ts'

/** One entry as read from a format. Omitted values are unset in the turn. */
export type TurnDraft = {
  role: TurnRole
  kind: Turn['kind']
  text?: string | null
  /** From the start of the conversation; the caller rounds and validates it. */
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

/** Reads one format; undefined if the content has another structure. */
export type Reader = (content: unknown, hints: Hints) => Iterable<TurnDraft> | undefined

/** The content has the structure of a format, but something in it is invalid. */
export class Unreadable extends Error {}
