// Creates the scales and axis labels that charts share.

import { type ScaleLinear, scaleLinear } from 'd3-scale'
import { formatDayTime, formatMonthDay, formatWeekday } from '../../lib/format.ts'

export type Scale = ScaleLinear<number, number>

export type Span = { start: string; end: string }

const ms = (iso: string): number => new Date(iso).getTime()

/** Returns a scale from the start of the first span to the end of the last one, in milliseconds. */
export const timeScale = (spans: Span[], width: number): Scale =>
  scaleLinear([ms(spans[0]?.start ?? ''), ms(spans.at(-1)?.end ?? '')], [0, width])

export const startOf = (scale: Scale, span: Span): number => scale(ms(span.start))
export const widthOf = (scale: Scale, span: Span): number => scale(ms(span.end)) - scale(ms(span.start))
export const middleOf = (scale: Scale, span: Span): number => startOf(scale, span) + widthOf(scale, span) / 2
export const placeOf = (scale: Scale, at: string): number => scale(ms(at))

export const isWithin = (spans: Span[], at: string): boolean =>
  ms(at) >= ms(spans[0]?.start ?? '') && ms(at) <= ms(spans.at(-1)?.end ?? '')

export const valueScale = ([low, high]: [number, number], height: number): Scale =>
  scaleLinear(low === high ? [low, low + 1] : [low, high], [height, 0]).nice(4)

const lasts = (span: Span): number => ms(span.end) - ms(span.start)
const isShort = (spans: Span[]): boolean => Math.max(...spans.map(lasts)) < 20 * 3_600_000

export const shortTime = (span: Span, spans: Span[]): string =>
  (isShort(spans) ? formatDayTime : formatMonthDay)(new Date(span.start))

/** Returns a span's label, for tooltips and tables. */
export const longTime = (span: Span): string => {
  if (lasts(span) < 20 * 3_600_000) return formatDayTime(new Date(span.start))
  const last = new Date(ms(span.end) - 1)
  return lasts(span) > 26 * 3_600_000
    ? `${formatMonthDay(new Date(span.start))} – ${formatMonthDay(last)}`
    : formatWeekday(new Date(span.start))
}

/** Formats percentages with just enough digits to distinguish the ticks. */
export const percentTick = (share: number): string => `${Number((share * 100).toPrecision(3))}%`

/** Returns the 90th percentile of the values. */
export const percentile90 = (values: number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) * 0.9)] ?? 0
}
