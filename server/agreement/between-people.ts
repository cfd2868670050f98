// Measures agreement between people. A unit stands for all conversations with the same judgments: how many people gave
// each answer, and how many conversations there are with this combination.

import { z95 } from '../statistics/distributions.ts'

export type RatedUnit = { counts: number[]; times: number }

const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0)

/** Returns how often each answer was given. */
const totals = (units: RatedUnit[]): number[] => {
  const answers = Math.max(0, ...units.map(({ counts }) => counts.length))
  return Array.from({ length: answers }, (_, at) => sum(units.map(({ counts, times }) => (counts[at] ?? 0) * times)))
}

/**
 * Returns Fleiss' kappa (1971), or null if everyone gave the same answer. All units have the same number of answers,
 * which is at least two.
 */
export const fleissKappa = (units: RatedUnit[]): number | null => {
  const all = sum(units.map(({ times }) => times))
  const each = sum(units[0]?.counts ?? [])
  if (all === 0 || each < 2) return null
  const alike = ({ counts }: RatedUnit) => (sum(counts.map((count) => count ** 2)) - each) / (each * (each - 1))
  const observed = sum(units.map((unit) => alike(unit) * unit.times)) / all
  const byChance = sum(totals(units).map((total) => (total / (all * each)) ** 2))
  return byChance === 1 ? null : (observed - byChance) / (1 - byChance)
}

/**
 * Returns Krippendorff's alpha for nominal data (2011). Units can have different numbers of answers. Units with a
 * single answer are ignored.
 */
export const krippendorffsAlpha = (given: RatedUnit[]): number | null => {
  const units = given.filter(({ counts }) => sum(counts) > 1)
  const all = sum(totals(units))
  const alike = ({ counts }: RatedUnit) => sum(counts.map((count) => count * (count - 1))) / (sum(counts) - 1)
  const differing = all - sum(units.map((unit) => alike(unit) * unit.times))
  const differingByChance = all ** 2 - sum(totals(units).map((total) => total ** 2))
  return differingByChance === 0 ? null : 1 - ((all - 1) * differing) / differingByChance
}

/**
 * Returns an estimate with its 95% jackknife interval, which leaves out one unit at a time. Omits the bounds if the
 * estimate becomes undefined when a unit is left out.
 */
export const withInterval = (units: RatedUnit[], figure: (units: RatedUnit[]) => number | null) => {
  const value = figure(units)
  if (value === null) return null
  const all = sum(units.map(({ times }) => times))
  const left = units.map(({ counts, times }, at) => {
    const others = units.map((unit, index) => (index === at ? { counts, times: times - 1 } : unit))
    return { value: figure(others.filter((unit) => unit.times > 0)), times }
  })
  if (left.some((one) => one.value === null)) return { value, low: null, high: null }
  const mean = sum(left.map((one) => (one.value ?? 0) * one.times)) / all
  const spread = sum(left.map((one) => ((one.value ?? 0) - mean) ** 2 * one.times))
  const half = z95 * Math.sqrt(((all - 1) / all) * spread)
  return { value, low: Math.max(-1, value - half), high: Math.min(1, value + half) }
}

/** Returns the units with the most common number of answers. If two numbers are equally common, uses the higher one. */
export const commonest = (units: RatedUnit[]): RatedUnit[] => {
  const byAnswers = Map.groupBy(units, ({ counts }) => sum(counts))
  const ranked = [...byAnswers].sort(([a, some], [b, others]) => {
    const more = sum(others.map(({ times }) => times)) - sum(some.map(({ times }) => times))
    return more || b - a
  })
  return ranked[0]?.[1] ?? []
}
