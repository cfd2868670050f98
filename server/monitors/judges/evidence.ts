import type { Turn } from '../../transcripts/turn.ts'
import { cut } from './text.ts'
import { contentOf } from './transcript.ts'

export type Evidence = { turn: number; quote: string }

const mostQuotes = 10
const longestQuote = 500
/**
 * The maximum number of quotes to check, because a manipulated model can send thousands, and each has to be searched.
 */
const mostLookedFor = 50

/** Normalizes a text to composed characters and single spaces. */
const fold = (text: string): string => text.toWellFormed().normalize('NFC').replace(/\s+/gu, ' ').trim()

/**
 * Normalizes what models change when they copy: typographic marks, dashes, and case. The length stays the same, so that
 * positions match the text. (İ is the only character whose lower case is longer.)
 */
const plain = (folded: string): string =>
  folded
    .replace(/[‘’‚‛′`´]/g, "'")
    .replace(/[“”„‟″«»]/g, '"')
    .replace(/[‐‑‒–—―−]/g, '-')
    .replaceAll('İ', 'I')
    .toLowerCase()

/**
 * Returns the quotes that occur in the turn they refer to, in the turn's own spelling. Ignores white space, case, and
 * the form of quotation marks and dashes.
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
    // A quote without letters or digits occurs in nearly every turn and shows nothing.
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
