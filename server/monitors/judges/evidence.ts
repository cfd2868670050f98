import type { Turn } from '../../transcripts/turn.ts'
import { cut } from './text.ts'
import { contentOf } from './transcript.ts'

export type Evidence = { turn: number; quote: string }

const mostQuotes = 10
const longestQuote = 500
/** A model that was led astray can send thousands; each is looked for. */
const mostLookedFor = 50

/** Composed characters, and every run of white space one blank. */
const fold = (text: string): string => text.toWellFormed().normalize('NFC').replace(/\s+/gu, ' ').trim()

/**
 * What models change when they copy: typographic marks, dashes and case. Each character becomes one of the same length,
 * so that a place in this is the same place in the text (İ is the only one whose lower case is longer).
 */
const plain = (folded: string): string =>
  folded
    .replace(/[‘’‚‛′`´]/g, "'")
    .replace(/[“”„‟″«»]/g, '"')
    .replace(/[‐‑‒–—―−]/g, '-')
    .replaceAll('İ', 'I')
    .toLowerCase()

/**
 * Of the quotes that a model gives, those whose words stand in the turn that it names, in the turn's own spelling. White
 * space, case and the form of quotation marks and dashes do not count; the words and their order do.
 */
export const validEvidence = (given: readonly Evidence[], turns: readonly Turn[]): Evidence[] => {
  const byIndex = new Map(turns.map((turn) => [turn.index, turn]))
  const folded = new Map<number, { own: string; plain: string }>()
  const contentOfTurn = (index: number) => {
    const turn = byIndex.get(index)
    if (turn && !folded.has(index)) {
      const own = fold(contentOf(turn))
      folded.set(index, { own, plain: plain(own) })
    }
    return folded.get(index)
  }
  const valid = new Map<string, Evidence>()
  for (const { turn, quote } of given.slice(0, mostLookedFor)) {
    const wanted = plain(fold(quote))
    // A mark alone stands in nearly every turn and shows nothing.
    if (!/[\p{L}\p{N}]/u.test(wanted)) continue
    const content = contentOfTurn(turn)
    const at = content?.plain.indexOf(wanted) ?? -1
    if (!content || at < 0) continue
    const own = cut(content.own.slice(at, at + wanted.length), longestQuote).replaceAll('\0', '')
    valid.set(`${turn} ${own}`, { turn, quote: own })
    if (valid.size === mostQuotes) break
  }
  return [...valid.values()]
}
