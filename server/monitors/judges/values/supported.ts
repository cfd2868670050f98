import type { Field, FieldValue } from '../definition.ts'
import { datePartsOf, isDateValue, saysDate } from './dates.ts'
import { saysNumber } from './numbers.ts'
import { saysText } from './strings.ts'
import type { Passage } from './tokens.ts'

/**
 * Returns whether a field's quotes contain its value. True, false, and enum options are conclusions that quotes don't
 * have to contain.
 */
export const isSupported = ({ type }: Field, value: NonNullable<FieldValue>, quotes: readonly Passage[]): boolean => {
  const isSaid = (says: (quote: Passage) => boolean) => quotes.some(says)
  if (type === 'number') return isSaid((quote) => saysNumber(quote, Number(value)))
  if (type === 'date') {
    const date = String(value)
    return isDateValue(date) && datePartsOf(date).every((part) => isSaid((quote) => saysDate(quote, part)))
  }
  if (type === 'string' || type === 'list') {
    return [value].flat().every((text) => isSaid((quote) => saysText(quote, String(text))))
  }
  return quotes.length > 0
}
