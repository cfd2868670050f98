import type { Turn } from '../../transcripts/turn.ts'
import { cut } from './text.ts'
import { contentOf } from './transcript.ts'
import { type Passage, passageOf } from './values/tokens.ts'

export type Evidence = { turn: number; quote: string; field?: string }

/** A quote that actually occurs in its turn, with all its occurrences. */
export type FoundQuote = { evidence: Evidence; passages: () => Passage[] }

const mostQuotes = 10
const longestQuote = 500
/**
 * The maximum number of quotes to check, because a manipulated model can send thousands, and each has to be searched.
 */
const mostLookedFor = 50

/** The number of characters to read around a quote, and the number to read of the quote itself. */
const around = 200
const longestPassage = 2_000
/** Occurrences of a short quote beyond this number are not worth reading. */
const mostPlaces = 5

/** Normalizes text to composed characters and single spaces. */
const fold = (text: string): string => text.toWellFormed().normalize('NFC').replace(/\s+/gu, ' ').trim()

/**
 * Normalizes characters that models change when they copy text: typographic marks, dashes, and case. The length stays
 * the same, so that positions match the text. (İ is the only character with a longer lowercase form.)
 */
const plain = (folded: string): string =>
  folded
    .replace(/[‘’‚‛′`´]/g, "'")
    .replace(/[“”„‟″«»]/g, '"')
    .replace(/[‐‑‒–—―−]/g, '-')
    .replaceAll('İ', 'I')
    .toLowerCase()

const openPassage = (own: string, at: number, length: number): Passage => {
  const from = Math.max(0, at - around)
  const end = at + Math.min(length, longestPassage)
  return passageOf(own.slice(from, end + around), at - from, end - from)
}

const placesOf = (text: string, wanted: string): number[] => {
  const places: number[] = []
  for (let at = text.indexOf(wanted); at >= 0 && places.length < mostPlaces; at = text.indexOf(wanted, at + 1)) {
    places.push(at)
  }
  return places
}

export type QuoteLimits = { most: number; mostSearched: number }

const limitsOfOne: QuoteLimits = { most: mostQuotes, mostSearched: mostLookedFor }

/** Counts each field's quotes within their limits. */
const openCounts = (limitsOf: (field: string | undefined) => QuoteLimits) => {
  const counts = new Map<string | undefined, { found: number; searched: number }>()
  const countsOf = (field: string | undefined) => {
    const known = counts.get(field) ?? { found: 0, searched: 0 }
    counts.set(field, known)
    return known
  }
  return {
    /** Returns whether another quote for a field can be searched, and counts it. */
    canSearch: (field: string | undefined): boolean => {
      const of = countsOf(field)
      const { most, mostSearched } = limitsOf(field)
      if (of.found >= most || of.searched >= mostSearched) return false
      of.searched++
      return true
    },
    addFound: (field: string | undefined): void => {
      countsOf(field).found++
    },
  }
}

/**
 * Returns the quotes that occur in the turns they refer to, with the turns' own spelling. Ignores white space, case,
 * and the style of quotation marks and dashes. The number of quotes is limited for each field.
 */
export const findQuotes = (
  given: readonly Evidence[],
  turns: readonly Turn[],
  limitsOf: (field: string | undefined) => QuoteLimits = () => limitsOfOne,
): FoundQuote[] => {
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
  const found = new Map<string, FoundQuote>()
  const { canSearch, addFound } = openCounts(limitsOf)
  for (const { turn, quote, field } of given) {
    if (!canSearch(field)) continue
    const wanted = plain(fold(quote))
    // A quote without letters or digits occurs in nearly every turn, and is not evidence.
    if (!/[\p{L}\p{N}]/u.test(wanted)) continue
    const content = contentOfTurn(turn)
    const places = content ? placesOf(content.plain, wanted) : []
    const [at] = places
    if (!content || at === undefined) continue
    const own = cut(content.own.slice(at, at + wanted.length), longestQuote).replaceAll('\0', '')
    const evidence = { turn, quote: own, ...(field !== undefined && { field }) }
    const id = `${turn} ${field ?? ''} ${own}`
    if (!found.has(id)) addFound(field)
    found.set(id, {
      evidence,
      passages: () => places.map((place) => openPassage(content.own, place, wanted.length)),
    })
  }
  return [...found.values()]
}

export const validEvidence = (given: readonly Evidence[], turns: readonly Turn[]): Evidence[] =>
  findQuotes(given, turns).map(({ evidence }) => evidence)
