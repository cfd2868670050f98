import type { Turn } from '../turn.ts'
import { sideOf, type TimeSpan } from './speech.ts'

/** A shorter overlap is normal turn-taking. */
const minOverlapMs = 200

type Utterance = TimeSpan & { interrupted: boolean }

/**
 * Counts interrupted utterances: those marked by the source, and those during which another utterance starts at least
 * 200 ms before their end and lasts longer. A word during the other side's speech ("uh-huh") is not an interruption.
 */
const countCut = (utterances: Utterance[], others: TimeSpan[]): number => {
  const byEnd = utterances.toSorted((a, b) => a.endMs - b.endMs)
  const byStart = others.toSorted((a, b) => a.startMs - b.startMs)
  /** The other utterances that started early enough and may still last longer. The latest one is on top. */
  const speaking: TimeSpan[] = []
  let next = 0
  let count = 0
  for (const { startMs, endMs, interrupted } of byEnd) {
    for (let other = byStart[next]; other && other.startMs <= endMs - minOverlapMs; other = byStart[next]) {
      speaking.push(other)
      next += 1
    }
    // The following utterances end later, so they can't be interrupted by an utterance that has ended.
    while ((speaking.at(-1)?.endMs ?? Infinity) <= endMs) speaking.pop()
    if (interrupted || (speaking.at(-1)?.startMs ?? -Infinity) > startMs) count += 1
  }
  return count
}

const timed = (turns: Turn[]): Utterance[] | null => {
  const utterances: Utterance[] = []
  for (const { startMs, endMs, interrupted } of turns) {
    if (startMs === null || endMs === null) return null
    utterances.push({ startMs, endMs, interrupted })
  }
  return utterances
}

/**
 * Counts how often a side was interrupted. Turns without times count if they are marked as interrupted. The count is
 * unknown if no turn has a mark, because the source may not set any.
 */
const cutBy = (cutters: Turn[], side: Turn[]): number | null => {
  const [utterances, others] = [timed(side), timed(cutters)]
  if (utterances && others && utterances.length > 0) return countCut(utterances, others)
  return side.filter(({ interrupted }) => interrupted).length || null
}

/** Counts how often the customer interrupted the agent, and the agent the customer. */
export const interruptionsIn = (turns: Turn[]): { byAgent: number | null; byCustomer: number | null } => {
  const agent = turns.filter((turn) => sideOf(turn) === 'agent')
  const customer = turns.filter((turn) => sideOf(turn) === 'customer')
  return { byAgent: cutBy(agent, customer), byCustomer: cutBy(customer, agent) }
}
