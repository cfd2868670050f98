import { type Hints, type Reader, type TurnDraft, Unreadable } from './draft.ts'
import { readCoval } from './formats/coval.ts'
import { readElevenlabs } from './formats/elevenlabs.ts'
import { readLivekit } from './formats/livekit.ts'
import { readOpenai } from './formats/openai.ts'
import { readOtel } from './formats/otel.ts'
import { readOwn } from './formats/own.ts'
import { readPipecat } from './formats/pipecat.ts'
import { readPlainText } from './formats/plain-text.ts'
import { readRetell } from './formats/retell.ts'
import { readRoark } from './formats/roark.ts'
import { readTwilio } from './formats/twilio.ts'
import { readVapi } from './formats/vapi.ts'
import { gatherTurns } from './gather-turns.ts'
import { isDeeperThan, nestedJson } from './json.ts'
import type { Turn } from './turn.ts'

/** The readers in the order in which they are tried. Distinctive formats come before common ones. */
const readers: Record<string, Reader> = {
  twilio: readTwilio,
  otel: readOtel,
  livekit: readLivekit,
  retell: readRetell,
  elevenlabs: readElevenlabs,
  roark: readRoark,
  pipecat: readPipecat,
  vapi: readVapi,
  coval: readCoval,
  openai: readOpenai,
  turns: readOwn,
  text: readPlainText,
}

export type TranscriptReading = { turns: Turn[]; format: string } | { unreadable: string }

const deepest = 200

const readerFor = (content: unknown, hints: Hints): { format: string; drafts: Iterable<TurnDraft> } | undefined => {
  const hinted = hints.provider !== undefined && Object.hasOwn(readers, hints.provider) ? [hints.provider] : []
  for (const format of [...hinted, ...Object.keys(readers)]) {
    const drafts = readers[format]?.(content, hints)
    if (drafts) return { format, drafts }
  }
  return undefined
}

/**
 * Converts a transcript in any supported format to turns. Returns either all turns, or the reason why the transcript
 * can't be read.
 */
export const readTranscript = (given: unknown, hints: Hints = {}): TranscriptReading => {
  const content = (typeof given === 'string' && nestedJson(given)) || given
  if (isDeeperThan(content, deepest)) return { unreadable: `the transcript is nested more than ${deepest} levels deep` }
  try {
    const reading = readerFor(content, hints)
    if (!reading) return { unreadable: 'the transcript has no supported format' }
    const turns = gatherTurns(reading.drafts)
    return turns.length > 0 ? { turns, format: reading.format } : { unreadable: 'the transcript contains no turns' }
  } catch (error) {
    if (error instanceof Unreadable) return { unreadable: error.message }
    throw error
  }
}
