import type { Turn } from '../../transcripts/turn.ts'
import type { ExtractOutput, Field, FieldValue, FieldValues } from './definition.ts'
import { type Evidence, type FoundQuote, findQuotes, type QuoteLimits } from './evidence.ts'
import { storable } from './text.ts'
import { isSupported } from './values/supported.ts'

/** The limits of a value, in characters and entries. */
const longestText = 1_000
const longestEntry = 200
const mostEntries = 100

const quotesOfField = 3
/** Each entry of a list can have its own quote. Several lists share the quotes that are checked. */
const quotesOfLists = 300
/** The maximum number of quotes that a result can store. */
const mostQuotes = 100

/** Returns the error if a value has the wrong type. */
const faultOfValue = ({ key, type, options = [] }: Field, value: NonNullable<FieldValue>): string | undefined => {
  const must = (what: string) => `fields.${key} must be ${what}`
  switch (type) {
    case 'number':
      return typeof value === 'number' ? undefined : must('a number')
    case 'boolean':
      return typeof value === 'boolean' ? undefined : must('true or false')
    case 'list':
      return Array.isArray(value) ? undefined : must('a list of strings')
    case 'enum':
      return typeof value === 'string' && options.includes(value) ? undefined : must(`one of ${options.join(', ')}`)
    case 'date':
    case 'string':
      return typeof value === 'string' ? undefined : must('a string')
  }
}

/** Returns a value truncated to its limits. An empty text or list counts as missing. */
const storedValue = (value: NonNullable<FieldValue>): FieldValue => {
  if (typeof value === 'string') return value.trim() === '' ? null : storable(value, longestText)
  if (!Array.isArray(value)) return value
  const entries = value.filter((entry) => entry.trim() !== '').slice(0, mostEntries)
  return entries.length === 0 ? null : entries.map((entry) => storable(entry, longestEntry))
}

type Answered = { fields: Record<string, FieldValue>; evidence: Evidence[] }
type Read = { fields: FieldValues; unsupportedFields: string[]; evidence: Evidence[] }

/**
 * Returns a field's value if its quotes support it, and whether it is unsupported. If the value is invalid, returns the
 * error.
 */
const readValue = (
  field: Field,
  { fields }: Answered,
  quotes: readonly FoundQuote[],
): { value: FieldValue; isUnsupported: boolean } | { fault: string } => {
  const { key } = field
  const given = Object.hasOwn(fields, key) ? fields[key] : undefined
  if (given === undefined) return { fault: `fields.${key} is required` }
  const fault = given === null ? undefined : faultOfValue(field, given)
  if (fault !== undefined) return { fault }
  const value = given === null ? null : storedValue(given)
  if (value === null) return { value, isUnsupported: false }
  const passages = quotes.flatMap((quote) => (quote.evidence.field === key ? quote.passages() : []))
  const isSaid = isSupported(field, value, passages)
  return { value: isSaid ? value : null, isUnsupported: !isSaid }
}

/** Returns the number of quotes that are checked for each field. */
const openLimits = ({ fields }: ExtractOutput) => {
  const lists = new Set(fields.flatMap(({ key, type }) => (type === 'list' ? [key] : [])))
  const ofList = Math.min(mostEntries, Math.floor(quotesOfLists / Math.max(1, lists.size)))
  return (field = ''): QuoteLimits => {
    const most = lists.has(field) ? ofList : quotesOfField
    return { most, mostSearched: most * 2 }
  }
}

/** Returns the quotes to store, in order. If there are too many, each field keeps its first ones. */
const storedQuotes = (quotes: readonly FoundQuote[]): Evidence[] => {
  const counts = new Map<string | undefined, number>()
  const ranked = quotes.map(({ evidence }, at) => {
    const rank = counts.get(evidence.field) ?? 0
    counts.set(evidence.field, rank + 1)
    return { evidence, rank, at }
  })
  const chosen = ranked.toSorted((a, b) => a.rank - b.rank).slice(0, mostQuotes)
  return chosen.toSorted((a, b) => a.at - b.at).map(({ evidence }) => evidence)
}

/** Reads the fields in an answer. A value that no quoted turn supports becomes null, and is listed as unsupported. */
export const readFields = (
  output: ExtractOutput,
  answer: Answered,
  turns: readonly Turn[],
): Read | { fault: string } => {
  const known = new Set(output.fields.map(({ key }) => key))
  const unknown = [...Object.keys(answer.fields), ...answer.evidence.map(({ field }) => field ?? '')].find(
    (key) => !known.has(key),
  )
  if (unknown !== undefined) return { fault: `there is no field ${unknown}` }
  const quotes = findQuotes(answer.evidence, turns, openLimits(output))
  const fields: FieldValues = {}
  const unsupportedFields: string[] = []
  for (const field of output.fields) {
    const read = readValue(field, answer, quotes)
    if ('fault' in read) return read
    fields[field.key] = read.value
    if (read.isUnsupported) unsupportedFields.push(field.key)
  }
  return { fields, unsupportedFields, evidence: storedQuotes(quotes) }
}
