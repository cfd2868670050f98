import { describe, expect, it } from 'vitest'
import { drawing } from '../../../test/support/exports/random.ts'
import { makeTurns } from '../../../test/support/monitors/model-server.ts'
import { alter, forms, type Spoken, speak } from '../../../test/support/monitors/spoken-values.ts'
import type { FieldValue } from './definition.ts'
import { readFields } from './fields.ts'

/** Tests values that a model made up, or that differ slightly from the transcript, using a fixed seed. */

const seed = 20_261_126
const cases = 1_000

const starts = ['It was', 'I paid', 'They said', 'Put me down for', 'No, I meant', 'That would be']
const distractions = ['My number is 77.', 'I called twice, at nine thirty.', 'It is my 3rd call since June 2nd.', '']

type Case = { spoken: Spoken; turn: string; quote: string }

const draw = drawing(seed)

const makeCase = (at: number): Case => {
  const form = forms[at % forms.length]
  if (!form) throw new Error('There are no forms.')
  const spoken = speak(draw, form)
  const quote = `${draw.one(starts)} ${spoken.text}`
  return { spoken, quote, turn: `${draw.one(distractions)} ${quote}, as I told you. ${draw.one(distractions)}`.trim() }
}

const read = ({ spoken, turn }: Case, value: FieldValue, quote: string, number = 1): FieldValue => {
  const output = { type: 'extract' as const, fields: [{ key: 'value', type: spoken.type }] }
  const answer = { fields: { value }, evidence: [{ field: 'value', turn: number, quote }] }
  const found = readFields(output, answer, makeTurns('How can I help?', turn, 'Goodbye.'))
  if ('fault' in found) throw new Error(`${found.fault}: ${value}`)
  expect(found.unsupportedFields).toEqual(found.fields.value === null ? ['value'] : [])
  return found.fields.value ?? null
}

/** Changes a quote so that its turn does not contain it. */
const alterQuote = (quote: string): string => {
  const words = quote.split(' ')
  const at = draw.below(words.length)
  return draw.one([
    () => words.toSpliced(at, 1, `${words[at]}s`).join(' '),
    () => words.toSpliced(at, 0, 'really').join(' '),
    () => words.toSpliced(1, 1).join(' '),
    () => `${quote} exactly`,
    () => words.toReversed().join(' '),
  ])()
}

const all = Array.from({ length: cases }, (_, at) => makeCase(at))

describe(`of ${cases} answers (seed ${seed})`, () => {
  it('every true value is accepted', () => {
    const rejected = all.filter((one) => read(one, one.spoken.value, one.quote) !== one.spoken.value)
    expect(rejected.map(({ spoken, turn }) => `${spoken.value}: ${turn}`)).toEqual([])
  })

  it('no altered value is accepted, even if the rest of the turn contains it', () => {
    const accepted = all.flatMap((one) => {
      let value = alter(one.spoken, draw)
      while (one.spoken.readings.includes(value)) value = alter(one.spoken, draw)
      return read(one, value, one.quote) === null ? [] : [`${value}: ${one.quote}`]
    })
    expect(accepted).toEqual([])
  })

  it('no value with an altered or foreign quote is accepted', () => {
    const accepted = all.flatMap((one, at) => {
      const isForeign = at % 4 === 0
      const quote = isForeign ? one.quote : alterQuote(one.quote)
      return read(one, one.spoken.value, quote, isForeign ? 2 : 1) === null ? [] : [`${one.spoken.value}: ${quote}`]
    })
    expect(accepted).toEqual([])
  })
})
