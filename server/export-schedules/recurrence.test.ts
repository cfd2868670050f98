import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hourMs } from '../platform/durations.ts'
import { openZone } from '../platform/time-zone.ts'
import type { Recurrence, WindowRule } from './queries.ts'
import { latestPlanned, plannedAfter, weekdays } from './recurrence.ts'
import { windowOf } from './window.ts'

const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe', 'Pacific/Apia']

const at = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
  .map(([hour, minute]) => `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`)
const recurrences: fc.Arbitrary<Recurrence> = fc.oneof(
  fc.record({ every: fc.constant('hour' as const), minute: fc.integer({ min: 0, max: 59 }) }),
  fc.record({ every: fc.constant('day' as const), at }),
  fc.record({ every: fc.constant('week' as const), weekday: fc.constantFrom(...weekdays), at }),
  fc.record({ every: fc.constant('month' as const), day: fc.integer({ min: 1, max: 31 }), at }),
)
const instants = fc.date({ min: new Date('2024-01-01'), max: new Date('2028-01-01'), noInvalidDate: true })

const next = (recurrence: Recurrence, zone: string, after: string) =>
  plannedAfter(recurrence, zone, new Date(after)).toISOString()

describe('the run times of a schedule', () => {
  it.each([
    // Berlin's clocks go forward at 02:00 on March 29, 2026, and back at 03:00 on October 25.
    ['a skipped time is put off', 'Europe/Berlin', '2026-03-28T12:00:00Z', '2026-03-29T01:30:00.000Z'],
    ['and is its own again the day after', 'Europe/Berlin', '2026-03-29T01:30:00Z', '2026-03-30T00:30:00.000Z'],
    [
      'a time that comes twice counts the first time',
      'Europe/Berlin',
      '2026-10-24T12:00:00Z',
      '2026-10-25T00:30:00.000Z',
    ],
    ['and not the second', 'Europe/Berlin', '2026-10-25T00:30:00Z', '2026-10-26T01:30:00.000Z'],
    [
      'the end of a skipped half hour is there',
      'Australia/Lord_Howe',
      '2026-10-03T00:00:00Z',
      '2026-10-03T15:30:00.000Z',
    ],
  ])('%s', (_name, zone, after, expected) => {
    expect(next({ every: 'day', at: '02:30' }, zone, after)).toBe(expected)
  })

  it('in a month without the day are on its last day', () => {
    const monthly = { every: 'month', day: 31, at: '00:00' } as const
    expect(next(monthly, 'UTC', '2027-02-01T00:00:00Z')).toBe('2027-02-28T00:00:00.000Z')
    expect(next(monthly, 'UTC', '2028-02-01T00:00:00Z')).toBe('2028-02-29T00:00:00.000Z')
    expect(next(monthly, 'UTC', '2027-02-28T00:00:00Z')).toBe('2027-03-31T00:00:00.000Z')
  })

  it('increase, have the requested local time, and are found in both directions', () => {
    fc.assert(
      fc.property(recurrences, fc.constantFrom(...zones), instants, (recurrence, zone, after) => {
        const planned = plannedAfter(recurrence, zone, after)
        expect(planned > after).toBe(true)
        // There is no run time in between, so looking back from just before it finds the previous one.
        expect(latestPlanned(recurrence, zone, planned)).toEqual(planned)
        const before = latestPlanned(recurrence, zone, new Date(planned.getTime() - 1))
        expect(before <= after).toBe(true)
        expect(plannedAfter(recurrence, zone, before)).toEqual(planned)
        if (recurrence.every === 'hour')
          expect(openZone(zone).wallTime(planned).getUTCMinutes()).toBe(recurrence.minute)
      }),
      { numRuns: 300 },
    )
  })

  it('are one per day of the year in a zone with clock changes', () => {
    const zone = openZone('Europe/Berlin')
    const dates = new Set<string>()
    let planned = new Date('2026-01-01T00:00:00Z')
    for (let days = 0; days < 365; days++) {
      planned = plannedAfter({ every: 'day', at: '02:30' }, 'Europe/Berlin', planned)
      dates.add(zone.wallTime(planned).toISOString().slice(0, 10))
    }
    expect(dates.size).toBe(365)
  })
})

describe('periods', () => {
  const schedule = (windowRule: WindowRule, coveredUntil: Date, settleMinutes: number) => ({
    windowRule,
    coveredUntil,
    settleMinutes,
    config: { timezone: 'Europe/Berlin' },
  })

  it('since the last run are contiguous, whatever was missed or failed', () => {
    const runs = fc.array(fc.record({ missed: fc.integer({ min: 0, max: 4 }), fails: fc.boolean() }), { maxLength: 20 })
    fc.assert(
      fc.property(
        recurrences,
        fc.constantFrom(...zones),
        instants,
        fc.integer({ min: 0, max: 3_000 }),
        runs,
        (recurrence, zone, start, settle, history) => {
          let covered = start
          let planned = start
          for (const { missed, fails } of history) {
            for (let skipped = 0; skipped <= missed; skipped++) planned = plannedAfter(recurrence, zone, planned)
            const window = windowOf(schedule({ kind: 'since_last_run' }, covered, settle), planned)
            if (!window) continue
            expect(window.since).toEqual(covered)
            expect(window.until.getTime()).toBe(planned.getTime() - settle * 60_000)
            expect(window.until > window.since).toBe(true)
            if (!fails) covered = window.until
          }
        },
      ),
      { numRuns: 200 },
    )
  })

  it('of days are calendar days, and are contiguous across clock changes', () => {
    const daily = { every: 'day', at: '00:00' } as const
    const lengths: number[] = []
    let planned = new Date('2026-03-27T12:00:00Z')
    let end: Date | undefined
    for (let days = 0; days < 4; days++) {
      planned = plannedAfter(daily, 'Europe/Berlin', planned)
      const window = windowOf(schedule({ kind: 'last', days: 1 }, planned, 0), planned)
      if (!window) throw new Error('no window')
      if (end) expect(window.since).toEqual(end)
      end = window.until
      lengths.push((window.until.getTime() - window.since.getTime()) / hourMs)
    }
    expect(lengths).toEqual([24, 24, 23, 24])
  })
})
