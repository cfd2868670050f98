import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../test/malformed.ts'
import { codeOf, mostDifferentBits, project, quantize, similarityBetween } from './vectors.ts'

/** Returns a random unit vector, or one near to another. */
const randomVector = (seed: number, near?: Float32Array, distance = 0): Float32Array => {
  const random = seededRandom(seed)
  const uniform = () => random.below(1_000_000) / 1_000_000
  const normal = () => Math.sqrt(-2 * Math.log(uniform() || 1e-9)) * Math.cos(2 * Math.PI * uniform())
  const vector = Float32Array.from({ length: 512 }, (_, at) => (near?.[at] ?? 0) + normal() * (near ? distance : 1))
  const length = Math.hypot(...vector)
  return vector.map((value) => value / length)
}

const bitsBetween = (a: string, b: string): number => [...a].filter((bit, at) => bit !== b[at]).length

const seeds = fc.integer({ min: 1, max: 1_000_000 })

describe('stored vectors', () => {
  it('keep similarities', () => {
    fc.assert(
      fc.property(seeds, fc.double({ min: 0.005, max: 0.08, noNaN: true }), (seed, distance) => {
        const vector = randomVector(seed)
        const near = randomVector(seed + 1, vector, distance)
        const exact = similarityBetween(vector, near)
        expect(similarityBetween(quantize(vector), quantize(near))).toBeCloseTo(exact, 2)
        expect(similarityBetween(vector, quantize(near))).toBeCloseTo(exact, 2)
      }),
      { numRuns: 50 },
    )
  })

  it('keep the ranking', () => {
    const query = randomVector(1)
    const others = Array.from({ length: 200 }, (_, index) => randomVector(index + 2, query, 0.01 + index * 0.0005))
    const rank = (similarity: (other: Float32Array) => number) =>
      others
        .map((_, index) => index)
        .sort((a, b) => similarity(others[b] as Float32Array) - similarity(others[a] as Float32Array))
    const exact = rank((other) => similarityBetween(query, other)).slice(0, 10)
    const stored = rank((other) => similarityBetween(query, quantize(other))).slice(0, 10)
    expect(stored.filter((index) => exact.includes(index)).length).toBeGreaterThanOrEqual(9)
  })

  it('have codes with a distance that grows with the angle', () => {
    fc.assert(
      fc.property(seeds, fc.double({ min: 0.005, max: 0.08, noNaN: true }), (seed, distance) => {
        const vector = randomVector(seed)
        const near = randomVector(seed + 1, vector, distance)
        const expected = (512 * Math.acos(similarityBetween(vector, near))) / Math.PI
        expect(Math.abs(bitsBetween(codeOf(vector), codeOf(near)) - expected)).toBeLessThan(60)
      }),
      { numRuns: 50 },
    )
  })

  it('rarely have codes with more different bits than their similarity allows', () => {
    fc.assert(
      fc.property(seeds, fc.double({ min: 0.005, max: 0.08, noNaN: true }), (seed, distance) => {
        const vector = randomVector(seed)
        const near = randomVector(seed + 1, vector, distance)
        const most = mostDifferentBits(similarityBetween(vector, near))
        expect(bitsBetween(codeOf(vector), codeOf(near))).toBeLessThanOrEqual(most + 20)
      }),
      { numRuns: 50 },
    )
    expect([mostDifferentBits(1), mostDifferentBits(-1)]).toEqual([0, 512])
  })
})

describe('vectors of other lengths', () => {
  it('keep their angles approximately', () => {
    const random = seededRandom(7)
    const long = Array.from({ length: 3_072 }, () => random.below(1_000) / 500 - 1)
    const near = long.map((value) => value + random.below(1_000) / 1_000 - 0.5)
    const far = Array.from({ length: 3_072 }, () => random.below(1_000) / 500 - 1)
    expect(similarityBetween(project(long), project(near))).toBeCloseTo(similarityBetween(long, near), 0.8)
    expect(Math.abs(similarityBetween(project(long), project(far)))).toBeLessThan(0.2)
  })

  it('are padded if they are shorter', () => {
    const projected = project([3, 4])
    expect(projected).toHaveLength(512)
    expect(similarityBetween(projected, project([30, 40]))).toBeCloseTo(1)
  })
})
