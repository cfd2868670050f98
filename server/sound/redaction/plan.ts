import type { SpokenTimes } from '../../conversations/ingest/tasks.ts'
import type { RedactedSpan } from '../../conversations/recordings/queries.ts'
import { type TimeSpan, union } from '../../transcripts/signals/speech.ts'
import type { MeasuredFile } from '../measure-file.ts'
import { mostMarks } from '../measures/marks.ts'
import { findMisfit } from './times-fit.ts'

/** Plans which spans of a recording are redacted: redacted words and telephone keys. */

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

/** `before` lists spans that were redacted earlier. They stay redacted even if the transcript has changed. */
export const planRedaction = (
  { redacted, utterances }: SpokenTimes,
  measured: MeasuredFile,
  before: RedactedSpan[],
): Plan => {
  if ('untimed' in redacted) {
    return { refused: `Turn ${redacted.untimed} (counted from 0) has redacted words, but no times.` }
  }
  const keys = keySpans(measured)
  if (!keys) return { refused: 'The recording has too many telephone keys.' }
  const speech = measured.channels.map(({ segments }) => segments)
  const misfit = redacted.spans.length > 0 && utterances ? findMisfit(speech, utterances) : undefined
  if (misfit !== undefined) return { refused: misfit }
  return { spans: joined([...redacted.spans, ...keys, ...timesOf(before)], measured.durationMs) }
}

/** Returns whether earlier spans cover all of these spans. Both lists are sorted unions. */
export const areWithin = (spans: RedactedSpan[], before: RedactedSpan[]): boolean =>
  spans.every(([startMs, endMs]) => before.some((span) => span[0] <= startMs && endMs <= span[1]))
