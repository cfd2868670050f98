import { readTranscript } from '../../transcripts/read-transcript.ts'
import { Unknown } from './language/unknown.ts'
import { jsonOf, shapes } from './language/values.ts'
import type { RuleSubject } from './rules.ts'
import { type TurnList, turnValuesOf } from './turns.ts'

/** Presents a conversation to rules. Each value is created when the first rule reads it, and all rules share it. */

const mostTurns = 10_000
/** The maximum number of characters of JSON text. Its parsed form can need about thirty times as many bytes. */
const mostCharacters = 5_000_000

/** The parsed content of `facts`. */
type Facts = {
  conversation: Record<string, unknown> & { startedAt?: string | null }
  signals: Record<string, unknown>
  /** The measures of the recording. */
  sound?: Record<string, unknown>
  metadata: Record<string, unknown>
  metrics: Record<string, unknown>
  /** Only for a rule over fields, which has no other data. */
  fields: Record<string, unknown>
}

export type Context = {
  readonly conversation: object
  readonly signals: object
  readonly sound: object
  readonly turns: TurnList
  readonly metadata: unknown
  readonly metrics: unknown
  readonly fields: unknown
}

const once = <T>(make: () => T): (() => T) => {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

const readTurns = ({ transcript }: RuleSubject, startedAt: unknown): TurnList | Unknown => {
  if (!transcript) return new Unknown('there is no transcript')
  const { content, format } = transcript
  if (content.length > mostCharacters) {
    return new Unknown(`the transcript has more than ${mostCharacters.toLocaleString('en')} characters`)
  }
  const reading = readTranscript(JSON.parse(content), {
    ...(format !== null && { provider: format }),
    ...(typeof startedAt === 'string' && { startedAt: new Date(startedAt) }),
  })
  if ('unreadable' in reading) return new Unknown(reading.unreadable)
  if (reading.turns.length > mostTurns) {
    return new Unknown(`the transcript has more than ${mostTurns.toLocaleString('en')} turns`)
  }
  return turnValuesOf(reading.turns)
}

/**
 * Opens a subject. `reading` is called when reading the transcript starts and ends, because that can take longer than a
 * rule may.
 */
export const openSubject = (subject: RuleSubject, reading: (isReading: boolean) => void): Context => {
  // The query that lists subjects created this JSON.
  const facts = once(() => JSON.parse(subject.facts) as Facts)
  const conversation = once(() => new shapes.Conversation(facts().conversation))
  const signals = once(() => new shapes.Signals(facts().signals))
  const sound = once(() => new shapes.Sound(facts().sound ?? {}))
  const metadata = once(() => jsonOf(facts().metadata))
  const metrics = once(() => jsonOf(facts().metrics))
  const fields = once(() => jsonOf(facts().fields))
  const turns = once(() => {
    reading(true)
    try {
      return readTurns(subject, facts().conversation.startedAt)
    } finally {
      reading(false)
    }
  })
  return {
    get conversation() {
      return conversation()
    },
    get signals() {
      return signals()
    },
    get sound() {
      return sound()
    },
    get turns() {
      const read = turns()
      if (read instanceof Unknown) throw read
      return read
    },
    get metadata() {
      return metadata()
    },
    get metrics() {
      return metrics()
    },
    get fields() {
      return fields()
    },
  }
}
