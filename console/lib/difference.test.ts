import { describe, expect, it } from 'vitest'
import { differenceOf } from './difference.ts'

const textOf = (parts: ReturnType<typeof differenceOf>, without: 'removed' | 'added') =>
  parts
    .filter(({ kind }) => kind !== without)
    .map(({ text }) => text)
    .join('')

describe('differenceOf', () => {
  it('returns removed, added, and unchanged words', () => {
    expect(differenceOf('Say hello, then ask.', 'Say good day, then ask.')).toEqual([
      { kind: 'same', text: 'Say' },
      { kind: 'removed', text: ' hello' },
      { kind: 'added', text: ' good day' },
      { kind: 'same', text: ', then ask.' },
    ])
  })

  it.each([
    ['', ''],
    ['', 'a b'],
    ['a b', ''],
    ['a\n\n b  c', 'a\n b c\n'],
    ['one two three', 'three one two'],
  ])('contains both complete texts: %j and %j', (before, after) => {
    const parts = differenceOf(before, after)
    expect(textOf(parts, 'added')).toBe(before)
    expect(textOf(parts, 'removed')).toBe(after)
  })

  it('is fast for long texts without common words', () => {
    const [before, after] = ['a', 'b'].map((word) => Array.from({ length: 200_000 }, (_, at) => word + at).join(' '))
    const parts = differenceOf(before ?? '', after ?? '')
    expect(parts.map(({ kind }) => kind)).toEqual(['removed', 'added'])
  })
})
