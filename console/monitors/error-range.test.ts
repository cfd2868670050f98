import { expect, it } from 'vitest'
import { errorRange } from './error-range.ts'

const marked = (text: string, problem: string) => {
  const range = errorRange(text, problem)
  return range && text.slice(...range)
}

it('marks the word at the position in the message', () => {
  expect(marked('signals.toolFalures > 0', 'unknown field, line 1, column 1')).toBe('signals.toolFalures')
  expect(marked('true &&\n  turn.size() > 1', 'unknown name, line 2, column 3')).toBe('turn.size')
  expect(marked('a ? b', 'unexpected sign, line 1, column 3')).toBe('?')
})

it('marks the last character if the text ends too early', () => {
  expect(marked('a &&', 'unexpected end, line 1, column 5')).toBe('&')
  expect(marked('a &&\nb ||', 'unexpected end, line 2, column 99')).toBe('|')
  expect(errorRange('', 'unexpected end, line 1, column 1')).toEqual([0, 0])
})

it('marks nothing without a position', () => {
  expect(errorRange('true', 'is required')).toBeUndefined()
})
