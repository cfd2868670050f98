// Observes an experiment one conversation at a time, for timelines and simulations that analyze it repeatedly.

import { type ArmEstimates, estimateArms } from '../../../server/statistics/arm.ts'
import type { Design } from '../../../server/statistics/design.ts'
import {
  type Arm,
  addUnit,
  addValue,
  noSums,
  noUnit,
  type Sums,
  subtractUnit,
  type UnitSums,
} from '../../../server/statistics/sums.ts'

export type ReplayedObservation = {
  /** This is null if the conversation is its own unit. */
  unit: string | null
  arm: Arm
  value: number
}

/** `observe` changes a replay in place, because it may have a million units. */
export type Replay = { kind: Design['kind']; sums: Sums; units: Map<string, UnitSums> }

export const startReplay = (kind: Design['kind']): Replay => ({ kind, sums: noSums(), units: new Map() })

export const observe = (replay: Replay, { unit, arm, value }: ReplayedObservation): void => {
  let { sums } = replay
  // The first value of an arm is its shift, so that large values lose no digits.
  if (replay.kind === 'numeric' && sums[arm].count === 0) {
    sums = { ...sums, [arm]: { ...sums[arm], shift: value } }
  }
  const before = (unit !== null && replay.units.get(unit)) || noUnit
  const after = { ...before, [arm]: addValue(before[arm], value - sums[arm].shift) }
  replay.sums = addUnit(before === noUnit ? sums : subtractUnit(sums, before), after)
  if (unit !== null) replay.units.set(unit, after)
}

/** Returns the input of `anytimeEvidence`, `anytimeDifference`, `fixedP`, and `fixedDifference`. */
export const armsSoFar = ({ sums, kind }: Replay): ArmEstimates => estimateArms(sums, kind)
