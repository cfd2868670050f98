import type { TranscriptionReply } from '../model-providers/requests/dialect.ts'
import { betweenMs, lengthOfPart, type Part } from './plan.ts'

/** Converts the replies of a model to turns in Earshot's own format. */

/** Text after a shorter pause belongs to the same turn, if the other channel is silent during the pause. */
const longestPauseMs = 1_500

export type MadeTurn = {
  role: 'agent' | 'customer' | 'other'
  text: string
  startMs: number
  endMs: number
  channel: number
}

/** Converts a time in a part of the recording to a time in the recording. */
const toRecording = ({ spans }: Part, ms: number): number => {
  let before = 0
  for (const { startMs, endMs } of spans) {
    // Silence before a span counts as the start of the span.
    if (ms < before + endMs - startMs) return startMs + Math.max(0, ms - before)
    before += endMs - startMs + betweenMs
  }
  return spans.at(-1)?.endMs ?? ms
}

type Spoken = Omit<MadeTurn, 'role'>

const spokenIn = (part: Part, { text, segments }: TranscriptionReply): Spoken[] => {
  const { channel } = part
  const found = segments ?? [{ text, startMs: 0, endMs: lengthOfPart(part) }]
  return found.flatMap((segment) => {
    if (segment.text === '') return []
    const startMs = toRecording(part, segment.startMs)
    // An end time at the end of a span belongs to that span, not to the start of the next one.
    const endMs = Math.max(startMs, toRecording(part, Math.max(0, segment.endMs - 1)) + 1)
    return [{ channel, text: segment.text, startMs, endMs }]
  })
}

export type RoleOf = (channel: number) => MadeTurn['role']

export const assembleTurns = (answered: [Part, TranscriptionReply][], roleOf: RoleOf): MadeTurn[] => {
  const spoken = answered.flatMap(([part, reply]) => spokenIn(part, reply))
  spoken.sort((a, b) => a.startMs - b.startMs || a.channel - b.channel)
  const turns: MadeTurn[] = []
  for (const { channel, text, startMs, endMs } of spoken) {
    const last = turns.at(-1)
    if (last?.channel === channel && startMs - last.endMs <= longestPauseMs) {
      last.text = `${last.text} ${text}`
      last.endMs = Math.max(last.endMs, endMs)
    } else {
      turns.push({ role: roleOf(channel), text, startMs, endMs, channel })
    }
  }
  return turns
}
