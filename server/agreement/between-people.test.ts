import { describe, expect, it } from 'vitest'
import { commonest, fleissKappa, krippendorffsAlpha, withInterval } from './between-people.ts'

const once = (...counts: number[]) => ({ counts, times: 1 })

// J. L. Fleiss, Measuring nominal scale agreement among many raters, Psychological Bulletin 76 (1971), table 1: 30
// patients, each diagnosed by six psychiatrists: depression, personality disorder, schizophrenia, neurosis, other.
const patients = [
  '00060',
  '03003',
  '01401',
  '00006',
  '03030',
  '20400',
  '00402',
  '20310',
  '20040',
  '00006',
  '10050',
  '11040',
  '03300',
  '10050',
  '02031',
  '00501',
  '30012',
  '51000',
  '02040',
  '10203',
  '00006',
  '01050',
  '02013',
  '20040',
  '10041',
  '05010',
  '40002',
  '02040',
  '10500',
  '00006',
].map((row) => once(...[...row].map(Number)))

// K. Krippendorff, Computing Krippendorff's alpha-reliability (2011), section C: nominal data, four observers, twelve
// units, and missing data. Each row is an observer.
const observers = ['123321412...', '1233224125.3', '.3332342251.', '12332441251.']
const units = Array.from({ length: 12 }, (_, unit) => {
  const said = observers.map((row) => row[unit])
  return once(...['1', '2', '3', '4', '5'].map((value) => said.filter((one) => one === value).length))
})

describe('Fleiss’ kappa', () => {
  it('is 0.430 for the psychiatrists of Fleiss 1971', () => {
    const totals = [0, 1, 2, 3, 4].map((at) => patients.reduce((sum, { counts }) => sum + (counts[at] ?? 0), 0))
    expect(totals).toEqual([26, 26, 30, 55, 43])
    expect(fleissKappa(patients)).toBeCloseTo(0.43, 3)
  })

  it('is 1 for full agreement, and unknown if there is only one kind of answer, or none', () => {
    expect(fleissKappa([once(3, 0), once(0, 3)])).toBe(1)
    expect(fleissKappa([once(3, 0), once(3, 0)])).toBeNull()
    expect(fleissKappa([])).toBeNull()
  })
})

describe('an interval', () => {
  it('narrows with more units, and matches that of units counted together', () => {
    const few = withInterval(patients, fleissKappa)
    const many = withInterval(
      patients.map((unit) => ({ ...unit, times: 4 })),
      fleissKappa,
    )
    if (few?.low == null || few.high == null || many?.low == null || many.high == null) throw new Error('No interval')
    expect(few.low < few.value && few.value < few.high).toBe(true)
    // With four times as many units, the interval is half as wide. It is not exactly half, because leaving out one of
    // many units has a smaller effect.
    expect((many.high - many.low) / (few.high - few.low)).toBeCloseTo(0.5, 1)
    const apart = withInterval([once(2, 1), once(2, 1), once(0, 2), once(2, 0), once(3, 0)], krippendorffsAlpha)
    const together = withInterval(
      [{ counts: [2, 1], times: 2 }, once(0, 2), once(2, 0), once(3, 0)],
      krippendorffsAlpha,
    )
    expect(together?.value).toBeCloseTo(apart?.value ?? Number.NaN, 12)
    expect(together?.low).toBe(apart?.low)
  })

  it('has no bounds if only one unit is informative, and is missing if none is', () => {
    expect(withInterval([once(3, 0), once(0, 3)], fleissKappa)).toEqual({ value: 1, low: null, high: null })
    expect(withInterval([once(3, 0)], fleissKappa)).toBeNull()
  })
})

describe('Krippendorff’s alpha', () => {
  it('is 0.743 for the four observers of Krippendorff 2011', () => {
    expect(krippendorffsAlpha(units)).toBeCloseTo(0.743, 3)
  })

  it('is 1 for full agreement, and unknown if there is only one kind of answer, or no unit with two answers', () => {
    expect(krippendorffsAlpha([once(2, 0), once(0, 3)])).toBe(1)
    expect(krippendorffsAlpha([once(2, 0), once(3, 0)])).toBeNull()
    expect(krippendorffsAlpha([once(1, 0), once(0, 1)])).toBeNull()
  })

  it('counts equal units together', () => {
    const apart = [once(2, 1), once(2, 1), once(0, 2), once(2, 0)]
    const together = [{ counts: [2, 1], times: 2 }, once(0, 2), once(2, 0)]
    expect(krippendorffsAlpha(together)).toBeCloseTo(krippendorffsAlpha(apart) ?? Number.NaN, 12)
    expect(commonest(together)).toEqual([{ counts: [2, 1], times: 2 }])
  })
})
