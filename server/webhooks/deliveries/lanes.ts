/** How many requests to one endpoint are under way at once in one process: a slow receiver leaves room for the others. */
export const lanesPerEndpoint = 4

/** Of one whose latest request took longer there is a single lane, so that a few dead ones do not fill the process. */
const slowMs = 5_000

/** Who will likely have a lane within this time waits here for it: to come again later costs as much as to send. */
const momentMs = 500
const shortestPauseMs = 500
const longestPauseMs = 60_000

/** To be left when its request is over. */
type Lane = { leave: () => void }

/** Of one endpoint, by the clock of the process. `lastMs` is how long the latest finished request took. */
type Lanes = { running: Set<{ startedMs: number }>; waiting: Set<(lane: Lane) => void>; lastMs: number }

const lanesOf = new Map<string, Lanes>()

const isSlow = ({ lastMs }: Lanes): boolean => lastMs > slowMs
const isFull = (lanes: Lanes): boolean => lanes.running.size >= (isSlow(lanes) ? 1 : lanesPerEndpoint)

/** How long a request takes. */
const paceMs = ({ running, lastMs }: Lanes): number =>
  Math.max(lastMs, ...[...running].map(({ startedMs }) => performance.now() - startedMs))

/** The slower the receiver, the longer: a long line in front of a dead one is not looked at each second. */
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
    // That it is slow is remembered, until it is not.
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

/** A lane, or how long to stay away before asking again. */
export const takeLane = async (endpointId: string): Promise<Lane | { pauseMs: number }> => {
  const lanes = lanesOf.get(endpointId) ?? { running: new Set(), waiting: new Set(), lastMs: 0 }
  lanesOf.set(endpointId, lanes)
  if (!isFull(lanes)) return enter(endpointId, lanes)
  const isSoon = ((lanes.waiting.size + 1) * paceMs(lanes)) / lanesPerEndpoint < momentMs
  return (isSoon ? await waitInLine(lanes) : undefined) ?? { pauseMs: pauseMs(lanes) }
}
