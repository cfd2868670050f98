import { expect, it } from 'vitest'
import { mergeLists } from './merge-lists.ts'

const rows = (...days: number[]) => days.map((day) => ({ createdAt: `2026-11-0${day}` }))

it('shows the newest of both lists first', () => {
  expect(
    mergeLists([
      { rows: rows(5, 3), more: undefined },
      { rows: rows(4, 1), more: undefined },
    ]),
  ).toEqual(rows(5, 4, 3, 1))
})

it('holds back rows that rows of the other list may precede', () => {
  const more = () => undefined
  expect(
    mergeLists([
      { rows: rows(5, 3), more },
      { rows: rows(4, 1), more: undefined },
    ]),
  ).toEqual(rows(5, 4, 3))
  expect(
    mergeLists([
      { rows: rows(5, 3), more },
      { rows: [], more: undefined },
    ]),
  ).toEqual(rows(5, 3))
})
