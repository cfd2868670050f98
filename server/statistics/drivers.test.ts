import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../test/malformed.ts'
import { type Dimension, type DriverKind, findDrivers, type GroupTotals } from './drivers.ts'

const seed = 20_261_126
const runs = 100

type Random = ReturnType<typeof seededRandom>

/** Returns a number from 0 to 1. */
const share = (random: Random): number => (random.below(1_000_000) + 0.5) / 1_000_000

type Call = Record<string, string>

/** Agents belong to companies and have versions, so that dimensions overlap like real ones. */
const makeCall = (random: Random): Call => {
  const agent = random.below(8)
  return {
    agent: `agent ${agent}`,
    company: `company ${agent % 3}`,
    version: `${agent}.${random.below(2)}`,
    channel: random.chance(0.8) ? 'call' : 'chat',
    direction: random.chance(0.6) ? 'inbound' : 'outbound',
    plan: `plan ${random.below(4)}`,
    weekday: String(random.below(7)),
    hour: String(random.below(24)),
  }
}

const none: GroupTotals = { count: 0, sum: 0, squares: 0 }

const plus = ({ count, sum, squares }: GroupTotals, value: number): GroupTotals => ({
  count: count + 1,
  sum: sum + value,
  squares: squares + value * value,
})

type Measured = { call: Call; value: number }

/** Sums two periods by each dimension. */
const split = (before: Measured[], now: Measured[]) => {
  const all = { before: none, now: none }
  const dimensions = new Map<string, Map<string, { before: GroupTotals; now: GroupTotals }>>()
  for (const [when, calls] of [
    ['before', before],
    ['now', now],
  ] as const) {
    for (const { call, value } of calls) {
      all[when] = plus(all[when], value)
      for (const [name, key] of Object.entries(call)) {
        const groups = dimensions.get(name) ?? new Map<string, { before: GroupTotals; now: GroupTotals }>()
        dimensions.set(name, groups)
        const group = groups.get(key) ?? { before: none, now: none }
        groups.set(key, { ...group, [when]: plus(group[when], value) })
      }
    }
  }
  const listed: Dimension<string>[] = [...dimensions].map(([name, groups]) => ({
    groups: [...groups].map(([key, totals]) => ({ key: `${name}=${key}`, ...totals })),
  }))
  return { all, listed }
}

type World = {
  kind: DriverKind
  count: number
  measure: (random: Random, call: Call, isNow: boolean) => number
  /** Whether a call in the current period takes place. */
  keeps?: (random: Random, call: Call) => boolean
}

const driversOf = (random: Random, { kind, count, measure, keeps = () => true }: World) => {
  const period = (isNow: boolean): Measured[] =>
    Array.from({ length: count }, () => makeCall(random))
      .filter((call) => !isNow || keeps(random, call))
      .map((call) => ({ call, value: measure(random, call, isNow) }))
  const { all, listed } = split(period(false), period(true))
  return findDrivers(kind, all, listed).map(({ key }) => key)
}

/**
 * Returns the number of worlds in which the first driver is the planted one, and the number in which nothing is
 * reported.
 */
const simulate = (world: World, planted?: string) => {
  const random = seededRandom(seed)
  let [found, silent] = [0, 0]
  for (let run = 0; run < runs; run++) {
    const drivers = driversOf(random, world)
    if (drivers[0] === planted) found++
    if (drivers.length === 0) silent++
  }
  return { found, silent }
}

const affected =
  (rateOf: (call: Call, isNow: boolean) => number): World['measure'] =>
  (random, call, isNow) =>
    Number(random.chance(rateOf(call, isNow)))

/** Returns the usual rate. Agents and channels also differ in the earlier period. */
const usual = (call: Call): number => 0.05 + 0.01 * Number(call.agent?.at(-1)) + (call.channel === 'chat' ? 0.05 : 0)

describe('a planted driver is reported first', () => {
  it.each([
    ['agent', 'agent 3'],
    ['plan', 'plan 2'],
    ['channel', 'chat'],
    ['version', '3.1'],
  ])('for a rate: %s', (name, key) => {
    const world: World = {
      kind: 'share',
      count: 6_000,
      measure: affected((call, isNow) => usual(call) + (isNow && call[name] === key ? 0.2 : 0)),
    }
    expect(simulate(world, `${name}=${key}`).found, `seed ${seed}`).toBeGreaterThanOrEqual(95)
  })

  it('for a group that is new', () => {
    const world: World = {
      kind: 'share',
      count: 4_000,
      measure: (random, call, isNow) => {
        const isNew = isNow && random.chance(0.15)
        call.version = isNew ? 'new' : (call.version ?? '')
        return Number(random.chance(isNew ? 0.35 : usual(call)))
      },
    }
    expect(simulate(world, 'version=new').found, `seed ${seed}`).toBeGreaterThanOrEqual(95)
  })

  it('for a mean', () => {
    const world: World = {
      kind: 'mean',
      count: 2_000,
      measure: (random, call, isNow) =>
        120 + 60 * share(random) - 60 * share(random) + (isNow && call.agent === 'agent 5' ? 30 : 0),
    }
    expect(simulate(world, 'agent=agent 5').found, `seed ${seed}`).toBeGreaterThanOrEqual(95)
  })

  it('for a count', () => {
    const world: World = {
      kind: 'count',
      count: 3_000,
      measure: () => 1,
      keeps: (random, call) => call.agent !== 'agent 2' || random.chance(0.5),
    }
    expect(simulate(world, 'agent=agent 2').found, `seed ${seed}`).toBeGreaterThanOrEqual(95)
  })
})

describe('nothing is reported without a driver', () => {
  it.each([
    ['nothing changes', () => 0],
    ['all groups move alike', (isNow: boolean) => (isNow ? 0.1 : 0)],
  ])('for a rate: %s', (_, moveOf) => {
    const world: World = {
      kind: 'share',
      count: 3_000,
      measure: affected((call, isNow) => usual(call) + moveOf(isNow)),
    }
    expect(simulate(world).silent, `seed ${seed}`).toBeGreaterThanOrEqual(95)
  })

  it('for a rare rate', () => {
    const world: World = { kind: 'share', count: 3_000, measure: affected(() => 0.005) }
    expect(simulate(world).silent, `seed ${seed}`).toBeGreaterThanOrEqual(95)
  })

  it('for a mean', () => {
    const world: World = {
      kind: 'mean',
      count: 2_000,
      // Durations have a long tail.
      measure: (random, _, isNow) => -60 * Math.log(share(random)) + (isNow ? 20 : 0),
    }
    expect(simulate(world).silent, `seed ${seed}`).toBeGreaterThanOrEqual(95)
  })

  it('for a count, also if there is less of everything', () => {
    const world: World = { kind: 'count', count: 3_000, measure: () => 1, keeps: (random) => random.chance(0.7) }
    expect(simulate(world).silent, `seed ${seed}`).toBeGreaterThanOrEqual(95)
  })

  it('if a period is empty', () => {
    const group = { key: 'a', before: none, now: { count: 500, sum: 100, squares: 100 } }
    const all = { before: none, now: { count: 1_000, sum: 100, squares: 100 } }
    expect(findDrivers('share', all, [{ groups: [group] }])).toEqual([])
  })
})
