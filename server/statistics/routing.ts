// Checks whether units stay in their arm, as confirmed at launch.

import type { Interval } from './interval.ts'
import { wilson } from './rate-intervals.ts'

export type Routing = {
  status: 'cannot_tell' | 'stable' | 'unstable_routing' | 'routed_per_conversation'
  units: number
  /** The number of units with two or more conversations. */
  returning: number
  /** The number of units with conversations in both arms. */
  inBothArms: number
  /** The share of returning units that have conversations in both arms. */
  shareInBothArms: { value: number; interval: Interval } | null
  /**
   * The number of units in both arms, divided by the number that would result from random routing of conversations. 0
   * is stable, and 1 is random.
   */
  instability: number | null
}

const leastInBothArms = 10
const leastShare = 0.01
const byChance = 0.5

/**
 * Checks the routing. `unitsBySize` is the number of units by their number of conversations. `shareOfA` is the expected
 * share of arm a, or the observed share if none is expected.
 */
export const routing = (
  unitsBySize: ReadonlyMap<number, number>,
  { inBothArms, shareOfA, alpha }: { inBothArms: number; shareOfA: number; alpha: number },
): Routing => {
  let units = 0
  let returning = 0
  let expected = 0
  for (const [conversations, count] of unitsBySize) {
    units += count
    if (conversations < 2) continue
    returning += count
    expected += count * (1 - shareOfA ** conversations - (1 - shareOfA) ** conversations)
  }
  if (returning === 0) {
    return { status: 'cannot_tell', units, returning, inBothArms, shareInBothArms: null, instability: null }
  }
  const instability = expected > 0 ? inBothArms / expected : null
  const many = inBothArms >= leastInBothArms
  const status =
    many && instability !== null && instability >= byChance
      ? 'routed_per_conversation'
      : many && inBothArms / units >= leastShare
        ? 'unstable_routing'
        : 'stable'
  const share = { affected: inBothArms, all: returning }
  return {
    status,
    units,
    returning,
    inBothArms,
    shareInBothArms: { value: inBothArms / returning, interval: wilson(share, alpha) },
    instability,
  }
}
