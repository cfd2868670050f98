import { describe, expect, it } from 'vitest'
import { filterOfSide, lastVersions, searchOfChart, swapped, twoPeriods, withDates } from './sides.ts'

const group = (key: (string | null)[], n: number, isOther = false) => ({ key, n, isOther })

describe('the filter of a side', () => {
  it('has its version, or its agent, and its company, instead of those of both sides', () => {
    const both = { channels: ['call' as const], agentIds: ['leo'], companyIds: ['acme'] }
    expect(filterOfSide({}, both)).toEqual(both)
    expect(filterOfSide({ agent: 'mia' }, both)).toEqual({ ...both, agentIds: ['mia'] })
    expect(filterOfSide({ agent: 'mia', version: 'v2', company: 'bolt' }, both)).toEqual({
      channels: ['call'],
      agentVersionIds: ['v2'],
      companyIds: ['bolt'],
    })
  })

  it('gets the dates that were counted', () => {
    expect(withDates({ channels: ['chat'] }, { since: '2026-11-01', until: null })).toEqual({
      channels: ['chat'],
      since: '2026-11-01',
    })
    expect(withDates({}, null)).toEqual({})
  })
})

describe('the initial sides', () => {
  it('are the last two versions of the largest agent that has two', () => {
    expect(
      lastVersions([
        group(['leo', 'l1'], 900),
        group(['mia', 'm1'], 300),
        group(['mia', 'm3'], 20),
        group(['mia', 'm2'], 100),
        group(['mia', null], 70),
        group(['noa', 'n1'], 5),
        group(['noa', 'n2'], 5),
        group([null, null], 50, true),
      ]),
    ).toEqual({ a: { agent: 'mia', version: 'm2' }, b: { agent: 'mia', version: 'm3' } })
    expect(lastVersions([group(['leo', 'l1'], 900)])).toBeUndefined()
  })

  it('of a chart are its two periods, or its two largest groups', () => {
    const groups = [group([null], 9), group(['acme'], 7), group(['bolt'], 5), group([null], 2, true)]
    const drawn = { groupBy: ['company'], groups, filter: { period: { last: '7d' } }, compareTo: undefined }
    expect(searchOfChart({ ...drawn, compareTo: 'previous_year' }, 'UTC')).toEqual({
      a: { time: 'previous_year' },
      b: {},
      time: 'last:7d',
    })
    const october = { since: '2026-10-01T00:00:00.000Z', until: '2026-11-01T00:00:00.000Z' }
    expect(searchOfChart({ ...drawn, compareTo: october }, 'UTC')).toMatchObject({
      a: { time: '2026-10-01..2026-10-31' },
      b: {},
    })
    const sides = { a: { company: 'acme' }, b: { company: 'bolt' } }
    expect(searchOfChart(drawn, 'UTC')).toEqual({ ...sides, time: 'last:7d' })
    const filter = { channels: ['call' as const], agentIds: ['mia'] }
    expect(searchOfChart({ ...drawn, groupBy: ['channel'], filter }, 'UTC')).toEqual({
      agent: 'mia',
      filter: { channels: ['call'] },
    })
    expect(searchOfChart({ ...drawn, groupBy: undefined, filter: { agentIds: ['mia', 'leo'] } }, 'UTC')).toEqual({
      filter: { agentIds: ['mia', 'leo'] },
    })
  })
})

describe('swapping the sides', () => {
  it('keeps what each of them selects', () => {
    const [a, b] = [{ version: 'v1' }, { version: 'v2' }]
    expect(swapped({ a, b, time: undefined })).toEqual({ a: b, b: a })
    expect(swapped({ a: { ...a, time: 'last:7d' }, b, time: 'last:30d' })).toEqual({
      a: { ...b, time: 'last:30d' },
      b: a,
      time: 'last:7d',
    })
    expect(swapped({ ...twoPeriods('mia'), time: 'last:7d' })).toBeUndefined()
  })
})
