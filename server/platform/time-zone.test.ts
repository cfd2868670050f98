import { describe, expect, it } from 'vitest'
import { findTimeZone, isSameTimeZone } from './time-zone.ts'

describe('findTimeZone', () => {
  it.each([
    ['europe/berlin', 'Europe/Berlin'],
    ['AMERICA/ARGENTINA/BUENOS_AIRES', 'America/Argentina/Buenos_Aires'],
    ['asia/calcutta', 'Asia/Calcutta'],
    ['utc', 'UTC'],
    ['etc/gmt+5', 'Etc/GMT+5'],
    ['EST5EDT', 'EST5EDT'],
  ])('returns %s as %s', (written, name) => expect(findTimeZone(written)).toBe(name))

  it.each([
    'PST',
    'IST',
    'BST',
    'ACT',
    'SystemV/PST8PDT',
    'SystemV/AST4',
    '+02:00',
    'Factory',
    'Mars/Olympus',
    '',
    'constructor',
  ])('does not find %j', (written) => expect(findTimeZone(written)).toBeUndefined())

  it('finds every zone of the runtime', () => {
    expect(Intl.supportedValuesOf('timeZone').filter((name) => findTimeZone(name) !== name)).toEqual([])
  })
})

it.each([
  ['UTC', 'Etc/UTC', true],
  ['Asia/Kolkata', 'Asia/Calcutta', true],
  ['Europe/Berlin', 'Europe/Paris', false],
])('%s and %s are the same zone: %s', (a, b, same) => expect(isSameTimeZone(a, b)).toBe(same))
