import { redact } from './redaction.ts'
import { sideOf, type TimeSpan, union } from './signals/speech.ts'
import { nextStartsOfSpeakers } from './spoken-turns.ts'
import type { Turn } from './turn.ts'

/** Finds when the redacted words of a transcript are spoken, and words that it doesn't contain. */

/** The marks that replace redacted text. */
const marks = /(\[(?:email|phone|card|ssn|redacted)\])/u

/** A word in lowercase without punctuation, or null for redacted text. */
type Token = string | null

const tokensOf = (text: string): Token[] =>
  text.split(marks).flatMap((part, index) =>
    index % 2 === 1
      ? [null]
      : (part
          .normalize('NFKC')
          .toLowerCase()
          .match(/[\p{L}\p{M}\p{N}@']+/gu) ?? []),
  )

/** It is unknown which words with digits belong to a redacted number, so all of them count as redacted. */
const mayBeRedacted = (token: Token | undefined): boolean =>
  token === null || (token !== undefined && /[\p{Nd}@]/u.test(token))

/**
 * Returns whether the words match the text, with redacted words exactly where the text is redacted. If they don't, part
 * of a redacted number may be among the other words, for example if they spell it out.
 */
const areWordsOf = (text: Token[], words: Token[]): boolean => {
  let at = 0
  for (let next = 0; next < words.length; ) {
    if (mayBeRedacted(words[next])) {
      const first = at
      while (mayBeRedacted(words[next])) next++
      while (mayBeRedacted(text[at])) at++
      if (at === first) return false
    } else if (words[next++] !== text[at++]) return false
  }
  return at === text.length
}

type Spoken = Pick<Turn, 'text' | 'words'>

/** Returns whether any text in the turn is redacted. */
const isRedacted = ({ text, words }: Spoken): boolean =>
  [text ?? '', ...(words ?? []).map((word) => word.text)].some((each) => marks.test(each))

/** Returns whether the words of the turn are unknown, as in customers' turns in speech-to-speech mode. */
const isUnwritten = ({ text, words }: Spoken): boolean =>
  [text ?? '', ...(words ?? []).map((word) => word.text)].every((each) => each.trim() === '')

type Word = NonNullable<Turn['words']>[number]

/** Words with a duration of zero have no exact times. */
const isTimed = (word: Word): word is Word & TimeSpan =>
  word.startMs !== null && word.endMs !== null && word.endMs > word.startMs

/** Returns the spans of the redacted words, or undefined if the words have no reliable times. */
const spansOfWords = ({ text, words }: Spoken): TimeSpan[] | undefined => {
  if (words === null) return undefined
  const tokens = words.map((word) => ({ word, tokens: tokensOf(word.text) }))
  if (
    text !== null &&
    !areWordsOf(
      tokensOf(text),
      tokens.flatMap((each) => each.tokens),
    )
  )
    return undefined
  const redacted = tokens.filter((each) => each.tokens.some(mayBeRedacted)).map(({ word }) => word)
  return redacted.length > 0 && redacted.every(isTimed) ? redacted : undefined
}

/** The approximate precision of word times. */
const wordMarginMs = 250
/**
 * The precision of turn times. They are less precise, because sources detect the start and end of speech with a delay.
 */
const turnMarginMs = 500

const widened = ({ startMs, endMs }: TimeSpan, marginMs: number): TimeSpan => ({
  startMs: Math.max(0, startMs - marginMs),
  endMs: endMs + marginMs,
})

/** Returns the spans of a redacted turn, or undefined if its times are unknown. */
const spansOf = (turn: Turn, spoken: Spoken, nextStartMs: number): TimeSpan[] | undefined => {
  const ofWords = spansOfWords(spoken)
  if (ofWords) return ofWords.map((span) => widened(span, wordMarginMs))
  const startMs = turn.startMs ?? turn.words?.[0]?.startMs ?? null
  if (startMs === null) return undefined
  const endMs = turn.endMs ?? nextStartMs
  return endMs > startMs ? [widened({ startMs, endMs }, turnMarginMs)] : undefined
}

/** `untimed` is the index of the first turn that has redacted words, or no text, but no times. */
export type RedactedSpans = { spans: TimeSpan[] } | { untimed: number; isUnwritten?: true }

/**
 * Returns the times at which redacted words are spoken: the times of the words themselves if they have any, and
 * otherwise of the whole turn. Turns without text are redacted, because nobody knows what was said. An end of infinity
 * represents the end of the recording.
 */
export const redactedSpans = (turns: Turn[]): RedactedSpans => {
  const spans: TimeSpan[] = []
  const next = nextStartsOfSpeakers(turns)
  for (const [index, turn] of turns.entries()) {
    if (sideOf(turn) === undefined) continue
    // Redacts again, because an organization may redact recordings without redacting text. Redacted text does not
    // change.
    const spoken = redact({ text: turn.text, words: turn.words }) as Spoken
    const hasNoText = isUnwritten(spoken)
    if (!hasNoText && !isRedacted(spoken)) continue
    const found = spansOf(turn, spoken, next[index] ?? Number.POSITIVE_INFINITY)
    if (!found) return hasNoText ? { untimed: index, isUnwritten: true } : { untimed: index }
    spans.push(...found)
  }
  return { spans: union(spans.sort((a, b) => a.startMs - b.startMs)) }
}
