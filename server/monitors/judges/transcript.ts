import { estimateTokens } from '../../model-providers/requests/estimate-tokens.ts'
import type { Turn } from '../../transcripts/turn.ts'

/**
 * Formats a transcript for the model, with one JSON object on each line. A text in JSON can't end its line or its
 * quotation marks. Angle brackets are escaped, so it can't close the transcript's tags either.
 */

const asText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null'))

const toolText = ({ kind, tool }: Turn): string => {
  if (!tool) return ''
  const name = tool.name ?? 'tool'
  if (kind === 'tool_call') return `${name}(${asText(tool.arguments)})`
  return `${name} ${tool.isError ? 'failed' : 'answered'}: ${asText(tool.result)}`
}

/** Returns all text in a turn that can be quoted. */
export const contentOf = (turn: Turn): string =>
  [turn.text ?? '', toolText(turn)].filter((part) => part !== '').join('\n')

/**
 * Matches text that would look like a tag or a new line, and characters that are invisible to people but not to models.
 */
const deceptive = /[<>\u0085\u2028\u2029\u202a-\u202e\u2066-\u2069]|[\u{e0000}-\u{e007f}]/gu

const escapeUnits = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('')

/** Formats a value as JSON on one line. No text in it can end the line or close a tag. */
export const asLine = (value: object): string => JSON.stringify(value).replace(deceptive, escapeUnits)

type LinePart = { number: number; of: number }

const quoteLine = ({ index, role, kind, startMs, interrupted }: Turn, text: string, part?: LinePart): string =>
  asLine({
    turn: index,
    ...(part && { part: `${part.number} of ${part.of}` }),
    role,
    ...(kind !== 'message' && { kind }),
    ...(startMs !== null && { atSeconds: Math.round(startMs / 100) / 10 }),
    ...(interrupted && { interrupted }),
    text,
  })

/**
 * Splits text into overlapping parts, so that text at a boundary is complete in one of them. Does not split surrogate
 * pairs.
 */
const cutIntoPieces = (text: string, length: number): string[] => {
  const overlap = Math.floor(length / 10)
  const pieces: string[] = []
  for (let from = 0; ; ) {
    let to = Math.min(text.length, from + length)
    if (to < text.length && isLowSurrogate(text, to)) to--
    pieces.push(text.slice(from, to))
    if (to === text.length) return pieces
    from = to - overlap
    if (isLowSurrogate(text, from)) from--
  }
}

const isLowSurrogate = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xdc00

type Line = { text: string; tokens: number }

const lineOf = (text: string): Line => ({ text, tokens: estimateTokens(text) + 1 })

/** Returns the lines of a turn. A turn that would fill more than half of a window is split. */
const linesOf = (turn: Turn, windowTokens: number): Line[] => {
  const content = contentOf(turn)
  if (content === '') return []
  const whole = lineOf(quoteLine(turn, content))
  if (whole.tokens <= windowTokens / 2) return [whole]
  // In the worst case, each character is escaped to six bytes, which count as two tokens.
  const pieces = cutIntoPieces(content, Math.floor(windowTokens / 6))
  return pieces.map((piece, at) => lineOf(quoteLine(turn, piece, { number: at + 1, of: pieces.length })))
}

/** The smallest window that has space for a section of a turn and its other properties. */
export const smallestWindowTokens = 500

/**
 * Splits the transcript into windows with a maximum number of tokens. Each window starts with the last lines of the
 * previous one, up to a tenth of a window, so that answers appear with their questions. No line is omitted.
 */
export const windowsOf = (turns: readonly Turn[], windowTokens: number): string[] => {
  const lines = turns.flatMap((turn) => linesOf(turn, windowTokens))
  const windows: string[] = []
  let window: Line[] = []
  let tokens = 0
  const close = () => windows.push(window.map(({ text }) => text).join('\n'))
  for (const line of lines) {
    if (tokens + line.tokens > windowTokens) {
      close()
      window = endOf(window, Math.min(windowTokens / 10, windowTokens - line.tokens))
      tokens = window.reduce((sum, kept) => sum + kept.tokens, 0)
    }
    window.push(line)
    tokens += line.tokens
  }
  if (window.length > 0) close()
  return windows
}

const endOf = (window: Line[], mostTokens: number): Line[] => {
  let from = window.length
  for (let left = mostTokens; from > 0; from--) {
    left -= window[from - 1]?.tokens ?? 0
    if (left < 0) break
  }
  return window.slice(from)
}
