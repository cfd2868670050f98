// Measures how much the rates of groups of calls, such as hours or days, differ beyond chance.

/** The number of affected calls and of all calls. They can be fractions, because similar calls count as fewer. */
export type SpikeCounts = { affected: number; calls: number }

/** The counts for one group, and the sum of the squared number of calls in each part. */
export type Group = SpikeCounts & { squares: number }

/** Sums over groups. The spread around any rate can be computed from them. */
export type Spread = SpikeCounts & {
  groups: number
  /** The squares of affected calls, divided by the calls. */
  affectedSquares: number
  /** The number of other calls in the same group but not in the same part, summed over all calls. */
  others: number
}

export const emptySpread: Spread = { affected: 0, calls: 0, groups: 0, affectedSquares: 0, others: 0 }

export const addGroup = (spread: Spread, { affected, calls, squares }: Group): Spread => ({
  affected: spread.affected + affected,
  calls: spread.calls + calls,
  groups: spread.groups + 1,
  affectedSquares: spread.affectedSquares + affected ** 2 / calls,
  others: spread.others + calls - squares / calls,
})

export const addSpreads = (a: Spread, b: Spread): Spread => ({
  affected: a.affected + b.affected,
  calls: a.calls + b.calls,
  groups: a.groups + b.groups,
  affectedSquares: a.affectedSquares + b.affectedSquares,
  others: a.others + b.others,
})

export const scaleSpread = (spread: Spread, factor: number): Spread => ({
  affected: spread.affected * factor,
  calls: spread.calls * factor,
  groups: spread.groups * factor,
  affectedSquares: spread.affectedSquares * factor,
  others: spread.others * factor,
})

/**
 * Returns the correlation between calls in one group, from 0 to 1. It is based on Pearson's chi-squared statistic, to
 * which chance contributes 1 for each group (D. A. Williams, Applied Statistics 31, 1982).
 */
export const correlation = ({ affected, calls, groups, affectedSquares, others }: Spread, rate: number): number => {
  if (others <= 0) return 0
  const chiSquared = (affectedSquares - 2 * rate * affected + rate ** 2 * calls) / (rate * (1 - rate))
  return Math.min(1, Math.max(0, (chiSquared - groups) / others))
}

/** Returns the number of independent calls that would contain the same information. */
export const independent = (calls: number, correlated: number): number =>
  calls / (1 + Math.max(0, calls - 1) * correlated)
