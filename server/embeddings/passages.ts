// Selects the passages of a conversation to embed: what the customer says, divided into a few parts of similar length.

import type { Turn, TurnRole } from '../transcripts/turn.ts'

export type Passage = { text: string; firstTurn: number; lastTurn: number }

export const mostPassages = 6
const wordsPerPassage = 40

/** Words that carry no meaning. Turns that only contain these words are skipped. */
const fillers = new Set(
  (
    'a ah alright and are bye cool fine good goodbye got great hello hey hi hm hmm i is it just mhm mm much nice no ' +
    'nope of oh ok okay perfect please right so sorry sure thank thanks that the uh uhm um very well yeah yep yes you'
  ).split(' '),
)

const words = /[\p{L}\p{N}\p{M}’']+/gu
/** Scripts without spaces. A word has about two characters on average. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u

const contentOf = (text: string): number => {
  let content = 0
  for (const [word] of text.matchAll(words)) {
    if (unspaced.test(word)) content += Math.ceil(word.length / 2)
    else if (!fillers.has(word.toLowerCase())) content += 1
  }
  return content
}

const leastContent = 2

type Piece = { text: string; words: number; turn: number }

/** Text without spaces, such as Japanese, is split into parts of at most this many characters. */
const parts = /\S{1,200}/gu
/** Longer words count as several words. */
const longestWord = 20
const charactersPerWord = 10

const sizeOf = (part: string): number => (part.length <= longestWord ? 1 : Math.ceil(part.length / charactersPerWord))

/** Splits a long text into pieces of similar length. */
const cut = (text: string, turn: number): Piece[] => {
  const all = text.match(parts) ?? []
  const total = all.reduce((sum, part) => sum + sizeOf(part), 0)
  const count = Math.ceil(total / wordsPerPassage)
  const pieces: (Piece | undefined)[] = []
  let [before, index] = [0, 0]
  for (const part of all) {
    while (before >= Math.round(((index + 1) * total) / count)) index += 1
    const piece = pieces[index]
    const size = sizeOf(part)
    pieces[index] = { text: piece ? `${piece.text} ${part}` : part, words: (piece?.words ?? 0) + size, turn }
    before += size
  }
  return pieces.filter((piece) => piece !== undefined)
}

const join = (pieces: Piece[]): Passage => ({
  text: pieces.map(({ text }) => text).join(' '),
  firstTurn: pieces[0]?.turn ?? 0,
  lastTurn: pieces.at(-1)?.turn ?? 0,
})

/** Joins consecutive short pieces. */
const group = (pieces: Piece[]): Passage[] => {
  const groups: Piece[][] = []
  let room = 0
  for (const piece of pieces) {
    if (piece.words > room) {
      groups.push([])
      room = wordsPerPassage
    }
    groups.at(-1)?.push(piece)
    room -= piece.words
  }
  return groups.map(join)
}

/** Selects `count` items at even distances, including the first and the last one. */
const spread = <T>(items: T[], count: number): T[] =>
  items.length <= count
    ? items
    : Array.from({ length: count }, (_, index) => items[Math.round((index * (items.length - 1)) / (count - 1))] as T)

type Said = { text: string; turn: number }

const saidBy = (turns: Turn[], roles: TurnRole[]): Said[] =>
  turns.flatMap(({ index, role, kind, text }) =>
    kind === 'message' && roles.includes(role) && text?.trim() ? [{ text, turn: index }] : [],
  )

/** Returns the customer's turns. If the customer says nothing, returns the turns of others. */
const saidIn = (turns: Turn[]): Said[] => {
  for (const roles of [['customer'], ['other'], ['agent', 'human_agent']] satisfies TurnRole[][]) {
    const said = saidBy(turns, roles)
    if (said.length > 0) return said
  }
  return []
}

/** Returns the passages of a conversation. The first one is the customer's first request. */
export const passagesOf = (turns: Turn[]): Passage[] => {
  const said = saidIn(turns)
  const withContent = said.filter(({ text }) => contentOf(text) >= leastContent)
  const pieces = (withContent.length > 0 ? withContent : said).flatMap(({ text, turn }) => cut(text, turn))
  const [first, ...others] = pieces
  return first ? [join([first]), ...spread(group(others), mostPassages - 1)] : []
}
