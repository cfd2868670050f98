import { hash } from 'node:crypto'
import { readTranscript } from '../../transcripts/read-transcript.ts'
import { type MeasuredSignals, measure } from '../../transcripts/signals/compute.ts'
import type { Turn } from '../../transcripts/turn.ts'

/** An incoming transcript in both original and parsed form. */
export type ReadTranscript = {
  content: string
  hash: string
  /** The number of characters in the content. */
  length: number
  format: string | null
  unreadable: string | null
  turnCount: number
  /** The searchable text. */
  text: string
  /** Null if there are no turns. */
  measured: MeasuredSignals | null
}

/** `read` only runs for new content, so sending the same content again costs nothing. */
export type GivenTranscript = Pick<ReadTranscript, 'content' | 'hash' | 'length'> & { read: () => ReadTranscript }

export type IngestHints = { provider?: string; startedAt: Date }

export const giveTranscript = (value: unknown, hints: IngestHints): GivenTranscript => {
  const content = JSON.stringify(value)
  const given = { content, hash: hash('sha256', content, 'base64'), length: content.length }
  return {
    ...given,
    read: () => {
      const reading = readTranscript(value, hints)
      if ('unreadable' in reading) {
        return { ...given, format: null, unreadable: reading.unreadable, turnCount: 0, text: '', measured: null }
      }
      const { format, turns } = reading
      const read = { turnCount: turns.length, text: searchableText(turns), measured: measure(turns) }
      return { ...given, format, unreadable: null, ...read }
    },
  }
}

/**
 * PostgreSQL stores at most 1 MiB of words per text. Text of this length always stays below that limit: in the worst
 * known case, a text that consists only of short addresses, its words take up four times as much space as the text
 * itself.
 */
const searchableBytes = 200_000

/** Returns the searchable part of the spoken text. */
const searchableText = (turns: Turn[]): string => {
  const texts: string[] = []
  let room = searchableBytes
  for (const { text } of turns) {
    if (text === null) continue
    // A string never has more characters than bytes, so only strings near the limit are measured.
    if (text.length * 3 > room) {
      texts.push(Buffer.from(text.slice(0, room), 'utf8').subarray(0, room).toString('utf8'))
      room -= Math.min(room, Buffer.byteLength(text, 'utf8'))
      if (room === 0) break
    } else {
      texts.push(text)
      room -= Buffer.byteLength(text, 'utf8')
    }
  }
  return texts.join('\n')
}
