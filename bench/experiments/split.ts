// Simulates units that arrive in a given split, and measures how often and how soon a mismatch is reported.

import { pValueOf } from '../../server/statistics/mixtures.ts'
import { sampleRatio, splitChiSquare, splitLogE } from '../../server/statistics/sample-ratio.ts'
import { median } from '../servers.ts'
import { defineStudy, percent, shareOf, whole } from './study.ts'

const units = 10_000
/** Fewer units than this are not tested. */
const firstLook = 20
const level = 0.01

/** Throws unless the service confirms the result of the study. */
const requireMismatch = (seen: { a: number; b: number }, expectedA: number, smallestP: number): void => {
  const { status } = sampleRatio(seen, { expectedA, alpha: 0.05, smallestP })
  if (status !== 'mismatch') throw new Error(`The service would have said ${status}`)
}

export const split = defineStudy({
  title: 'Mismatched splits',
  about:
    'Units arrive with a true split, which may differ from the expected one. The split is checked after each of ' +
    '10,000 units from the twentieth on. The table shows the share of experiments in which a mismatch was ' +
    'reported, and the number of units after which half of the experiments had reported it. An ordinary ' +
    'chi-square test at the same level of 1% is shown for comparison.',
  runs: 1_000,
  settings: [
    { actual: 0.5, expected: 0.5 },
    { actual: 0.9, expected: 0.9 },
    { actual: 0.6, expected: 0.5 },
    { actual: 0.55, expected: 0.5 },
    { actual: 0.85, expected: 0.8 },
  ],
  run: ({ actual, expected }, random) => {
    const seen = { a: 0, b: 0 }
    let smallestP = 1
    let told: number | null = null
    let toldByChiSquare: number | null = null
    for (let count = 1; count <= units && (told === null || toldByChiSquare === null); count++) {
      seen[random() < actual ? 'a' : 'b'] += 1
      if (told === null) smallestP = Math.min(smallestP, pValueOf(splitLogE(seen, expected)))
      const enough = count >= firstLook && count * Math.min(expected, 1 - expected) >= 5
      if (!enough) continue
      if (told === null && smallestP < level) {
        told = count
        requireMismatch(seen, expected, smallestP)
      }
      if (splitChiSquare(seen, expected).p < level) toldByChiSquare ??= count
    }
    return { told, toldByChiSquare }
  },
  head: ['true split', 'expected', 'reported', 'half by', 'reported by chi-square', 'half by'],
  row: ({ actual, expected }, outcomes) => {
    const splitOf = (share: number) => `${Math.round(100 * share)}/${Math.round(100 * (1 - share))}`
    const alike = actual === expected
    const columns = (counts: (number | null)[]) => {
      const middle = median(counts.map((count) => count ?? Number.POSITIVE_INFINITY))
      return [percent(shareOf(counts, (count) => count !== null)), Number.isFinite(middle) ? whole(middle) : '–']
    }
    const told = outcomes.map((outcome) => outcome.told)
    const name = `told of ${splitOf(actual)} where ${splitOf(expected)} is expected`
    const judged = { name, share: shareOf(told, (count) => count !== null), runs: outcomes.length }
    return {
      cells: [
        splitOf(actual),
        splitOf(expected),
        ...columns(told),
        ...columns(outcomes.map((outcome) => outcome.toldByChiSquare)),
      ],
      judged: alike ? [{ ...judged, atMost: level }] : [],
    }
  },
})
