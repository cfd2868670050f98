import type { Evidence } from './outcome.ts'
import type { Pattern } from './patterns/patterns.ts'
import { isMentionedIn, type TurnList, type TurnValue } from './turns.ts'

/** What the text functions of a rule found while it was evaluated. One rule at a time. */

const mostQuotes = 5
const longestQuote = 200
/** Lists and patterns that are kept while a rule is evaluated; it may find far more of them than are quoted. */
const mostFound = 50

let found: { turns: TurnList; pattern: Pattern }[] = []

export const forget = (): void => {
  found = []
}

/** Says whether there was something, and remembers it if so. */
export const remember = (isFound: boolean, turns: TurnList | TurnValue, pattern: Pattern): boolean => {
  if (isFound && found.length < mostFound) found.push({ turns: Array.isArray(turns) ? turns : [turns], pattern })
  return isFound
}

const cut = (text: string): string => {
  if (text.length <= longestQuote) return text
  // Not through the middle of a character.
  const end = /[\ud800-\udbff]/.test(text.charAt(longestQuote - 1)) ? longestQuote - 1 : longestQuote
  return text.slice(0, end)
}

const quoteOf = ({ given: { index, text }, folded }: TurnValue, pattern: Pattern): Evidence | undefined => {
  const place = pattern.find(text, folded)
  if (!place) return undefined
  // A pattern that is content with nothing says of the turn that it is there.
  return { turn: index, quote: cut(place.end > place.start ? text.slice(place.start, place.end) : text) }
}

/** In the order of the turns. */
export const quotes = (): Evidence[] => {
  const quoted = new Map<string, Evidence>()
  for (const { turns, pattern } of found) {
    for (const turn of turns) {
      if (quoted.size === mostQuotes) break
      const one = isMentionedIn(turn, pattern) ? quoteOf(turn, pattern) : undefined
      if (one) quoted.set(`${one.turn} ${one.quote}`, one)
    }
  }
  return [...quoted.values()].sort((a, b) => a.turn - b.turn)
}
