import type { Evidence } from './outcome.ts'
import type { Pattern } from './patterns/patterns.ts'
import { isMentionedIn, type TurnList, type TurnValue } from './turns.ts'

/** Collects the text matches of a rule while it is evaluated. Only one rule is evaluated at a time. */

const mostQuotes = 5
const longestQuote = 200
/** The maximum number of matches to collect. There can be far more than are ever quoted. */
const mostFound = 50

let found: { turns: TurnList; pattern: Pattern }[] = []

export const forget = (): void => {
  found = []
}

/** Records a match. Returns `isFound`. */
export const remember = (isFound: boolean, turns: TurnList | TurnValue, pattern: Pattern): boolean => {
  if (isFound && found.length < mostFound) found.push({ turns: Array.isArray(turns) ? turns : [turns], pattern })
  return isFound
}

const cut = (text: string): string => {
  if (text.length <= longestQuote) return text
  // The end must not split a character.
  const end = /[\ud800-\udbff]/.test(text.charAt(longestQuote - 1)) ? longestQuote - 1 : longestQuote
  return text.slice(0, end)
}

const quoteOf = ({ given: { index, text }, folded }: TurnValue, pattern: Pattern): Evidence | undefined => {
  const place = pattern.find(text, folded)
  if (!place) return undefined
  // A pattern that matches empty text still shows that the turn exists.
  return { turn: index, quote: cut(place.end > place.start ? text.slice(place.start, place.end) : text) }
}

/** Returns the quotes in the order of their turns. */
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
