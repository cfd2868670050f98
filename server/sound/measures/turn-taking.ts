import type { Segment } from '../voice/segments.ts'

/**
 * Finds silences and overlaps in the speech segments of two channels. Silences are either between two segments of the
 * same speaker or between both speakers, as in Heldner and Edlund (2010), "Pauses, gaps and overlaps in conversations".
 */

/** The index of a channel. */
export type Channel = 0 | 1

/** The silence after the speech of one channel and before the response on the other. */
export type Gap = Segment & { channel: Channel }

/**
 * A time at which both channels have speech. `channel` began to speak while the other one was speaking, and `yielded`
 * is silent afterwards.
 */
export type TalkOver = Segment & { channel: Channel; yielded: Channel }

type Span = Segment & { speakers: Channel[] }

const other = (channel: Channel): Channel => (channel === 0 ? 1 : 0)

/** Returns a function that checks whether a channel has speech at a time. The times must increase from call to call. */
const openSpeech = (segments: Segment[]) => {
  let at = 0
  return (ms: number): boolean => {
    while (at < segments.length && (segments[at] as Segment).endMs <= ms) at++
    const segment = segments[at]
    return segment !== undefined && segment.startMs <= ms
  }
}

/** Divides time into spans during which the same channels speak. */
const spansOf = (channels: [Segment[], Segment[]]): Span[] => {
  const edges = new Set(channels.flat().flatMap(({ startMs, endMs }) => [startMs, endMs]))
  const times = [...edges].sort((a, b) => a - b)
  const [speaksFirst, speaksSecond] = [openSpeech(channels[0]), openSpeech(channels[1])]
  return times.slice(0, -1).map((startMs, index) => {
    const speakers: Channel[] = []
    if (speaksFirst(startMs)) speakers.push(0)
    if (speaksSecond(startMs)) speakers.push(1)
    return { startMs, endMs: times[index + 1] as number, speakers }
  })
}

/** Returns the channel that is the only one speaking in a span, if there is one. */
const onlyIn = (span: Span | undefined): Channel | undefined =>
  span?.speakers.length === 1 ? span.speakers[0] : undefined

export type TurnTaking = {
  gaps: Gap[]
  talkOver: TalkOver[]
}

/** Shorter overlaps are within the measurement error. */
const shortestOverlapMs = 100

export const findTurnTaking = (channels: [Segment[], Segment[]]): TurnTaking => {
  const spans = spansOf(channels)
  const gaps: Gap[] = []
  const talkOver: TalkOver[] = []
  spans.forEach((span, index) => {
    const [before, after] = [onlyIn(spans[index - 1]), onlyIn(spans[index + 1])]
    if (before === undefined || after === undefined) return
    const { startMs, endMs, speakers } = span
    if (speakers.length === 0 && before !== after) gaps.push({ startMs, endMs, channel: after })
    if (speakers.length === 2 && endMs - startMs >= shortestOverlapMs) {
      talkOver.push({ startMs, endMs, channel: other(before), yielded: other(after) })
    }
  })
  return { gaps, talkOver }
}
