// Turns texts in any language into vectors without a trained model. A hash assigns each word, and each short sequence
// of characters in a word, to a dimension. Texts are similar if they share words or parts of words.

import { dimensions } from './sentence-encoder.ts'

const words = /[\p{L}\p{N}\p{M}]+/gu
/** Scripts without spaces. Their characters are compared individually and in pairs. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u

const wordWeight = 2
const partWeight = 0.5

/** Returns a number that depends on all characters of a text (FNV-1a). */
const hashOf = (text: string): number => {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return (hash ^ (hash >>> 15)) >>> 0
}

const sequences = (symbols: string[], length: number): string[] =>
  Array.from({ length: Math.max(0, symbols.length - length + 1) }, (_, at) => symbols.slice(at, at + length).join(''))

type Weights = Map<string, number>

const addWord = (weights: Weights, word: string): void => {
  const add = (feature: string, weight: number) => weights.set(feature, (weights.get(feature) ?? 0) + weight)
  if (unspaced.test(word)) {
    const symbols = [...word]
    for (const symbol of symbols) add(symbol, partWeight)
    for (const pair of sequences(symbols, 2)) add(pair, wordWeight)
    return
  }
  const symbols = [...`<${word}>`]
  add(word, wordWeight)
  for (const length of [3, 4]) for (const part of sequences(symbols, length)) add(part, partWeight)
}

/** Returns the vector of a text. It has unit length, unless the text has no words. */
export const hashWords = (text: string): Float32Array => {
  const weights: Weights = new Map()
  for (const [word] of text.normalize('NFKC').toLowerCase().matchAll(words)) addWord(weights, word)
  const vector = new Float32Array(dimensions)
  for (const [feature, weight] of weights) {
    const hash = hashOf(feature)
    const at = hash % dimensions
    // The square root reduces the weight of repeated words. Random signs keep words apart that share a dimension.
    vector[at] = (vector[at] as number) + Math.sqrt(weight) * ((hash >>> 9) & 1 ? 1 : -1)
  }
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0))
  return length === 0 ? vector : vector.map((value) => value / length)
}
