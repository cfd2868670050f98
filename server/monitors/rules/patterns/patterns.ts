import { RE2JS, RE2JSException } from 're2js'
import { fold } from './fold.ts'
import { instructionsOf } from './re2-internals.ts'

/** Matches patterns in RE2 syntax. The time is linear in the length of the text. */

export type Pattern = {
  /**
   * Returns false if the pattern can't match. This is a quick check of a longer folded text before its parts are
   * searched.
   */
  mayOccurIn: (folded: string) => boolean
  occursIn: (text: string, folded?: string) => boolean
  /** Finds the first match. */
  find: (text: string, folded?: string) => { start: number; end: number } | undefined
  /** The size of the pattern, which determines the time needed to compile it and to read each character of the text. */
  steps: number
  /** Its maximum memory. */
  bytes: number
}

const maxPatternLength = 1_000
/** The limit for all repetition counts in a pattern together, because each one multiplies the pattern's length. */
const maxCounted = 1_000
/** The maximum number of steps of one pattern. */
const maxSteps = 3_000
/** The memory for the states of one pattern. When it is full, states are computed again. */
const stateBytes = 100_000
/** The maximum memory of a step. */
const stepBytes = 200

export class PatternFault extends Error {}

/** Returns whether a folded text contains the words that a pattern requires. */
type Needed = (folded: string) => boolean

/** A result of the engine's own analysis, which is missing from its types. */
type Required = { type: 0 | 1 | 2 | 3; str: string; subs: Required[] }

/**
 * Returns undefined if no words are required. If folding would change a literal, the literal can't be found in folded
 * text.
 */
const neededOf = ({ type, str, subs }: Required): Needed | undefined => {
  if (type === 1) return fold(str) === str ? (folded) => folded.includes(str) : undefined
  const needed = subs.map(neededOf)
  const known = needed.filter((one) => one !== undefined)
  if (type === 2) return known.length > 0 ? (folded) => known.every((one) => one(folded)) : undefined
  if (type === 3) return known.length === needed.length ? (folded) => known.some((one) => one(folded)) : undefined
  return undefined
}

/** Matches letters that stand for themselves, and syntax that must not change: escapes, names, flags, and classes. */
const tokens =
  /\\[pP]\{[^}]*\}|\\[pP].|\\x\{[^}]*\}|\\x..|\\Q[\s\S]*?(?:\\E|$)|\\[\s\S]|\(\?[^:)]*[:)>]|\[:\^?\w+:\]|[^\\([]+|[\s\S]/g

const foldPattern = (source: string): string =>
  source.replace(tokens, (token) => (/^(?:\\|\(\?|\[:)/.test(token) ? token : fold(token)))

const compile = (source: string, flags: number): RE2JS => {
  const engine = RE2JS.compile(source, flags)
  const { dfa } = engine.re2()
  dfa.stateBudget = stateBytes
  dfa.memBudget = stateBytes
  return engine
}

/**
 * Returns the required words. Analyzes the pattern without its case flag, because the engine only finds literals in
 * case-sensitive patterns.
 */
const neededBy = (source: string): Needed | undefined => {
  try {
    const required: Required | null = RE2JS.compile(foldPattern(source)).re2().prefilter
    return required ? neededOf(required) : undefined
  } catch (error) {
    // Folding can reverse a range, which makes a valid pattern invalid.
    if (error instanceof RE2JSException) return undefined
    throw error
  }
}

/** A class of letters can have a thousand ranges, but copies of the class share them. */
const rangesPerStep = 50

const stepsOf = (engine: RE2JS): number => {
  const instructions = instructionsOf(engine)
  const ranges = [...new Set(instructions.map(({ runes }) => runes))].reduce((sum, { length }) => sum + length / 2, 0)
  return instructions.length + Math.floor(ranges / rangesPerStep)
}

const checkSize = (source: string): void => {
  if (source.length > maxPatternLength) throw new PatternFault(`has more than ${maxPatternLength} characters`)
  if (source === '') throw new PatternFault('is empty and would match everything')
  let counted = 0
  for (const [, least = '', most] of source.matchAll(/\{(\d+)(?:,(\d*))?\}/g)) counted += Number(most || least)
  if (counted > maxCounted) throw new PatternFault(`repeats more than ${maxCounted} times`)
}

const onlyWords = /^[^\\^$.*+?()[\]{}|]+(?:\|[^\\^$.*+?()[\]{}|]+)*$/

/** Searches alternatives of plain words without the engine. */
const searchWords = (source: string): Pattern => {
  const words = source.split('|').map(fold)
  const occurs: Needed = (folded) => words.some((word) => folded.includes(word))
  return {
    mayOccurIn: occurs,
    occursIn: (text, folded = fold(text)) => occurs(folded),
    steps: source.length,
    bytes: source.length * 4,
    find: (text, folded = fold(text)) => {
      let first: { start: number; end: number } | undefined
      for (const word of words) {
        const start = folded.indexOf(word)
        if (start >= 0 && (!first || start < first.start)) first = { start, end: start + word.length }
      }
      return first
    },
  }
}

const searchBy = (engine: RE2JS, needed: Needed | undefined): Pattern => ({
  mayOccurIn: needed ?? (() => true),
  occursIn: needed ? (text, folded = fold(text)) => needed(folded) && engine.test(text) : (text) => engine.test(text),
  find: (text) => {
    const matcher = engine.matcher(text)
    return matcher.find() ? { start: matcher.start(), end: matcher.end() } : undefined
  },
  steps: stepsOf(engine),
  bytes: stateBytes + stepsOf(engine) * stepBytes,
})

/** Opens a pattern. Throws a PatternFault with a message that completes a sentence. */
export const openPattern = (source: string, { ignoreCase }: { ignoreCase: boolean }): Pattern => {
  checkSize(source)
  try {
    if (ignoreCase && onlyWords.test(source)) return searchWords(source)
    const engine = compile(source, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0)
    if (stepsOf(engine) > maxSteps) throw new PatternFault('is too large')
    return searchBy(engine, ignoreCase ? neededBy(source) : undefined)
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error
    throw new PatternFault(`is invalid: ${error.message.replace('error parsing regexp: ', '').replace('`(?i)', '`')}`)
  }
}
