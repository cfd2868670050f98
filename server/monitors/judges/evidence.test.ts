import { describe, expect, it } from 'vitest'
import { makeTurns } from '../../../test/support/monitors/model-server.ts'
import { validEvidence } from './evidence.ts'

const turns = makeTurns(
  'Good morning,  this is\n\tAcme. “How’s it going” – can I help?',
  'I’d like my €20 back.',
  'İstanbul ALWAYS ships cafe\u0301 cups 🙂 fast',
  { kind: 'tool_call', tool: { callId: null, name: 'refund', arguments: { amount: 20 }, result: null, isError: null } },
)

describe('a quote in the words of its turn is kept', () => {
  it.each([
    ['as it stands', 1, 'like my €20', 'like my €20'],
    ['white space folded', 0, '  this is Acme. ', 'this is Acme.'],
    ['straight marks for typographic ones', 0, '"How\'s it going" - can I help?', '“How’s it going” – can I help?'],
    ['typographic marks for straight ones', 1, 'I´d like', 'I’d like'],
    ['another case', 2, 'always SHIPS', 'ALWAYS ships'],
    [
      'after a letter with a longer lowercase form',
      2,
      'istanbul always ships café cups 🙂 fast',
      'İstanbul ALWAYS ships café cups 🙂 fast',
    ],
    ['of a tool call', 3, 'refund({"amount":20})', 'refund({"amount":20})'],
  ])('%s', (_, turn, quote, kept) => {
    expect(validEvidence([{ turn, quote }], turns)).toEqual([{ turn, quote: kept }])
  })
})

describe('a quote is dropped', () => {
  it.each([
    ['of another turn', 1, 'this is Acme'],
    ['of no turn', 4, 'this is Acme'],
    ['of a turn before the first', -1, 'this is Acme'],
    ['with a word changed', 1, 'like my €30'],
    ['with a word left out', 1, 'I’d my €20'],
    ['that is empty', 1, '  '],
    ['that is a mark', 1, '.'],
    ['of half of a pair', 2, 'cups \ud83d'],
  ])('%s', (_, turn, quote) => {
    expect(validEvidence([{ turn, quote }], turns)).toEqual([])
  })
})

it('quotes are limited in number and length, without duplicates, and can be stored', () => {
  const long = makeTurns(`a${'🙂'.repeat(1_000)}`, '0 1 2 3 4 5 6 7 8 9 10 11 12', 'be\0fore')
  const [quoted] = validEvidence([{ turn: 0, quote: `a${'🙂'.repeat(1_000)}` }], long)
  expect(quoted?.quote).toBe(`a${'🙂'.repeat(249)}`)
  const twice = Array.from({ length: 13 }, (_, at) => ({ turn: 1, quote: String(at) })).flatMap((one) => [one, one])
  expect(validEvidence(twice, long)).toHaveLength(10)
  expect(validEvidence([{ turn: 2, quote: 'be\0fore' }], long)).toEqual([{ turn: 2, quote: 'before' }])
})
