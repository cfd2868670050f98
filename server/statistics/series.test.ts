import { describe, expect, it } from 'vitest'
import { boolean, numeric, seeded } from '../../test/support/statistics.ts'
import { estimateArms } from './arm.ts'
import { differenceOf } from './outcome.ts'
import { sampleRatio } from './sample-ratio.ts'
import { type Arrival, mostPoints, type TimedObservation, timeline } from './series.ts'
import { sumsOf, type UnitValues } from './sums.ts'

const hourMs = 60 * 60 * 1000

const experiment = (seed: number, count: number, numericValues: boolean) => {
  const { uniform, normal } = seeded(seed)
  const observations: TimedObservation[] = []
  const arrivals: Arrival[] = []
  const units = new Map<string, { a: number[]; b: number[] }>()
  for (let at = 0; at < count; at++) {
    const unit = `unit ${Math.floor(uniform() * count)}`
    const arm = uniform() < 0.5 ? 'a' : 'b'
    const value = numericValues ? 1e6 + normal() : uniform() < 0.3 ? 1 : 0
    if (!units.has(unit)) arrivals.push({ at: at * hourMs, arm })
    const held = units.get(unit) ?? { a: [], b: [] }
    held[arm].push(value)
    units.set(unit, held)
    observations.push({ at: at * hourMs, unit, arm, value })
  }
  const values: UnitValues[] = [...units.values()]
  return { observations, arrivals, values }
}

describe('the time line', () => {
  it.each([boolean, numeric])('of a $kind outcome ends with the result', (design) => {
    const { observations, arrivals, values } = experiment(3, 3000, design.kind === 'numeric')
    const points = timeline(observations, arrivals, design, 0.5)
    const last = points.at(-1)
    const result = differenceOf(estimateArms(sumsOf(values, design.kind), design.kind), design)
    expect(last?.difference).toBeCloseTo(result.estimate ?? Number.NaN, 9)
    expect(last?.p).toBeCloseTo(result.anytime.p, 9)
    expect(last?.interval?.low).toBeCloseTo(result.anytime.interval?.low ?? Number.NaN, 9)
    expect(last?.interval?.high).toBeCloseTo(result.anytime.interval?.high ?? Number.NaN, 9)
    const a = arrivals.filter(({ arm }) => arm === 'a').length
    const smallestP = points.at(-2)?.splitP ?? 1
    const ratio = sampleRatio({ a, b: arrivals.length - a }, { expectedA: 0.5, alpha: 0.05, smallestP })
    expect(last?.splitP).toBeCloseTo(ratio.p, 12)
  })

  it('has a point for each day, and more in the beginning', () => {
    const { observations, arrivals } = experiment(4, 240, false)
    const points = timeline(observations, arrivals, boolean, null)
    const days = points.map(({ at }) => Math.floor(at / (24 * hourMs)))
    expect(new Set(days).size).toBe(10)
    // The last of each day is among them.
    expect(points.filter(({ at }) => (at / hourMs) % 24 === 23)).toHaveLength(10)
    expect(points[0]).toMatchObject({ at: 0, p: 1, interval: null, splitP: null })
    expect(points.map(({ at }) => at)).toEqual(points.map(({ at }) => at).toSorted((one, other) => one - other))
    expect(new Set(points.map(({ at }) => at)).size).toBe(points.length)
  })

  it('has two hundred points at most, the last one among them', () => {
    const { observations, arrivals } = experiment(5, 24 * 400, false)
    const points = timeline(observations, arrivals, boolean, 0.5)
    expect(points).toHaveLength(mostPoints)
    expect(points[0]?.at).toBe(0)
    expect(points.at(-1)?.at).toBe(observations.at(-1)?.at)
  })

  it('of nothing is empty', () => {
    expect(timeline([], [], boolean, 0.5)).toEqual([])
  })
})
