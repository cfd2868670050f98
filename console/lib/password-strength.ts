// Rates a new password before it is sent, in the same way as the server. This file loads when someone types one.

import { lazyCode } from './lazy-code.ts'

export const leastLength = 12

type Rate = (password: string, known: string[]) => number

const load = async (): Promise<Rate> => {
  const [{ ZxcvbnFactory }, common, english] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
    import('@zxcvbn-ts/language-en'),
  ])
  const { 'wikipedia-en': _words, ...dictionaries } = english.dictionary
  const zxcvbn = new ZxcvbnFactory({
    dictionary: { ...common.dictionary, ...dictionaries },
    graphs: common.adjacencyGraphs,
    // A password with a strong start is strong, so only the start is rated. The time for rating grows steeply with
    // the length.
    maxLength: 32,
    l33tMaxSubstitutions: 8,
  })
  return (password, known) => zxcvbn.check(password, ['earshot', ...known]).score
}

const code = lazyCode(load)

/** Returns a score from 0 to 4. The server accepts 3 and 4. */
export const ratePassword = async (password: string, known: string[]): Promise<number> => {
  const words = known.flatMap((text) => [text, ...text.split(/[^\p{L}\p{N}]+/u)]).filter((word) => word.length > 2)
  const rate = await code.load()
  return rate(password, words)
}
