import { describe, expect, it } from 'vitest'
import { normal, seeded, streamHours } from '../../test/support/spikes/random-hours.ts'
import { type Detector, type Hour, newDetector, observe, withoutSpike } from './detector.ts'

/** Returns hours with the same counts. */
const steady = (from: number, to: number, affected: number, calls: number): Hour[] =>
  Array.from({ length: to - from }, (_, at) => ({ hour: from + at, affected, calls }))

const feed = (detector: Detector, hours: Iterable<Hour>): Detector => {
  let fed = detector
  for (const hour of hours) fed = observe(fed, hour)
  return fed
}

/** Returns the hours in which spikes were reported, with the time when each of them started. */
const spikesIn = (hours: Iterable<Hour>, before = newDetector) => {
  const spikes: { told: number; since: number }[] = []
  let detector = before
  for (const hour of hours) {
    const was = detector.spike
    detector = observe(detector, hour)
    if (detector.spike && !was) spikes.push({ told: hour.hour, since: detector.spike.since })
  }
  return { spikes, detector }
}

const days = (count: number) => count * 24
/** The detector has learned that a fifth of the ten calls per hour are affected. */
const learnt = feed(newDetector, steady(0, days(14), 2, 10))

describe('an increase', () => {
  it('is reported once while it lasts, with the hour in which it started', () => {
    const { spikes } = spikesIn(steady(days(14), days(60), 4, 10), learnt)
    expect(spikes).toEqual([{ told: expect.any(Number), since: days(14) }])
    expect(spikes[0]?.told).toBeLessThan(days(14) + 24)
  })

  it('that is larger is reported sooner', () => {
    const toldAfter = (affected: number) =>
      (spikesIn(steady(days(14), days(30), affected, 10), learnt).spikes[0]?.told ?? Number.NaN) - days(14)
    expect(toldAfter(9)).toBeLessThan(toldAfter(6))
    expect(toldAfter(6)).toBeLessThan(toldAfter(4))
  })

  it('ends when the rate is back, and the next one is reported again', () => {
    const { spikes, detector } = spikesIn(
      [
        ...steady(days(14), days(16), 6, 10),
        ...steady(days(16), days(30), 2, 10),
        ...steady(days(30), days(32), 6, 10),
      ],
      learnt,
    )
    expect(spikes.map(({ since }) => since)).toEqual([days(14), days(30)])
    // Neither spike became part of the baseline.
    expect(detector.baseline.affected / detector.baseline.calls).toBeCloseTo(0.2, 12)
  })

  it('is over as soon after a month as after two days', () => {
    const lasts = (after: number) => {
      const { detector } = spikesIn(steady(days(14), days(14 + after), 6, 10), learnt)
      let [hour, fed] = [days(14 + after), detector]
      for (; fed.spike; hour++) fed = observe(fed, { hour, affected: 2, calls: 10 })
      return hour - days(14 + after)
    }
    expect(lasts(2)).toBeLessThan(24)
    expect(lasts(30)).toBe(lasts(2))
  })

  it('is reported again after its end was declared, unless the rate fell', () => {
    const raised = spikesIn(steady(days(14), days(16), 6, 10), learnt).detector
    expect(raised.spike).not.toBeNull()
    const after = withoutSpike(raised)
    expect(spikesIn(steady(days(16), days(18), 6, 10), after).spikes).toHaveLength(1)
    expect(spikesIn(steady(days(16), days(50), 2, 10), after).spikes).toEqual([])
  })

  it('is detected across hours without calls, and for a rate that never occurred before', () => {
    const sparse = (from: number, affected: number) =>
      steady(from, from + days(40), affected, 1).filter((_, n) => n % 7 === 0)
    const quiet = feed(newDetector, sparse(0, 0))
    expect(quiet.baseline.calls).toBeGreaterThan(100)
    expect(spikesIn(sparse(days(40), 0), quiet).spikes).toEqual([])
    expect(spikesIn(sparse(days(40), 1), quiet).spikes).toHaveLength(1)
  })

  it('is not reported before a week and a hundred calls', () => {
    expect(spikesIn([...steady(0, days(6), 1, 10), ...steady(days(6), days(7), 9, 10)]).spikes).toEqual([])
    const few = [...steady(0, days(7), 0, 1).filter((_, n) => n % 2 === 0), ...steady(days(7), days(8), 2, 2)]
    expect(spikesIn(few).spikes).toEqual([])
  })
})

describe('a constant rate', () => {
  it.each([
    ['never', 1, 7],
    ['always', 7, 7],
    ['seldom', 1, 200],
    ['mostly', 199, 200],
  ])('is no spike if it is affected %s', (_name, affected, calls) => {
    expect(spikesIn(steady(0, days(200), affected, calls)).spikes).toEqual([])
  })

  it('has a finite sum, however many equal calls there are', () => {
    for (const affected of [0, 1e7]) {
      let detector = newDetector
      for (const hour of steady(0, days(9), affected, 1e7)) {
        detector = observe(detector, hour)
        expect(detector.suspicions.every(({ evidence }) => Number.isFinite(evidence))).toBe(true)
      }
    }
  })

  it('is no spike if the rate falls, or rises slowly by less than matters', () => {
    expect(spikesIn([...steady(0, days(30), 5, 10), ...steady(days(30), days(90), 1, 10)]).spikes).toEqual([])
    expect(spikesIn([...steady(0, days(30), 50, 100), ...steady(days(30), days(90), 52, 100)]).spikes).toEqual([])
  })

  /** The benchmark measures the figures. This test verifies them with a few monitors. */
  it.each([
    ['only chance', () => () => 0],
    [
      'days that differ by a fifth',
      (random: () => number) => {
        const byDay = Array.from({ length: 365 }, () => 0.2 * normal(random))
        return (hour: number) => byDay[Math.floor(hour / 24)] ?? 0
      },
    ],
    ['a rhythm of day and night', () => (hour: number) => 0.2 * Math.cos(((hour % 24) / 12) * Math.PI)],
  ])('is hardly ever one with %s', (_name, makeSway) => {
    let spikes = 0
    for (let monitor = 0; monitor < 40; monitor++) {
      const random = seeded(monitor + 1)
      const [volume, rate] = [500 ** random(), 0.005 * 80 ** random()]
      spikes += spikesIn(streamHours({ random, volume, rate, sway: makeSway(random) }, 0, days(365))).spikes.length
    }
    expect(spikes).toBeLessThanOrEqual(2)
  })
})

it('is the same if it is stored in between', () => {
  const random = seeded(7)
  const hours = [...streamHours({ random, volume: 12, rate: 0.1 }, 0, days(30))]
  const stored = hours.reduce<Detector>((fed, hour) => JSON.parse(JSON.stringify(observe(fed, hour))), newDetector)
  expect(stored).toEqual(feed(newDetector, hours))
  expect(JSON.stringify(stored).length).toBeLessThan(2_000)
})
