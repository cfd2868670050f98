import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { seededRandom } from '../../../test/malformed.ts'
import { openKernel } from '../../platform/matrices/kernel.ts'
import { assignCells, bytesFor, learnCenters } from './cluster.ts'

const code = readFileSync(new URL('../../../dist/voice/kernel.wasm', import.meta.url))

it('learns the groups of vectors, and sorts vectors into them', () => {
  const random = seededRandom(3)
  const [groups, each] = [6, 40]
  const centers = Array.from({ length: groups }, () => Array.from({ length: 512 }, () => random.below(200) - 100))
  const groupOf = (index: number) => index % groups
  const vectors = new Int8Array(groups * each * 512)
  for (let index = 0; index < groups * each; index++) {
    const center = centers[groupOf(index)] ?? []
    vectors.set(
      center.map((value) => value + random.below(21) - 10),
      index * 512,
    )
  }
  const learned = learnCenters(openKernel(code, { bytes: bytesFor(8) }), vectors, 8)
  const assigned = assignCells(openKernel(code, { bytes: bytesFor(8) }), vectors, learned)
  // A cell must not contain vectors of different groups.
  const groupsOf = new Map<number, Set<number>>()
  for (const [index, cell] of assigned.entries()) {
    groupsOf.set(cell, (groupsOf.get(cell) ?? new Set()).add(groupOf(index)))
  }
  expect([...groupsOf.values()].map((some) => some.size)).toEqual(Array.from(groupsOf, () => 1))
  expect(groupsOf.size).toBeGreaterThanOrEqual(groups)
})
