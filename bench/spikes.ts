// Measures the false alarms that the spike detector raises in a year for a thousand monitors with constant rates, and
// how long it takes to detect a doubled rate. The data is seeded, and the detector is the product's.

import { type Detector, newDetector, observe, withoutSpike } from '../server/spikes/detector.ts'
import { type Estimate, share } from '../server/statistics/agreement.ts'
import {
  type HourStream,
  normal,
  seeded,
  streamHours,
  type UniformRandom,
} from '../test/support/spikes/random-hours.ts'

const monitors = 1_000
const year = 365 * 24
const runs = 200
const historyHours = 56 * 24
const patienceHours = 120 * 24
const alarm = Math.log(20 * year)

const print = (text = '') => process.stdout.write(`${text}\n`)
const table = (rows: string[][]) => {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  for (const row of rows) print(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
  print()
}

/** Returns a random number with a logarithm that is uniform over a range. */
const between = (random: UniformRandom, from: number, to: number): number => from * (to / from) ** random()

/** Returns a function with a new random number for each day or each hour. */
const wander = (random: UniformRandom, hours: number, deviation: number) => {
  let at = -1
  let value = 0
  return (hour: number) => {
    const now = Math.floor(hour / hours)
    if (now !== at) {
      at = now
      value = deviation * normal(random)
    }
    return value
  }
}

/** The ways in which the log odds of a constant rate vary. A deviation of 0.2 is about a fifth of the rate. */
const sways: Record<string, (random: UniformRandom) => (hour: number) => number> = {
  'nothing but chance': () => () => 0,
  'hours differ by 0.2': (random) => wander(random, 1, 0.2),
  'hours differ by 0.4': (random) => wander(random, 1, 0.4),
  'days differ by 0.2': (random) => wander(random, 24, 0.2),
  'days differ by 0.4': (random) => wander(random, 24, 0.4),
  'day and night, ±0.2': () => (hour) => 0.2 * Math.cos((((hour % 24) - 3) / 12) * Math.PI),
  'day and night, ±0.4': () => (hour) => 0.4 * Math.cos((((hour % 24) - 3) / 12) * Math.PI),
  'weekends, +0.3': () => (hour) => (Math.floor(hour / 24) % 7 < 5 ? 0 : 0.3),
}

/** Counts alarms. Someone resolves each spike a day later, unless it has ended by then. */
const countAlarms = (stream: HourStream): { alarms: number; hours: number } => {
  let detector = newDetector
  let [alarms, hours, resolvedAt] = [0, 0, 0]
  for (const hour of streamHours(stream, 0, year)) {
    const before = detector.spike && hour.hour >= resolvedAt ? withoutSpike(detector) : detector
    detector = observe(before, hour)
    hours++
    if (!detector.spike || before.spike) continue
    alarms++
    resolvedAt = hour.hour + 24
  }
  return { alarms, hours }
}

/** Returns the interval of a rare count, with Byar's approximation of the exact interval. */
const poissonInterval = (count: number): Omit<Estimate, 'value'> => {
  const bound = (n: number, z: number) => (n === 0 ? 0 : n * (1 - 1 / (9 * n) + z / (3 * Math.sqrt(n))) ** 3)
  return { low: bound(count, -1.96), high: bound(count + 1, 1.96) }
}

const falseAlarms = () => {
  print(`False alarms of ${monitors} monitors in a year, 1 to 500 calls per hour, rates of 0.5% to 40%\n`)
  const rows = [['what varies', 'alarms', 'per monitor and year (95%)', 'monitors with one (95%)']]
  const started = performance.now()
  let observed = 0
  for (const [name, makeSway] of Object.entries(sways)) {
    let [alarms, alarmed] = [0, 0]
    for (let monitor = 0; monitor < monitors; monitor++) {
      const random = seeded(monitor + 1)
      const [volume, rate] = [between(random, 1, 500), between(random, 0.005, 0.4)]
      const counted = countAlarms({ random, volume, rate, sway: makeSway(random) })
      alarms += counted.alarms
      alarmed += Math.min(1, counted.alarms)
      observed += counted.hours
    }
    const { low, high } = poissonInterval(alarms)
    const some = share(alarmed, monitors)
    const percent = (value = 0) => (value * 100).toFixed(1)
    rows.push([
      name,
      String(alarms),
      `${(alarms / monitors).toFixed(3)} (${(low / monitors).toFixed(3)} to ${(high / monitors).toFixed(3)})`,
      `${percent(some?.value)} % (${percent(some?.low)} to ${percent(some?.high)})`,
    ])
  }
  table(rows)
  const microseconds = ((performance.now() - started) * 1_000) / observed
  print(`${microseconds.toFixed(1)} µs an hour with calls, the making of the calls included.\n`)
}

type Detection = { hours: number; calls: number }

/** Measures how long it takes to detect an increase after the history. Gives up after a while. */
const findRise = (seed: number, volume: number, rate: number, times: number): Detection => {
  const random = seeded(seed)
  // The increase can start on any day of the week.
  const from = historyHours + Math.floor(random() * 7 * 24)
  let detector: Detector = newDetector
  for (const hour of streamHours({ random, volume, rate }, 0, from)) {
    detector = observe(detector, hour)
    if (detector.spike) detector = withoutSpike(detector)
  }
  let calls = 0
  for (const hour of streamHours({ random, volume, rate: rate * times }, from, from + patienceHours)) {
    calls += hour.calls
    detector = observe(detector, hour)
    if (detector.spike) return { hours: hour.hour - from + 1, calls }
  }
  return { hours: Number.POSITIVE_INFINITY, calls: Number.POSITIVE_INFINITY }
}

/** Returns how many calls an equally cautious test needs on average, even if it knows both rates. */
const leastCalls = (rate: number, times: number): number => {
  const risen = rate * times
  return alarm / (risen * Math.log(times) + (1 - risen) * Math.log((1 - risen) / (1 - rate)))
}

const delays = (times: number, rates: number[]) => {
  print(`Hours until a rate that is ${times} times as high is seen, after eight weeks of history: median (9 of 10)`)
  print('and in calls: median; `never` is not within 120 days\n')
  const volumes = [1, 10, 100, 500]
  const rows = [['rate', ...volumes.map((volume) => `${volume} an hour`), 'calls, had one known both rates']]
  const shown = (value = Number.POSITIVE_INFINITY) => (Number.isFinite(value) ? String(value) : 'never')
  for (const rate of rates) {
    const cells = volumes.map((volume) => {
      const found = Array.from({ length: runs }, (_, run) => findRise(run + 1, volume, rate, times))
      const hours = found.map((one) => one.hours).sort((a, b) => a - b)
      const calls = found.map((one) => one.calls).sort((a, b) => a - b)
      const median = shown(hours[runs / 2])
      return median === 'never' ? median : `${median} h (${shown(hours[runs * 0.9])}), ${shown(calls[runs / 2])} calls`
    })
    rows.push([`${rate * 100} %`, ...cells, leastCalls(rate, times).toFixed(0)])
  }
  table(rows)
}

falseAlarms()
delays(2, [0.005, 0.02, 0.1, 0.4])
delays(5, [0.005, 0.02, 0.1])
