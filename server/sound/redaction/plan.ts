import type { SpokenTimes } from '../../conversations/ingest/tasks.ts'
import type { RedactedSpan } from '../../conversations/recordings/queries.ts'
import { commonMs, type TimeSpan, totalMs, union } from '../../transcripts/signals/speech.ts'
import type { MeasuredFile } from '../measure-file.ts'
import { mostMarks } from '../measures/marks.ts'
import type { Segment } from '../voice/segments.ts'
import { findMisfit } from './times-fit.ts'

/**
 * Plans which spans of a recording are redacted: those of redacted words, turns without text, and telephone keys. A
 * recording without transcribed speech is refused.
 */

type Plan = { spans: RedactedSpan[] } | { refused: string }

const keyMarginMs = 100

/**
 * Returns the spans with telephone keys, because their digits can be those of a card number. Returns undefined if not
 * all keys are known.
 */
const keySpans = ({ channels }: MeasuredFile): TimeSpan[] | undefined => {
  const keys = channels.map(({ marks }) => marks.filter(({ kind }) => kind === 'dtmf'))
  if (keys.some(({ length }) => length >= mostMarks)) return undefined
  return keys
    .flat()
    .map(({ startMs, endMs }) => ({ startMs: Math.max(0, startMs - keyMarginMs), endMs: endMs + keyMarginMs }))
}

const timesOf = (spans: RedactedSpan[]): TimeSpan[] => spans.map(([startMs, endMs]) => ({ startMs, endMs }))

/** Returns the union of spans in whole milliseconds, within the recording. */
const joined = (spans: TimeSpan[], durationMs: number): RedactedSpan[] =>
  union(spans.toSorted((a, b) => a.startMs - b.startMs))
    // The last sample can end a fraction of a millisecond later.
    .map(({ startMs, endMs }): RedactedSpan => [Math.floor(startMs), Math.min(Math.ceil(endMs), durationMs + 1)])
    .filter(([startMs, endMs]) => startMs < endMs)

/** Speech this close to a turn belongs to it. */
const turnMarginMs = 1_000
/**
 * If more speech than this share and this duration is outside of all turns, part of the recording isn't transcribed.
 */
const [mostShare, mostMs] = [0.2, 5_000]

/** Returns whether a clear share of the speech, in a channel or in all together, is outside of these spans. */
const hasSpeechOutside = (channels: Segment[][], spans: TimeSpan[]): boolean => {
  const known = union(
    spans
      .map(({ startMs, endMs }) => ({ startMs: startMs - turnMarginMs, endMs: endMs + turnMarginMs }))
      .sort((a, b) => a.startMs - b.startMs),
  )
  const counts = channels.map((segments) => {
    const spokenMs = totalMs(segments)
    return { spokenMs, outsideMs: spokenMs - commonMs(segments, known) }
  })
  const isMuch = ({ spokenMs, outsideMs }: (typeof counts)[number]) =>
    outsideMs > mostMs && outsideMs > mostShare * spokenMs
  const all = counts.reduce(
    (sum, each) => ({ spokenMs: sum.spokenMs + each.spokenMs, outsideMs: sum.outsideMs + each.outsideMs }),
    { spokenMs: 0, outsideMs: 0 },
  )
  return counts.some(isMuch) || isMuch(all)
}

type Known = Pick<SpokenTimes, 'utterances' | 'possible'> & { redacted: TimeSpan[] }

/**
 * Returns the reason why the transcript doesn't show when its words are spoken in the recording, or undefined if it
 * does.
 */
const findFault = (
  channels: Segment[][],
  { utterances, possible, redacted }: Known,
  before: TimeSpan[],
): string | undefined => {
  const isSilent = channels.every((segments) => segments.length === 0)
  if (isSilent && redacted.length === 0) return undefined
  if (utterances.length === 0 && redacted.length > 0) return 'The transcript has too few times.'
  const misfit = findMisfit(channels, utterances)
  if (misfit !== undefined) return misfit
  if (!hasSpeechOutside(channels, [...possible, ...redacted, ...before])) return undefined
  return 'The transcript doesn’t contain all speech in the recording.'
}

/** `before` lists spans that were redacted earlier. They stay redacted even if the transcript has changed. */
export const planRedaction = (
  { redacted, utterances, possible }: SpokenTimes,
  measured: MeasuredFile,
  before: RedactedSpan[],
): Plan => {
  if ('untimed' in redacted) {
    const what = redacted.isUnwritten ? 'neither text nor times' : 'redacted words, but no times'
    return { refused: `Turn ${redacted.untimed} (counted from 0) has ${what}.` }
  }
  const keys = keySpans(measured)
  if (!keys) return { refused: 'The recording has too many telephone keys.' }
  const speech = measured.channels.map(({ segments }) => segments)
  const fault = findFault(speech, { utterances, possible, redacted: redacted.spans }, timesOf(before))
  if (fault !== undefined) return { refused: fault }
  return { spans: joined([...redacted.spans, ...keys, ...timesOf(before)], measured.durationMs) }
}

/** Returns whether earlier spans cover all of these spans. Both lists are sorted unions. */
export const areWithin = (spans: RedactedSpan[], before: RedactedSpan[]): boolean =>
  spans.every(([startMs, endMs]) => before.some((span) => span[0] <= startMs && endMs <= span[1]))
