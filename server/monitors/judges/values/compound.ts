import { isMark, type Token } from './tokens.ts'

/** Recognizes measures with two units, such as `5 feet 11` inches. Pure. */

const feet = ['foot', 'feet', 'ft']
const inches = ['inch', 'inches', 'in', '"']
const hours = ['hour', 'hours', 'hr', 'hrs', 'h']
const minutes = ['minute', 'minutes', 'min', 'mins']
const days = ['day', 'days']
const pounds = ['pound', 'pounds', 'lb', 'lbs']

const measures: [units: string[], smaller: string[]][] = [
  [feet, inches],
  [hours, minutes],
  [minutes, ['second', 'seconds', 'sec', 'secs']],
  [days, hours],
  [['week', 'weeks'], days],
  [
    ['year', 'years', 'yr', 'yrs'],
    ['month', 'months', 'week', 'weeks', ...days],
  ],
  [
    ['month', 'months'],
    ['week', 'weeks', ...days],
  ],
  [pounds, ['ounce', 'ounces', 'oz']],
  [['stone', 'stones', 'st'], pounds],
  [
    ['kilo', 'kilos', 'kg', 'kilogram', 'kilograms'],
    ['gram', 'grams', 'g'],
  ],
  [
    ['meter', 'meters', 'metre', 'metres', 'm'],
    ['centimeter', 'centimeters', 'centimetre', 'centimetres', 'cm'],
  ],
]

const isUnit = (token: Token | undefined, units: readonly string[]): boolean =>
  token !== undefined && token.kind !== 'digits' && units.includes(token.text)

/** Returns whether a token is a unit that can be followed by a smaller unit. */
export const canContinue = (token: Token | undefined): boolean => measures.some(([units]) => isUnit(token, units))

/** Returns whether the second unit continues the first one. */
export const continues = (first: Token | undefined, second: Token | undefined): boolean =>
  measures.some(([units, smaller]) => isUnit(first, units) && isUnit(second, smaller))

/** Skips `and` or a comma between the parts of a measure. */
export const afterJoin = (tokens: readonly Token[], at: number): number =>
  isMark(tokens[at], ',') || tokens[at]?.text === 'and' ? at + 1 : at
