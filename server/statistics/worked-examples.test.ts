import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { boolean, observed } from '../../test/support/statistics.ts'
import { estimateArms } from './arm.ts'
import type { Interval } from './interval.ts'
import { outcomeResult } from './outcome.ts'
import { type OutcomeValue, outcomeSumsOf, type UnitAnswers } from './outcome-sums.ts'
import type { Arm } from './sums.ts'
import { verdictOf } from './verdict.ts'

/** Checks that the examples in the guide contain the computed numbers, and no others. */

const page = readFileSync(join(import.meta.dirname, '../../docs/experiments.md'), 'utf8')

const sectionOf = (number: number): string => {
  const section = new RegExp(`^### Example ${number}: [\\s\\S]*?(?=^##)`, 'm').exec(page)?.[0]
  if (section === undefined) throw new Error(`There is no example ${number}`)
  return section.replace(/\n> |\n/g, ' ')
}

/** Returns the numbers in a section. The numbers of examples and dates are not results. */
const numbersIn = (section: string): string[] =>
  section
    .replace(/[Ee]xample \d/g, '')
    .replace(/\b95% interval/g, '')
    .match(/\d+(?:,\d{3})*(?:\.\d+)?/g) ?? []

const resultOf = (units: readonly UnitAnswers[], target: number | null = null) => {
  const sums = outcomeSumsOf(units, boolean)
  const result = outcomeResult(sums, boolean, { target, conversationsPerDay: null })
  const arms = estimateArms(sums.observed, 'boolean')
  const { worstCase } = result.missingness
  const { anytime } = result.difference
  const shown = { arms, anytime, worstCase, concerns: [], better: null, finished: false }
  return { ...result, verdict: verdictOf(shown, boolean).text }
}

const callers = (arm: Arm, count: number, values: readonly OutcomeValue[]): UnitAnswers[] =>
  Array.from({ length: count }, () => ({ a: [], b: [], [arm]: values, inBothArms: false }))

const once = (arm: Arm, affected: number, all: number): UnitAnswers[] => [
  ...callers(arm, affected, [observed(1)]),
  ...callers(arm, all - affected, [observed(0)]),
]

const known = (interval: Interval | null | undefined): Interval => {
  if (!interval) throw new Error('There is no interval')
  return interval
}

/** Formats rates and their differences in percentage points, as the guide does. */
const points = (value = Number.NaN, decimals = 1) => Math.abs(100 * value).toFixed(decimals)
const both = (interval: Interval, decimals = 1) => [points(interval.low, decimals), points(interval.high, decimals)]
const width = ({ low, high }: Interval) => high - low

const three = (first: number, second: number, third: number) => [first, second, third].map(observed)

describe('the worked examples', () => {
  it('1: nothing is shown yet', () => {
    const { arms, difference, precision, verdict } = resultOf([...once('a', 40, 200), ...once('b', 62, 210)], 0.1)
    const anytime = known(difference.anytime.interval)
    const fixed = known(difference.fixed.interval)
    const section = sectionOf(1)
    expect(section).toContain(verdict)
    expect(section).toContain(`${points(anytime.low, 0)} points lower to ${points(anytime.high, 0)} points higher`)
    expect(section).toContain(`from ${points(fixed.low)} to ${points(fixed.high)} points`)
    expect(section).toContain(`p of ${difference.fixed.p.toFixed(3)}`)
    expect(section).toContain(`${points(width(anytime) / width(fixed) - 1, 0)}%`)
    expect(section).toContain(`${precision.moreConversations} more conversations`)
    const given = ['40', '200', '62', '210', '4.09', '23.1', '100', '5', '10', String(precision.moreConversations)]
    const rates = [arms.a.mean, arms.b.mean, difference.estimate].map((rate) => points(rate ?? Number.NaN))
    const inB = [anytime.low, anytime.high].map((bound) => points((arms.a.mean ?? Number.NaN) + bound, 0))
    const counted = ['20', ...inB, ...both(anytime, 0), ...both(fixed), difference.fixed.p.toFixed(3)]
    const wider = points(width(anytime) / width(fixed) - 1, 0)
    expect(new Set(numbersIn(section))).toEqual(new Set([...given, ...rates, ...counted, wider]))
  })

  it('2: a difference is shown', () => {
    const { arms, difference, lift, verdict } = resultOf([...once('a', 120, 600), ...once('b', 170, 590)])
    const fixed = known(difference.fixed.interval)
    const relative = known(lift.anytime)
    const section = sectionOf(2)
    expect(section).toContain(verdict)
    expect(section).toContain(`${points(fixed.low)} to ${points(fixed.high)} points`)
    expect(section).toContain(`${points(lift.estimate ?? Number.NaN, 0)}% more`)
    expect(section).toContain(`between ${points(relative.low, 0)}% and ${points(relative.high, 0)}% more`)
    expect(section).toContain(`p is ${difference.anytime.p.toFixed(3)}`)
    const rates = [arms.a.mean, arms.b.mean, difference.estimate].map((rate) => points(rate ?? Number.NaN))
    const lifts = [points(lift.estimate ?? Number.NaN, 0), ...both(relative, 0)]
    const given = ['120', '600', '170', '590', '1.14', '16.5', '2', '15', difference.anytime.p.toFixed(3)]
    expect(new Set(numbersIn(section))).toEqual(new Set([...given, ...rates, ...both(fixed), ...lifts]))
    // The guide mentions one of the possible values as an example.
    const anytime = known(difference.anytime.interval)
    expect(anytime.low).toBeLessThan(0.02)
    expect(anytime.high).toBeGreaterThan(0.15)
  })

  it('3: callers who return', () => {
    const { arms, difference, verdict } = resultOf([
      ...callers('a', 30, three(1, 1, 1)),
      ...callers('a', 15, three(1, 1, 0)),
      ...callers('a', 155, three(0, 0, 0)),
      ...callers('b', 46, three(1, 1, 1)),
      ...callers('b', 16, three(1, 1, 0)),
      ...callers('b', 134, three(0, 0, 0)),
      ...callers('b', 1, [observed(0), observed(0)]),
    ])
    expect([arms.a, arms.b]).toMatchObject([
      { sum: 120, observed: 600, units: 200 },
      { sum: 170, observed: 590, units: 197 },
    ])
    const section = sectionOf(3)
    expect(section).toContain(verdict)
    expect(known(difference.anytime.interval).low).toBeLessThan(0)
    const worth = [arms.a, arms.b].map((arm) => (arm.observed / arm.designEffect).toFixed(0))
    const [effectA, effectB] = [arms.a, arms.b].map((arm) => arm.designEffect.toFixed(1))
    expect(effectA).toBe(effectB)
    const given = ['120', '600', '170', '590', '200', '197', '4.22', '21.8', effectA]
    expect(new Set(numbersIn(section))).toEqual(new Set([...given, ...worth]))
  })

  it('4: what is missing', () => {
    const { missingness, verdict } = resultOf([
      ...once('a', 120, 600),
      ...callers('a', 6, [{ status: 'missing' }]),
      ...once('b', 170, 590),
      ...callers('b', 60, [{ status: 'missing' }]),
    ])
    const { flags, shareA, shareB, worstCase } = missingness
    expect(flags).toEqual(['differential_missingness'])
    expect(worstCase?.signSurvives).toBe(true)
    const section = sectionOf(4)
    const quoted = 'B would still be higher if all missing results went against it'
    expect(verdict).toContain(quoted)
    expect(section).toContain(quoted)
    const atAnyLook = known(worstCase?.differenceAtAnyLook)
    expect(atAnyLook.low).toBeLessThan(0)
    expect(section).toContain(`between −${points(atAnyLook.low)} and ${points(atAnyLook.high)} points`)
    const shares = [shareA, shareB].map((share) => points(share ?? Number.NaN))
    const bounds = [...both(known(worstCase?.difference)), ...both(atAnyLook)]
    const given = ['120', '600', '170', '590', '6', '60']
    expect(new Set(numbersIn(section))).toEqual(new Set([...given, ...shares, ...bounds]))
  })

  it('the page states how much chance affects the shares of the simulations', () => {
    const twoErrors = 2 * Math.sqrt((0.05 * 0.95) / 400)
    const range = `from ${points(0.05 - twoErrors)}% to ${points(0.05 + twoErrors)}%`
    const told = `in 400 experiments, a true 5% can come out as anything ${range}`
    expect(page.replace(/\n/g, ' ')).toContain(told)
  })
})
