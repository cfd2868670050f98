import { expect, it } from 'vitest'
import { Fault } from '../api/fault.ts'
import { issuesOf } from './issues.ts'

const fault = (...issues: [path: string, message: string][]) =>
  new Fault({ status: 400, message: 'Not valid', issues: issues.map(([path, message]) => ({ path, message })) })

it('finds the monitors without a result and those that need a note, by the order of the judgments', () => {
  const error = fault(
    ['judgments[2].monitorId', 'has no result of this conversation'],
    ['judgments[0].comment', 'is required in this bucket'],
  )
  expect(issuesOf(error, ['a', 'b', 'c'])).toEqual({
    absent: ['c'],
    notes: { a: 'A note is required in this bucket.' },
  })
})

it('is undefined if there is another issue, so that the whole error is shown', () => {
  expect(
    issuesOf(fault(['judgments[0].comment', 'is required'], ['rating', 'must be at most 5']), ['a']),
  ).toBeUndefined()
  expect(issuesOf(fault(['judgments[0]', 'appears twice']), ['a'])).toBeUndefined()
  expect(issuesOf(fault(['judgments', 'must include monitor a']), ['a'])).toBeUndefined()
})

it('is undefined for errors without issues', () => {
  expect(issuesOf(new Fault({ status: 409, message: 'Gone' }), ['a'])).toBeUndefined()
  expect(issuesOf(new Error('offline'), ['a'])).toBeUndefined()
})
