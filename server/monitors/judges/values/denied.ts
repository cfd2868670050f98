import { isMark, isWord, type Token } from './tokens.ts'

/** Detects whether the words before a value deny it. Pure. */

const denials = ['not', "isn't", "wasn't", "aren't", "weren't"]

/** Words and marks between a denial and the value. After other words, as in `not just 50`, the value can be true. */
const between = ['a', 'an', 'the', 'on', 'at', 'in', 'for', 'by', 'about', 'around', 'exactly', 'even']
const betweenMarks = '$€£¥-+"“”„'

/** In `why not 50` and `if not 50`, nothing is denied. */
const questions = ['why', 'if', 'or', 'whether']

/** Returns whether a value is denied, as in `not 50`, `it isn't on May 3rd`, and `not the red one`. */
export const isDenied = (tokens: readonly Token[], at: number): boolean => {
  let before = at - 1
  while (isWord(tokens[before], ...between) || isMark(tokens[before], betweenMarks)) before--
  return isWord(tokens[before], ...denials) && !isWord(tokens[before - 1], ...questions)
}
