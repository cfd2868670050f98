import type { Segment } from '../sound/voice/segments.ts'

/**
 * Plans the requests for a recording: which spans of speech are sent together. Silence is not sent, because it costs
 * money.
 */

/** A part of a channel that is sent in one request: spans of speech, one after the other. */
export type Part = { channel: number; spans: Segment[] }

/** Speech is sent with this much sound before and after it. */
const marginMs = 250
/** Shorter pauses are sent with the speech. */
const shortestPauseMs = 1_000
/** After a longer pause, a model that returns no times needs another request, because each request becomes one turn. */
const longestPauseOfTurnMs = 2_000
/** The longest part. As a WAV file, it is 19 MB, which is below the 25 MB limit of OpenAI and Azure. */
const longestPartMs = 10 * 60_000

/** Spans are separated by this much silence, so that models don't join the words before and after a pause. */
export const betweenMs = 500

const lengthOf = ({ startMs, endMs }: Segment): number => endMs - startMs

/** Returns the duration of the sound that is sent. */
export const lengthOfPart = ({ spans }: Part): number =>
  spans.reduce((total, span) => total + lengthOf(span), Math.max(0, spans.length - 1) * betweenMs)

/** Joins speech with short pauses, and adds margins. */
const spansOf = (segments: Segment[], durationMs: number): Segment[] => {
  const spans: Segment[] = []
  for (const { startMs, endMs } of segments) {
    const span = {
      startMs: Math.max(0, Math.round(startMs) - marginMs),
      endMs: Math.min(durationMs, Math.round(endMs) + marginMs),
    }
    const last = spans.at(-1)
    if (last && span.startMs - last.endMs < shortestPauseMs) last.endMs = Math.max(last.endMs, span.endMs)
    else if (span.endMs > span.startMs) spans.push(span)
  }
  return spans.flatMap(cutLong)
}

/** Cuts a span that is longer than a part. */
const cutLong = ({ startMs, endMs }: Segment): Segment[] => {
  const pieces: Segment[] = []
  for (let from = startMs; from < endMs; from += longestPartMs) {
    pieces.push({ startMs: from, endMs: Math.min(endMs, from + longestPartMs) })
  }
  return pieces
}

type Options = {
  durationMs: number
  /** Whether the model returns times with its text. Otherwise, each request covers one turn. */
  isTimed: boolean
}

/** Returns the parts of a recording, given the speech on each channel. */
export const planParts = (channels: Segment[][], { durationMs, isTimed }: Options): Part[] => {
  const spoken = channels.map((segments) => spansOf(segments, durationMs))
  /** Returns whether the other channel begins to speak between two spans. */
  const isInterrupted = (channel: number, last: Segment, next: Segment): boolean =>
    spoken.some(
      (others, other) =>
        other !== channel && others.some(({ startMs }) => startMs > last.startMs && startMs < next.startMs),
    )
  const isSameTurn = (channel: number, last: Segment, next: Segment): boolean =>
    next.startMs - last.endMs <= longestPauseOfTurnMs && !isInterrupted(channel, last, next)

  return spoken.flatMap((spans, channel) => {
    const parts: Part[] = []
    for (const span of spans) {
      const part = parts.at(-1)
      const last = part?.spans.at(-1)
      const fits = part && lengthOfPart(part) + betweenMs + lengthOf(span) <= longestPartMs
      if (fits && last && (isTimed || isSameTurn(channel, last, span))) part.spans.push(span)
      else parts.push({ channel, spans: [span] })
    }
    return parts
  })
}
