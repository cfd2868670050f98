import type { Hints } from './draft.ts'
import { readTranscript } from './read-transcript.ts'

/** The first words of a conversation, read from the start of its transcript. */

/** The maximum length to read, in characters. */
export const mostRead = 16_384
const longest = 200

/** Strings, which may be cut off at the end of the text, and the marks outside them. */
const tokens = /"(?:[^"\\]|\\.)*("|$|\\$)|[[\]{},]/gs

type Scan = { stack: string[]; lastComma: number[]; inString: boolean }

/** Scans JSON up to the end of the text, and records the last comma of each open list. */
const scan = (text: string): Scan => {
  const stack: string[] = []
  const lastComma: number[] = []
  let inString = false
  for (const { 0: token, 1: end, index } of text.matchAll(tokens)) {
    inString = token.startsWith('"') && (end !== '"' || token.length === 1)
    if (token === '[' || token === '{') {
      stack.push(token)
      lastComma.push(-1)
    } else if (token === ']' || token === '}') {
      stack.pop()
      lastComma.pop()
    } else if (token === ',') lastComma[stack.length - 1] = index
  }
  return { stack, lastComma, inString }
}

/** Closes JSON that was cut off, after the last whole item of its outermost open list. */
const close = (text: string): string | undefined => {
  const { stack, lastComma, inString } = scan(text)
  if (stack.length === 0) return inString ? `${text.replace(/\\(u[\da-f]{0,3})?$/i, '')}"` : text
  const list = stack.findIndex((opening, depth) => opening === '[' && (lastComma[depth] ?? -1) >= 0)
  if (list < 0) return undefined
  const closing = stack.slice(0, list + 1).toReversed()
  return text.slice(0, lastComma[list]) + closing.map((opening) => (opening === '[' ? ']' : '}')).join('')
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const shorten = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  if (line.length <= longest) return line
  const cut = line.slice(0, longest)
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), longest / 2)).trimEnd()}…`
}

/**
 * Returns the customer's first message, or otherwise the first message, shortened. `start` is the start of the
 * transcript, or all of it unless `isCut`. Returns null if it contains no messages.
 */
export const excerptOf = (start: string, isCut: boolean, hints: Hints): string | null => {
  const json = isCut ? close(start) : start
  const reading = json === undefined ? undefined : readTranscript(parse(json), hints)
  if (!reading || !('turns' in reading)) return null
  const messages = reading.turns.filter(({ kind, text }) => kind === 'message' && text !== null && text.trim() !== '')
  const { text } = messages.find(({ role }) => role === 'customer') ?? messages[0] ?? {}
  return text ? shorten(text) : null
}
