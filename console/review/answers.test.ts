import { describe, expect, it } from 'vitest'
import { type Answers, agrees, answersOf, changeOf, describeAgreement, isEmpty, requiresNote } from './answers.ts'

type Result = Parameters<typeof describeAgreement>[1][number]
type Bucket = Parameters<typeof requiresNote>[0]

// These objects have only the fields that the functions read.
const found = (monitorId: string, result: Result['result']) => ({ monitorId, result }) as Result
const bucket = (blind: boolean, noteOnDisagreement: boolean) => ({ blind, noteOnDisagreement }) as Bucket

const answers = (judged: Answers['judged'] = {}, notes = ''): Answers => ({ judged, notes, rating: null })

describe('saved answers', () => {
  it('are sent as they were loaded', () => {
    const review = {
      rating: 4,
      notes: 'Polite.',
      judgments: [
        { monitorId: 'a', monitorVersion: 1, correctResult: 'affected', comment: 'Said so.' },
        { monitorId: 'b', monitorVersion: 1, correctResult: 'unsure', comment: null },
      ],
    } as Parameters<typeof answersOf>[0]
    expect(changeOf(answersOf(review), ['a', 'b'])).toEqual({
      rating: 4,
      notes: 'Polite.',
      judgments: [
        { monitorId: 'a', correctResult: 'affected', comment: 'Said so.' },
        { monitorId: 'b', correctResult: 'unsure', comment: null },
      ],
    })
  })

  it('omit monitors without an answer and those that are not asked', () => {
    const given = answers({
      a: { correctResult: 'affected', comment: ' ' },
      b: { correctResult: undefined, comment: 'Not sure yet' },
      c: { correctResult: 'affected', comment: '' },
    })
    expect(changeOf(given, ['b', 'a']).judgments).toEqual([
      { monitorId: 'a', correctResult: 'affected', comment: null },
    ])
  })

  it('are empty without a rating, notes, and judgments', () => {
    expect(isEmpty(changeOf(answers({}, '  '), ['a']))).toBe(true)
    expect(isEmpty(changeOf({ ...answers(), rating: 1 }, []))).toBe(false)
    expect(isEmpty(changeOf(answers({}, 'Hm.'), []))).toBe(false)
  })
})

describe('an answer', () => {
  it('agrees or disagrees only if both are certain', () => {
    expect(agrees('affected', found('a', 'affected'))).toBe(true)
    expect(agrees('not_affected', found('a', 'affected'))).toBe(false)
    expect(agrees('unsure', found('a', 'affected'))).toBeUndefined()
    expect(agrees('affected', found('a', null))).toBeUndefined()
    expect(agrees('affected', undefined)).toBeUndefined()
    expect(agrees(undefined, found('a', 'affected'))).toBeUndefined()
  })

  it('needs a note on disagreement, if the bucket requires one', () => {
    const disagreeing = answers({ a: { correctResult: 'not_affected', comment: '' } })
    const agreeing = answers({ a: { correctResult: 'affected', comment: '' } })
    const result = found('a', 'affected')
    expect(requiresNote(bucket(false, true), disagreeing, 'a', result)).toBe(true)
    expect(requiresNote(bucket(false, true), agreeing, 'a', result)).toBe(false)
    expect(requiresNote(bucket(false, false), disagreeing, 'a', result)).toBe(false)
    expect(requiresNote(bucket(false, true), answers(), 'a', result)).toBe(false)
  })

  it('needs a note even on agreement in a blind bucket, so that the request does not reveal the result', () => {
    const agreeing = answers({ a: { correctResult: 'affected', comment: '' } })
    expect(requiresNote(bucket(true, true), agreeing, 'a', undefined)).toBe(true)
  })

  it('needs no other note if one is written on the judgment or the review', () => {
    const onJudgment = answers({ a: { correctResult: 'not_affected', comment: 'It was a joke.' } })
    const onReview = answers({ a: { correctResult: 'not_affected', comment: '' } }, 'See turn 5.')
    for (const given of [onJudgment, onReview]) {
      expect(requiresNote(bucket(false, true), given, 'a', found('a', 'affected'))).toBe(false)
    }
  })
})

describe('a completed review', () => {
  const nameOf = (id: string) => `Monitor ${id}`

  it('is compared with the monitors', () => {
    const both = answers({
      a: { correctResult: 'affected', comment: '' },
      b: { correctResult: 'affected', comment: '' },
    })
    expect(describeAgreement(both, [found('a', 'affected')], nameOf)).toBe(
      'Review completed. You agree with the monitor.',
    )
    expect(describeAgreement(both, [found('a', 'affected'), found('b', 'affected')], nameOf)).toBe(
      'Review completed. You agree with the monitors.',
    )
    expect(describeAgreement(both, [found('a', 'affected'), found('b', 'not_affected')], nameOf)).toBe(
      'Review completed. You disagree with the monitor on Monitor b: not affected.',
    )
  })

  it('is not compared without results', () => {
    expect(
      describeAgreement(answers({ a: { correctResult: 'unsure', comment: '' } }), [found('a', 'affected')], nameOf),
    ).toBe('Review completed.')
    expect(describeAgreement(answers(), [], nameOf)).toBe('Review completed.')
  })
})
