// Redacts transcripts and metadata in PHI mode before they are stored. Recognizes how people and software write
// addresses and numbers. Does not redact addresses in words ("ada at example dot com") or numbers that span several
// turns.

import { isObject } from '../platform/is-object.ts'
import { type JsonObject, nestedJson } from './json.ts'
import { isCard, redactNumbers } from './redaction-numbers.ts'

// Other scripts may not put a space next to an address, so only Latin letters continue Latin ones.
const latin = '\\p{sc=Latin}\\p{N}'
const any = '\\p{L}\\p{N}'
const inLocal = { latin: new RegExp(`[${latin}.!#$%&'*+/=?^_\`{|}~-]`, 'u'), any: new RegExp(`[${any}._%+-]`, 'u') }
const inDomain = { latin: new RegExp(`[${latin}.-]*`, 'uy'), any: new RegExp(`[${any}.-]*`, 'uy') }
const asLatin = /[\p{sc=Latin}\p{N}.!#$%&'*+/=?^_`{|}~-]/u
const wholeDomain = /^[^.-].*\.(?:xn--[a-z0-9-]+|\p{L}{2,})/isu

/**
 * Redacts email addresses. Searches in both directions from each @, so that every character is checked at most twice.
 */
const redactAddresses = (text: string): string => {
  const parts: string[] = []
  let done = 0
  for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', Math.max(at + 1, done))) {
    const local = asLatin.test(text.charAt(at - 1)) ? inLocal.latin : inLocal.any
    let start = at
    while (start > done && local.test(text.charAt(start - 1))) start--
    const label = asLatin.test(text.charAt(at + 1)) ? inDomain.latin : inDomain.any
    label.lastIndex = at + 1
    const domain = wholeDomain.exec(label.exec(text)?.[0] ?? '')?.[0]
    if (start === at || domain === undefined) continue
    parts.push(text.slice(done, start), '[email]')
    done = at + 1 + domain.length
  }
  return parts.length === 0 ? text : parts.join('') + text.slice(done)
}

/**
 * Redacts a string. A string that contains JSON, such as a tool's arguments, is redacted as JSON, so that it stays
 * valid.
 */
const redactText = (text: string): string => {
  const nested = nestedJson(text)
  if (nested) {
    const redacted = redact(nested)
    return redacted === nested ? text : JSON.stringify(redacted)
  }
  return redactNumbers(redactAddresses(text))
}

/**
 * Returns whether a number is a card number. Above 2^53, the last digits are lost, so the checksum does not work, but
 * most of the number is still there.
 */
const isCardNumber = (value: number): boolean => {
  if (!Number.isInteger(value) || value < 1e12 || value >= 1e19) return false
  return Number.isSafeInteger(value) ? isCard(String(value)) : /^[2-6]/.test(String(value))
}

const spokenAs = ['text', 'word', 'punctuated_word']

const wordOf = (word: unknown): string => {
  if (typeof word === 'string') return word
  const spoken = isObject(word) ? spokenAs.map((name) => word[name]).find((text) => typeof text === 'string') : ''
  return String(spoken ?? '')
}

const isWords = (name: string, list: unknown[]): boolean =>
  name === 'words' || (isObject(list[0]) && typeof list[0].word === 'string')

const maskText = (value: unknown): unknown =>
  typeof value === 'string' && /[\p{Nd}@]/u.test(value) ? '[redacted]' : value

const maskWord = (word: unknown): unknown => {
  if (!isObject(word)) return maskText(word)
  return mapObject(word, (value, name) => (spokenAs.includes(name) ? maskText(value) : value))
}

/**
 * Redacts the words in a turn, which can contain parts of a number ("555", "0100"). If their joined text, or the text
 * next to them, contains a number, redacts all words with digits, because it is unknown which of them belong to it.
 */
const redactWords = (words: unknown[], besideRedacted: boolean): unknown[] => {
  const redacted = mapList(words, redact)
  const spoken = words.map(wordOf).join(' ')
  return besideRedacted || redactText(spoken) !== spoken ? mapList(redacted, maskWord) : redacted
}

/** Returns the same list if nothing changed. */
const mapList = (list: unknown[], change: (value: unknown) => unknown): unknown[] => {
  const changed = list.map((value) => change(value))
  return changed.some((value, index) => value !== list[index]) ? changed : list
}

const mapObject = (object: JsonObject, change: (value: unknown, name: string) => unknown): JsonObject => {
  const entries = Object.entries(object)
  const changed = entries.map(([name, value]): [string, unknown] => [name, change(value, name)])
  return changed.some(([, value], index) => value !== entries[index]?.[1]) ? Object.fromEntries(changed) : object
}

const redactObject = (object: JsonObject): JsonObject => {
  let textRedacted = false
  const redacted = mapObject(object, (value, name) => {
    if (Array.isArray(value) && isWords(name, value)) return value
    const kept = redact(value)
    textRedacted ||= typeof value === 'string' && kept !== value
    return kept
  })
  return mapObject(redacted, (value, name) =>
    Array.isArray(value) && isWords(name, value) ? redactWords(value, textRedacted) : value,
  )
}

/**
 * Replaces every email address, phone number, card number, and social security number in the strings of a JSON value
 * with its kind, such as `[phone]`. Also replaces numbers that are card numbers, but does not change property names.
 * Returns the same value if there is nothing to redact. Recurses to the depth of the value, so the caller must limit
 * the depth.
 */
export const redact = (value: unknown): unknown => {
  if (typeof value === 'string') return redactText(value)
  if (typeof value === 'number') return isCardNumber(value) ? '[card]' : value
  if (Array.isArray(value)) return isWords('', value) ? redactWords(value, false) : mapList(value, redact)
  return isObject(value) ? redactObject(value) : value
}
