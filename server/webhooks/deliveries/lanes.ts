/**
 * Limits the number of concurrent requests from one process to one endpoint, so that a slow receiver leaves capacity
 * for others.
 */
export const lanesPerEndpoint = 4

/**
 * After a request slower than this, the endpoint only gets a single lane, so that a few dead endpoints can't fill the
 * process.
 */
const slowMs = 5_000

/**
 * A delivery that will probably get a lane within this time waits here, because queueing it again costs as much as
 * sending it.
 */
const momentMs = 500
const shortestPauseMs = 500
const longestPauseMs = 60_000

/** A lane, which is released after its request. */
type Lane = { leave: () => void }

/**
 * The lanes of one endpoint. Times are from the process's monotonic clock. `lastMs` is the duration of the latest
 * request.
 */
type Lanes = { running: Set<{ startedMs: number }>; waiting: Set<(lane: Lane) => void>; lastMs: number }

const lanesOf = new Map<string, Lanes>()

const isSlow = ({ lastMs }: Lanes): boolean => lastMs > slowMs
const isFull = (lanes: Lanes): boolean => lanes.running.size >= (isSlow(lanes) ? 1 : lanesPerEndpoint)

/** Returns the expected duration of a request. */
const paceMs = ({ running, lastMs }: Lanes): number =>
  Math.max(lastMs, ...[...running].map(({ startedMs }) => performance.now() - startedMs))

/**
 * Returns the delay before the next try. The slower the receiver, the longer the delay, so that the long queue of a
 * dead endpoint is not checked every second.
 */
const pauseMs = (lanes: Lanes): number =>
  Math.min(longestPauseMs, Math.max(shortestPauseMs, 20 * paceMs(lanes))) * (0.5 + Math.random())

const enter = (endpointId: string, lanes: Lanes): Lane => {
  const request = { startedMs: performance.now() }
  lanes.running.add(request)
  const leave = () => {
    lanes.lastMs = performance.now() - request.startedMs
    lanes.running.delete(request)
    const [next] = lanes.waiting
    if (next && !isFull(lanes)) next(enter(endpointId, lanes))
    // The lanes of a slow endpoint are remembered until the endpoint is fast again.
    else if (lanes.running.size === 0 && !isSlow(lanes)) lanesOf.delete(endpointId)
  }
  return { leave }
}

const waitInLine = ({ waiting }: Lanes): Promise<Lane | undefined> =>
  new Promise((resolve) => {
    const end = (lane?: Lane) => {
      clearTimeout(timer)
      waiting.delete(end)
      resolve(lane)
    }
    const timer = setTimeout(end, momentMs)
    waiting.add(end)
  })

/** Returns a lane, or the delay before asking again. */
export const takeLane = async (endpointId: string): Promise<Lane | { pauseMs: number }> => {
  const lanes = lanesOf.get(endpointId) ?? { running: new Set(), waiting: new Set(), lastMs: 0 }
  lanesOf.set(endpointId, lanes)
  if (!isFull(lanes)) return enter(endpointId, lanes)
  const isSoon = ((lanes.waiting.size + 1) * paceMs(lanes)) / lanesPerEndpoint < momentMs
  return (isSoon ? await waitInLine(lanes) : undefined) ?? { pauseMs: pauseMs(lanes) }
}
