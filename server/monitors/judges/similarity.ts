// Compares texts by their words, to find the examples that are most similar to a conversation without asking a model.

/** The maximum number of characters to compare. */
const mostCompared = 20_000

/** The number of occurrences for each word in a text. */
export type Words = ReadonlyMap<string, number>

const wordForm = /[\p{L}\p{N}]{3,}/gu

export const wordsOf = (text: string): Words => {
  const counts = new Map<string, number>()
  for (const [word] of text.slice(0, mostCompared).toLowerCase().matchAll(wordForm)) {
    counts.set(word, (counts.get(word) ?? 0) + 1)
  }
  return counts
}

/** Returns the weight of a word. Repetitions add little. */
const weightOf = (count: number): number => 1 + Math.log(count)

const lengthOf = (words: Words): number => Math.hypot(...[...words.values()].map(weightOf))

/** Returns how similar two texts are, from 0 (no common word) to 1 (the same words). */
export const similarityOf = (one: Words, other: Words): number => {
  const [few, many] = one.size <= other.size ? [one, other] : [other, one]
  let product = 0
  for (const [word, count] of few) {
    const otherCount = many.get(word)
    if (otherCount !== undefined) product += weightOf(count) * weightOf(otherCount)
  }
  const length = lengthOf(one) * lengthOf(other)
  return length === 0 ? 0 : product / length
}
