import type { Turn } from '../turn.ts'

/** Determines who spoke when. Times are in milliseconds from the start of the conversation. */

export type TimeSpan = { startMs: number; endMs: number }

/** An utterance is a message with both a start and an end time. `others` are neither agent nor customer. */
export type Utterance = TimeSpan & { by: 'agent' | 'customer' | 'others' }

export const sideOf = ({ kind, role }: Turn): Utterance['by'] | undefined => {
  if (kind !== 'message' || role === 'system' || role === 'tool') return undefined
  return role === 'agent' || role === 'customer' ? role : 'others'
}

/**
 * Returns all utterances, sorted by start, end, and speaker, so that the order of equal ones does not matter. Returns
 * null if there are no utterances, or if any of them lacks a time, because results based on the others would be
 * guesses.
 */
export const utterancesOf = (turns: Turn[]): Utterance[] | null => {
  const utterances: Utterance[] = []
  for (const turn of turns) {
    const by = sideOf(turn)
    if (by === undefined) continue
    if (turn.startMs === null || turn.endMs === null) return null
    utterances.push({ by, startMs: turn.startMs, endMs: turn.endMs })
  }
  if (utterances.length === 0) return null
  return utterances.sort((a, b) => a.startMs - b.startMs || a.endMs - b.endMs || (a.by < b.by ? -1 : 1))
}

/** Merges spans that touch or overlap. Input and output are sorted by start. */
export const union = (spans: TimeSpan[]): TimeSpan[] => {
  const joined: TimeSpan[] = []
  for (const { startMs, endMs } of spans) {
    const last = joined.at(-1)
    if (last && startMs <= last.endMs) last.endMs = Math.max(last.endMs, endMs)
    else joined.push({ startMs, endMs })
  }
  return joined
}

export const totalMs = (joined: TimeSpan[]): number =>
  joined.reduce((total, { startMs, endMs }) => total + endMs - startMs, 0)

/** Returns the duration for which two unions overlap. */
export const commonMs = (some: TimeSpan[], others: TimeSpan[]): number => {
  let [total, here, there] = [0, 0, 0]
  for (let [a, b] = [some[0], others[0]]; a && b; [a, b] = [some[here], others[there]]) {
    total += Math.max(0, Math.min(a.endMs, b.endMs) - Math.max(a.startMs, b.startMs))
    if (a.endMs < b.endMs) here += 1
    else there += 1
  }
  return total
}

/**
 * Returns the times in which nobody speaks, from the start to the end. `spoken` is the union of everyone's utterances.
 */
export const silencesMs = (spoken: TimeSpan[], endMs: number): number[] => {
  const starts = [...spoken.map(({ startMs }) => startMs), endMs]
  return starts.map((startMs, index) => Math.max(0, startMs - (spoken[index - 1]?.endMs ?? 0)))
}
