// Generates vectors around those of real passages. The same seed always produces the same vectors.

import { seededRandom } from '../../test/malformed.ts'

const dimensions = 512
/** The maximum share of another passage, and of noise, to mix in. */
const [mostOther, mostNoise] = [0.7, 0.5]

/**
 * Returns a function that generates the next vector. Most vectors are close to only a few passages, as in real
 * conversations.
 */
export const openGenerator = (passages: Float32Array[], seed: number): (() => Float32Array) => {
  const random = seededRandom(seed)
  const uniform = () => random.below(1_000_000) / 1_000_000
  const frequent = () => passages[Math.floor(passages.length * uniform() ** 3)] ?? new Float32Array(dimensions)
  return () => {
    const [center, other] = [frequent(), random.pick(passages)]
    const [share, noise] = [mostOther * uniform(), (mostNoise * uniform()) / Math.sqrt(dimensions)]
    const vector = new Float32Array(dimensions)
    let squares = 0
    for (let at = 0; at < dimensions; at++) {
      // Uniform noise with the variance 1.
      const value = (center[at] as number) + share * (other[at] as number) + noise * (2 * uniform() - 1) * Math.sqrt(3)
      vector[at] = value
      squares += value * value
    }
    const factor = 1 / Math.sqrt(squares)
    for (let at = 0; at < dimensions; at++) vector[at] = (vector[at] as number) * factor
    return vector
  }
}
