/** How many requests to one endpoint are under way at once in one process: a slow receiver leaves room for the others. */
export const lanesPerEndpoint = 4

/** By the clock of the process, in milliseconds. `lastMs` is how long the latest finished request took. */
type Lanes = { startedAt: Set<{ ms: number }>; lastMs: number }

const lanesOf = new Map<string, Lanes>()

const shortestWaitMs = 500
const longestWaitMs = 60_000

/** The slower the receiver, the longer: a long line in front of a dead one is not looked at each second. */
const waitMs = ({ startedAt, lastMs }: Lanes): number => {
  const oldestMs = Math.max(...[...startedAt].map(({ ms }) => performance.now() - ms))
  const pace = 20 * Math.max(lastMs, oldestMs)
  return Math.min(longestWaitMs, Math.max(shortestWaitMs, pace)) * (0.5 + Math.random())
}

/** A lane, to be left when the request is over, or how long to wait before asking again. */
export const takeLane = (endpointId: string): { leave: () => void } | { waitMs: number } => {
  const lanes = lanesOf.get(endpointId) ?? { startedAt: new Set(), lastMs: 0 }
  if (lanes.startedAt.size >= lanesPerEndpoint) return { waitMs: waitMs(lanes) }
  const start = { ms: performance.now() }
  lanes.startedAt.add(start)
  lanesOf.set(endpointId, lanes)
  const leave = () => {
    lanes.lastMs = performance.now() - start.ms
    lanes.startedAt.delete(start)
    if (lanes.startedAt.size === 0) lanesOf.delete(endpointId)
  }
  return { leave }
}
