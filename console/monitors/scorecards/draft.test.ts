import { expect, it } from 'vitest'
import { itemOf, readScorecard, scorecardDefinition, sharesOf } from './draft.ts'

const stored = {
  sections: [
    {
      name: 'Compliance',
      items: [
        { monitorId: 'a', version: 2, points: 7.5, notApplicable: 'full', autoFail: true },
        { monitorId: 'b', points: 2.5, notApplicable: 'exclude', autoFail: false },
      ],
    },
    { name: 'Tone', items: [{ monitorId: 'c', points: 30, notApplicable: 'zero', autoFail: false }] },
  ],
  bands: [
    { name: 'Fail', from: 0 },
    { name: 'Pass', from: 80 },
  ],
  affectedBelow: 80,
}

it('a stored scorecard keeps its definition in the form', () => {
  expect(scorecardDefinition(readScorecard(stored))).toEqual(stored)
})

it('a new scorecard has a section, two bands, and no items', () => {
  const draft = readScorecard({})
  expect(draft.sections).toEqual([{ name: 'Section 1', items: [] }])
  expect(draft.bands.map(({ from }) => from)).toEqual(['0', '80'])
  draft.sections[0]?.items.push(itemOf('a'))
  expect(readScorecard({}).sections[0]?.items).toEqual([])
})

it('sections have shares of all points', () => {
  expect(sharesOf(readScorecard(stored))).toEqual([
    { points: 10, share: 0.25 },
    { points: 30, share: 0.75 },
  ])
  expect(sharesOf(readScorecard({}))).toEqual([{ points: 0, share: 0 }])
})
