import type { Turn } from '../turn.ts'
import { sideOf, type TimeSpan } from './speech.ts'

/** Less is how people who understand each other take turns. */
const minOverlapMs = 200

type Utterance = TimeSpan & { interrupted: boolean }

/**
 * How many of these utterances the others cut short: those that the source marks as interrupted, and those into which
 * another breaks at least 200 ms before their end, and then goes on for longer. A word during another's speech
 * (“uh-huh”) does not interrupt it.
 */
const countCut = (utterances: Utterance[], others: TimeSpan[]): number => {
  const byEnd = utterances.toSorted((a, b) => a.endMs - b.endMs)
  const byStart = others.toSorted((a, b) => a.startMs - b.startMs)
  /** Of the others that began in time, those that may still outlast; the latest to begin is on top. */
  const speaking: TimeSpan[] = []
  let next = 0
  let count = 0
  for (const { startMs, endMs, interrupted } of byEnd) {
    for (let other = byStart[next]; other && other.startMs <= endMs - minOverlapMs; other = byStart[next]) {
      speaking.push(other)
      next += 1
    }
    // Ends only grow from here on, so whoever has fallen silent by now interrupts nobody later.
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

/** Without times only the marks count, and without any mark it is not known whether the source makes them. */
const cutBy = (cutters: Turn[], side: Turn[]): number | null => {
  const [utterances, others] = [timed(side), timed(cutters)]
  if (utterances && others && utterances.length > 0) return countCut(utterances, others)
  return side.filter(({ interrupted }) => interrupted).length || null
}

/** What the customer cut short of the agent, and the agent of the customer. */
export const interruptionsIn = (turns: Turn[]): { byAgent: number | null; byCustomer: number | null } => {
  const agent = turns.filter((turn) => sideOf(turn) === 'agent')
  const customer = turns.filter((turn) => sideOf(turn) === 'customer')
  return { byAgent: cutBy(agent, customer), byCustomer: cutBy(customer, agent) }
}
