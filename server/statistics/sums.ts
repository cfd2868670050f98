// The sums behind an outcome's results, over units, updated one unit at a time. A unit is a caller who may return, or a
// single conversation; its observations are similar.

export type Arm = 'a' | 'b'

/**
 * The values of a unit in one arm: the number of observations, their sum and sum of squares, each less the arm's shift.
 */
export type ValueSums = { count: number; sum: number; squares: number }

export type UnitSums = { a: ValueSums; b: ValueSums }

export type ArmSums = {
  /** Subtracted from each value first, so that large values lose no digits. 0 for booleans. */
  shift: number
  /** Units with an observation. */
  units: number
  count: number
  sum: number
  squares: number
  /** Over units: of squared sums, of sum times count, of squared counts. */
  sumSum: number
  sumCount: number
  countCount: number
}

/** For units with observations in both arms; the first word is for arm a. */
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

/** The best shift of a numeric outcome is the first value of each arm. */
export const noSums = (shiftA = 0, shiftB = 0): Sums => ({
  a: noArmSums(shiftA),
  b: noArmSums(shiftB),
  shared: { units: 0, sumSum: 0, sumCount: 0, countSum: 0, countCount: 0 },
})

/** Returns the sums with one more value, which has the shift subtracted. */
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

/** The values of one unit in each arm. */
export type UnitValues = Record<Arm, readonly number[]>

/** In small steps, so that large values lose no digits. */
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
  let held = noValueSums
  for (const value of values) held = addValue(held, value - shift)
  return held
}

/** In two passes: the mean of each arm comes first and is the shift. Booleans are whole numbers and need none. */
export const sumsOf = (units: readonly UnitValues[], kind: 'boolean' | 'numeric'): Sums => {
  const meanIn = (arm: Arm) => meanOf(units.flatMap((unit) => unit[arm]))
  let sums = kind === 'boolean' ? noSums() : noSums(meanIn('a'), meanIn('b'))
  const { a, b } = sums
  for (const unit of units) {
    sums = addUnit(sums, { a: holdAll(unit.a, a.shift), b: holdAll(unit.b, b.shift) })
  }
  return sums
}

/** Every unit has a single observation, so that observations are independent. */
export const singleObservations = ({ a, b, shared }: Sums): boolean =>
  shared.units === 0 && a.count === a.units && b.count === b.units
