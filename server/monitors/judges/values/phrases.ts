import type { Token } from './tokens.ts'

/** Detects whether a number or time is complete, or whether the next word can be the thing that it counts. Pure. */

/** Words that can't be counted: `twenty-four fifty for two`, unlike `four fifteen year olds`. */
const uncounted = new Set(
  (
    'a about after again already also altogether an and are as at because before but by can could did do does each ' +
    'either exactly for from had has have he i if in instead is it just let maybe my no not now off okay ok on only or our ' +
    'per please plus right she since so sorry than thank thanks that the their then there they this though till to today ' +
    'together tomorrow tonight too total until was we were what when where which who will with would yeah yes yesterday ' +
    'you your monday tuesday wednesday thursday friday saturday sunday'
  ).split(' '),
)

const joining = '-/%$€£¥#+'

/** Returns whether a number that ends before a token doesn't count anything that follows. */
export const endsPhrase = (tokens: readonly Token[], end: number): boolean => {
  const next = tokens[end]
  if (!next) return true
  if (next.kind === 'digits') return false
  if (next.kind === 'mark') return !next.isGlued || !joining.includes(next.text)
  const [word = ''] = next.text.split("'")
  return uncounted.has(word)
}
