import { sideOf, type TimeSpan, type Utterance } from './signals/speech.ts'
import type { Turn } from './turn.ts'

/** Determines when turns are spoken, even if their source gives few times. */

/** Returns for each turn when the next turn with the same key begins, or infinity. */
const nextStartsBy = (turns: Turn[], keyOf: (turn: Turn) => string): number[] => {
  const next = new Map<string, number>()
  return turns
    .toReversed()
    .map((turn) => {
      const startMs = next.get(keyOf(turn)) ?? Number.POSITIVE_INFINITY
      if (sideOf(turn) !== undefined && turn.startMs !== null) next.set(keyOf(turn), turn.startMs)
      return startMs
    })
    .reverse()
}

/** Returns for each turn when its speaker's next turn begins. The turn has certainly ended by then. */
export const nextStartsOfSpeakers = (turns: Turn[]): number[] => nextStartsBy(turns, ({ role }) => role)

const nextStarts = (turns: Turn[]): number[] => nextStartsBy(turns, () => 'any')

const startOf = ({ startMs, words }: Turn): number | null =>
  startMs ?? words?.find((word) => word.startMs !== null)?.startMs ?? null

/** Returns the end that the source gives. */
const endOf = ({ endMs, words }: Turn): number | null =>
  endMs ?? words?.findLast((word) => word.endMs !== null)?.endMs ?? null

/** A turn without an end is assumed to last as long as slow speech. */
const [baseMs, characterMs] = [2_000, 100]

/**
 * Returns the utterances with a known start, sorted by start. A missing end is estimated from the text and from when
 * the next turn begins.
 */
export const timedUtterances = (turns: Turn[]): Utterance[] => {
  const next = nextStarts(turns)
  return turns
    .flatMap((turn, index): Utterance[] => {
      const [by, startMs] = [sideOf(turn), startOf(turn)]
      if (by === undefined || startMs === null) return []
      const estimateMs = startMs + baseMs + characterMs * (turn.text?.length ?? 0)
      const endMs = endOf(turn) ?? Math.min(estimateMs, next[index] ?? estimateMs)
      return endMs > startMs ? [{ by, startMs, endMs }] : []
    })
    .sort((a, b) => a.startMs - b.startMs)
}

/**
 * Returns the longest times in which turns can be spoken. A turn without an end lasts until its speaker's next turn,
 * and one without times is spoken between the turns before and after it. An end of infinity stands for the end of the
 * recording.
 */
export const possibleSpans = (turns: Turn[]): TimeSpan[] => {
  const [next, nextOfSpeaker] = [nextStarts(turns), nextStartsOfSpeakers(turns)]
  const spans: TimeSpan[] = []
  let lastStartMs = 0
  for (const [index, turn] of turns.entries()) {
    if (sideOf(turn) === undefined) continue
    const startMs = turn.startMs ?? lastStartMs
    const following = turn.startMs === null ? next : nextOfSpeaker
    const latestMs = following[index] ?? Number.POSITIVE_INFINITY
    const endMs = turn.startMs === null ? latestMs : (turn.endMs ?? latestMs)
    spans.push({ startMs, endMs: Math.max(startMs, endMs) })
    lastStartMs = startMs
  }
  return spans.sort((a, b) => a.startMs - b.startMs)
}
