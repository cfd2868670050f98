// Finds the measured response time of each of the agent's turns.

import type { Sound } from './sound-queries.ts'
import { partsOf, type Turn } from './timeline.ts'

export type TurnLatency = {
  turn: number
  /** When the customer stopped speaking, according to the recording. */
  startMs: number
  measuredMs: number
  reportedMs: number | null
  /** The components of the response time, as reported by the provider. */
  parts: [name: string, ms: number][]
}

/** A turn and a measured response belong together if their start times are this close. */
const nearMs = 1_500

const reportedOf = (turn: Turn, parts: TurnLatency['parts']): number | null =>
  turn.latency?.totalMs ?? (parts.length === 0 ? null : parts.reduce((total, [, ms]) => total + ms, 0))

/** Returns the latencies of the turns with a measured response, in order. */
export const pairLatencies = (turns: Turn[], { gaps, speakers }: Pick<Sound, 'gaps' | 'speakers'>): TurnLatency[] => {
  const responses = gaps.filter(({ channel }) => channel === speakers.agent)
  return turns.flatMap((turn): TurnLatency[] => {
    const { startMs } = turn
    if (turn.role !== 'agent' || turn.kind !== 'message' || startMs === null) return []
    const distance = ({ endMs }: { endMs: number }) => Math.abs(endMs - startMs)
    const [nearest] = responses.toSorted((a, b) => distance(a) - distance(b))
    if (!nearest || distance(nearest) > nearMs) return []
    const parts = partsOf(turn)
    return [
      {
        turn: turn.index,
        startMs: nearest.startMs,
        measuredMs: nearest.endMs - nearest.startMs,
        reportedMs: reportedOf(turn, parts),
        parts,
      },
    ]
  })
}
