import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ItemOutcome, itemOutcomes, type Scorecard, type ScorecardItem, type Total, totalOf } from './algebra.ts'

const points = fc.integer({ min: 1, max: 100_000 }).map((hundredths) => hundredths / 100)

const anItem = fc.record({
  points,
  notApplicable: fc.constantFrom('exclude' as const, 'full' as const, 'zero' as const),
  autoFail: fc.boolean(),
  outcome: fc.constantFrom(...itemOutcomes),
})

type Answered = { scorecard: Scorecard; outcomes: Map<string, ItemOutcome> }

/** A scorecard with an outcome for each item. Some have only passed and affected items, so that many have a score. */
const answered: fc.Arbitrary<Answered> = fc
  .record({
    sections: fc.array(fc.array(anItem, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 5 }),
    bands: fc.uniqueArray(fc.integer({ min: 1, max: 100 }), { maxLength: 4 }),
    affectedBelow: fc.integer({ min: 0, max: 100 }),
    isDecided: fc.boolean(),
  })
  .map(({ sections, bands, affectedBelow, isDecided }) => {
    const outcomes = new Map<string, ItemOutcome>()
    const decided = (outcome: ItemOutcome) =>
      isDecided && (outcome === 'unscored' || outcome === 'missing') ? 'passed' : outcome
    const scorecard: Scorecard = {
      sections: sections.map((items, section) => ({
        name: `Section ${section}`,
        items: items.map(({ outcome, ...item }, at) => {
          const monitorId = `${section}.${at}`
          outcomes.set(monitorId, decided(outcome))
          return { monitorId, ...item }
        }),
      })),
      bands: [0, ...bands.toSorted((a, b) => a - b)].map((from) => ({ name: `from ${from}`, from })),
      affectedBelow,
    }
    return { scorecard, outcomes }
  })

const totalWith = ({ scorecard, outcomes }: Answered, changed: Record<string, ItemOutcome> = {}): Total =>
  totalOf(scorecard, ({ monitorId }) => ({
    outcome: changed[monitorId] ?? outcomes.get(monitorId) ?? 'missing',
    version: 1,
  }))

const itemsOf = ({ scorecard }: Answered) => scorecard.sections.flatMap(({ items }) => items)
const outcomesOf = ({ outcomes }: Answered) => [...outcomes.values()]
const isAutoFailed = (one: Answered) =>
  itemsOf(one).some(({ monitorId, autoFail }) => autoFail && one.outcomes.get(monitorId) === 'affected')

/** Returns a number for comparisons. No score counts as less than any score. */
const worth = ({ score }: Total): number => score ?? -1

describe('the total of a scorecard', () => {
  it('is never raised by an item that is missing, unscored, or not applicable instead of passed', () => {
    fc.assert(
      fc.property(answered, fc.nat(), (one, at) => {
        const items = itemsOf(one)
        const { monitorId } = items[at % items.length] as ScorecardItem
        const passed = totalWith(one, { [monitorId]: 'passed' })
        for (const outcome of ['missing', 'unscored', 'not_applicable'] as const) {
          expect(worth(totalWith(one, { [monitorId]: outcome }))).toBeLessThanOrEqual(worth(passed))
        }
        const affected = totalWith(one, { [monitorId]: 'affected' })
        if (passed.score !== null) expect(worth(affected)).toBeLessThanOrEqual(passed.score)
      }),
      { numRuns: 2_000 },
    )
  })

  it('is between 0 and 100, and its sections add up', () => {
    fc.assert(
      fc.property(answered, (one) => {
        const { score, breakdown, isAffected } = totalWith(one)
        for (const { earned, possible, items } of breakdown.sections) {
          expect(earned).toBeGreaterThanOrEqual(0)
          expect(earned).toBeLessThanOrEqual(possible)
          expect(earned).toBeCloseTo(
            items.reduce((sum, item) => sum + item.earned, 0),
            6,
          )
        }
        if (score === null) {
          expect([isAffected, breakdown.band]).toEqual([null, null])
          return
        }
        expect(score).toBeGreaterThanOrEqual(0)
        expect(score).toBeLessThanOrEqual(100)
        expect(isAffected).toBe(score < one.scorecard.affectedBelow)
        expect(breakdown.band).toBe(one.scorecard.bands.findLast(({ from }) => from <= score)?.name)
      }),
      { numRuns: 2_000 },
    )
  })

  it('does not depend on the order of sections and items', () => {
    fc.assert(
      fc.property(answered, fc.integer(), (one, seed) => {
        const shuffled = <T>(list: T[]) =>
          list
            .map((item, at) => ({ item, key: Math.sin(seed + at * 7_919) }))
            .sort((a, b) => a.key - b.key)
            .map(({ item }) => item)
        const sections = shuffled(one.scorecard.sections).map((section) => ({
          ...section,
          items: shuffled(section.items),
        }))
        const { score, isAffected, isNotApplicable } = totalWith(one)
        const other = totalWith({ ...one, scorecard: { ...one.scorecard, sections } })
        expect(other).toMatchObject({ score, isAffected, isNotApplicable })
      }),
      { numRuns: 2_000 },
    )
  })

  it('is 0 if an item with automatic failure is affected, whatever the others are', () => {
    fc.assert(
      fc.property(answered, (one) => {
        const { score, breakdown } = totalWith(one)
        expect(breakdown.autoFailed.length > 0).toBe(isAutoFailed(one))
        if (isAutoFailed(one)) expect(score).toBe(0)
      }),
      { numRuns: 2_000 },
    )
  })

  it('has no score if and only if an item is undecided or all are excluded, and nothing has failed it', () => {
    fc.assert(
      fc.property(answered, (one) => {
        const { score, isNotApplicable } = totalWith(one)
        const isUndecided = outcomesOf(one).some((outcome) => outcome === 'missing' || outcome === 'unscored')
        expect(score === null).toBe(!isAutoFailed(one) && (isUndecided || isNotApplicable))
        const isExcluded = ({ monitorId, notApplicable }: ScorecardItem) =>
          one.outcomes.get(monitorId) === 'not_applicable' && notApplicable === 'exclude'
        expect(isNotApplicable).toBe(itemsOf(one).every(isExcluded))
      }),
      { numRuns: 2_000 },
    )
  })

  it('counts what is not applicable as its rule says', () => {
    const scorecard = (notApplicable: ScorecardItem['notApplicable']): Scorecard => ({
      sections: [
        {
          name: 'All',
          items: [
            { monitorId: 'a', points: 30, notApplicable, autoFail: false },
            { monitorId: 'b', points: 10, notApplicable, autoFail: false },
            { monitorId: 'c', points: 0.5, notApplicable, autoFail: false },
          ],
        },
      ],
      bands: [
        { name: 'Fail', from: 0 },
        { name: 'Pass', from: 80 },
      ],
      affectedBelow: 80,
    })
    const outcomes = new Map<string, ItemOutcome>([
      ['a', 'passed'],
      ['b', 'not_applicable'],
      ['c', 'affected'],
    ])
    const scores = (['exclude', 'full', 'zero'] as const).map((rule) => {
      const { score, breakdown } = totalWith({ scorecard: scorecard(rule), outcomes })
      const [section] = breakdown.sections
      return [score, section?.earned, section?.possible, breakdown.band]
    })
    expect(scores).toEqual([
      [(100 * 30) / 30.5, 30, 30.5, 'Pass'],
      [(100 * 40) / 40.5, 40, 40.5, 'Pass'],
      [(100 * 30) / 40.5, 30, 40.5, 'Fail'],
    ])
  })
})
