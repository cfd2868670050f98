import type { Stop } from './judge-page.ts'

const mostWaits = 8
const shortestWaitSeconds = 15
const longestWaitSeconds = 15 * 60

/** Until a run that stopped goes on, by how often in a row it has waited; undefined when it is over. */
export const secondsToWait = (stop: Stop, waits: number): number | undefined => {
  if (stop.kind === 'over' || waits >= mostWaits) return undefined
  return Math.min(longestWaitSeconds, Math.max(stop.afterSeconds, shortestWaitSeconds * 2 ** waits))
}
