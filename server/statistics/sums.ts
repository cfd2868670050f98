// Maintains the sums over units from which an outcome's results are calculated, and updates them one unit at a time. A
// unit is a caller who may return, or a single conversation. Observations within a unit are similar.

export type Arm = 'a' | 'b'

/**
 * The number of a unit's observations in one arm, their sum, and the sum of their squares. The arm's shift is
 * subtracted from each observation.
 */
export type ValueSums = { count: number; sum: number; squares: number }

export type UnitSums = { a: ValueSums; b: ValueSums }

export type ArmSums = {
  /** Subtracted from each value, so that large values lose no digits. It is 0 for booleans. */
  shift: number
  /** The number of units with an observation. */
  units: number
  count: number
  sum: number
  squares: number
  /** Sums over units: of squared sums, of sum times count, and of squared counts. */
  sumSum: number
  sumCount: number
  countCount: number
}

/** Sums over the units with observations in both arms. In each name, the first word refers to arm a. */
export type SharedSums = { units: number; sumSum: number; sumCount: number; countSum: number; countCount: number }

export type Sums = { a: ArmSums; b: ArmSums; shared: SharedSums }

export const noValueSums: ValueSums = { count: 0, sum: 0, squares: 0 }

export const noUnit: UnitSums = { a: noValueSums, b: noValueSums }

const noArmSums = (shift: number): ArmSums => ({
  shift,
  units: 0,
  count: 0,
  sum: 0,
  squares: 0,
  sumSum: 0,
  sumCount: 0,
  countCount: 0,
})

/** Returns empty sums. For a numeric outcome, the best shift is each arm's first value. */
export const noSums = (shiftA = 0, shiftB = 0): Sums => ({
  a: noArmSums(shiftA),
  b: noArmSums(shiftB),
  shared: { units: 0, sumSum: 0, sumCount: 0, countSum: 0, countCount: 0 },
})

/** Returns the sums with one more value. The shift has already been subtracted from the value. */
export const addValue = ({ count, sum, squares }: ValueSums, shifted: number): ValueSums => ({
  count: count + 1,
  sum: sum + shifted,
  squares: squares + shifted * shifted,
})

const changeArm = (sums: ArmSums, held: ValueSums, sign: 1 | -1): ArmSums => {
  const { count, sum, squares } = held
  if (count === 0) return sums
  return {
    shift: sums.shift,
    units: sums.units + sign,
    count: sums.count + sign * count,
    sum: sums.sum + sign * sum,
    squares: sums.squares + sign * squares,
    sumSum: sums.sumSum + sign * sum * sum,
    sumCount: sums.sumCount + sign * sum * count,
    countCount: sums.countCount + sign * count * count,
  }
}

const changeShared = (sums: SharedSums, { a, b }: UnitSums, sign: 1 | -1): SharedSums => {
  if (a.count === 0 || b.count === 0) return sums
  return {
    units: sums.units + sign,
    sumSum: sums.sumSum + sign * a.sum * b.sum,
    sumCount: sums.sumCount + sign * a.sum * b.count,
    countSum: sums.countSum + sign * a.count * b.sum,
    countCount: sums.countCount + sign * a.count * b.count,
  }
}

const changeUnit = ({ a, b, shared }: Sums, unit: UnitSums, sign: 1 | -1): Sums => ({
  a: changeArm(a, unit.a, sign),
  b: changeArm(b, unit.b, sign),
  shared: changeShared(shared, unit, sign),
})

export const addUnit = (sums: Sums, unit: UnitSums): Sums => changeUnit(sums, unit, 1)

export const subtractUnit = (sums: Sums, unit: UnitSums): Sums => changeUnit(sums, unit, -1)

/** One unit's values in each arm. */
export type UnitValues = Record<Arm, readonly number[]>

/** Returns the mean. Calculates it in small steps, so that large values lose no digits. */
export const meanOf = (values: Iterable<number>): number => {
  let count = 0
  let mean = 0
  for (const value of values) {
    count += 1
    mean += (value - mean) / count
  }
  return mean
}

export const holdAll = (values: readonly number[], shift: number): ValueSums => {
  let total = noValueSums
  for (const value of values) total = addValue(total, value - shift)
  return total
}

/**
 * Computes the sums in two passes. The first pass calculates the mean of each arm, which becomes its shift. Booleans
 * are integers and need no shift.
 */
export const sumsOf = (units: readonly UnitValues[], kind: 'boolean' | 'numeric'): Sums => {
  const meanIn = (arm: Arm) => meanOf(units.flatMap((unit) => unit[arm]))
  let sums = kind === 'boolean' ? noSums() : noSums(meanIn('a'), meanIn('b'))
  const { a, b } = sums
  for (const unit of units) {
    sums = addUnit(sums, { a: holdAll(unit.a, a.shift), b: holdAll(unit.b, b.shift) })
  }
  return sums
}

/** Returns whether every unit has a single observation, so that observations are independent. */
export const singleObservations = ({ a, b, shared }: Sums): boolean =>
  shared.units === 0 && a.count === a.units && b.count === b.units
