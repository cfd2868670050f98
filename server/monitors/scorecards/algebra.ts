/** Adds up the items of a scorecard. Pure: takes outcomes and returns a total. */

export type NotApplicableRule = 'exclude' | 'full' | 'zero'

export type ScorecardItem = {
  monitorId: string
  /** The version with the results that count. If missing, the newest version with a result counts. */
  version?: number
  points: number
  notApplicable: NotApplicableRule
  autoFail: boolean
}

export type Band = { name: string; from: number }

/** The stored form of a definition, with all defaults and with its bands in ascending order. */
export type Scorecard = {
  sections: { name: string; items: ScorecardItem[] }[]
  bands: Band[]
  affectedBelow: number
}

/** `unscored` includes failed evaluations. `missing` means that there is no result. */
export const itemOutcomes = ['passed', 'affected', 'not_applicable', 'unscored', 'missing'] as const
export type ItemOutcome = (typeof itemOutcomes)[number]

/** The outcome of an item. The version is null if there is no result and the item is not pinned to a version. */
export type ItemFound = { outcome: ItemOutcome; version: number | null }

type ScoredItem = {
  monitorId: string
  version: number | null
  points: number
  earned: number
  outcome: ItemOutcome
}

type ScoredSection = { name: string; earned: number; possible: number; items: ScoredItem[] }

/** The details of a scorecard's result. */
export type Breakdown = {
  /** Null if there is no score, or if the scorecard has no bands. */
  band: string | null
  /** The affected items that make the total 0. */
  autoFailed: string[]
  sections: ScoredSection[]
}

export type Total = {
  breakdown: Breakdown
  /** The score from 0 to 100. Null if it is undecided. */
  score: number | null
  isAffected: boolean | null
  /** Whether every item is excluded as not applicable. */
  isNotApplicable: boolean
}

/** Points have at most two decimal places. Integers add up exactly in any order. */
const hundredths = (points: number): number => Math.round(points * 100)
const pointsOf = (amount: number): number => amount / 100

const isUndecided = (outcome: ItemOutcome): boolean => outcome === 'unscored' || outcome === 'missing'

/** Returns the points that an item earns and its possible points, in hundredths of a point. */
const amountsOf = ({ points, notApplicable }: ScorecardItem, outcome: ItemOutcome) => {
  const full = hundredths(points)
  if (outcome === 'passed') return { earned: full, possible: full }
  if (outcome !== 'not_applicable') return { earned: 0, possible: full }
  if (notApplicable === 'exclude') return { earned: 0, possible: 0 }
  return { earned: notApplicable === 'full' ? full : 0, possible: full }
}

const sum = (amounts: number[]): number => amounts.reduce((total, amount) => total + amount, 0)

/** Returns the highest band that the score reaches. */
const bandOf = (bands: Band[], score: number | null): string | null =>
  score === null ? null : (bands.findLast(({ from }) => score >= from)?.name ?? null)

const scoreOf = (items: { outcome: ItemOutcome; earned: number; possible: number }[], isFailed: boolean) => {
  if (isFailed) return 0
  const possible = sum(items.map((item) => item.possible))
  if (possible === 0 || items.some(({ outcome }) => isUndecided(outcome))) return null
  return (100 * sum(items.map((item) => item.earned))) / possible
}

/**
 * Returns the total of a scorecard. If an item with automatic failure is affected, the total is 0. Otherwise, a single
 * undecided item leaves the whole scorecard without a score, so that missing results never raise it.
 */
export const totalOf = (
  { sections, bands, affectedBelow }: Scorecard,
  find: (item: ScorecardItem) => ItemFound,
): Total => {
  const counted = sections.map(({ name, items }) => ({
    name,
    items: items.map((item) => {
      const found = find(item)
      return { item, ...found, ...amountsOf(item, found.outcome) }
    }),
  }))
  const all = counted.flatMap(({ items }) => items)
  const autoFailed = all.flatMap(({ item, outcome }) => (item.autoFail && outcome === 'affected' ? item.monitorId : []))
  const score = scoreOf(all, autoFailed.length > 0)
  return {
    breakdown: {
      band: bandOf(bands, score),
      autoFailed,
      sections: counted.map(({ name, items }) => ({
        name,
        earned: pointsOf(sum(items.map(({ earned }) => earned))),
        possible: pointsOf(sum(items.map(({ possible }) => possible))),
        items: items.map(({ item, version, outcome, earned }) => ({
          monitorId: item.monitorId,
          version,
          points: item.points,
          earned: pointsOf(earned),
          outcome,
        })),
      })),
    },
    score,
    isAffected: score === null ? null : score < affectedBelow,
    isNotApplicable: all.every(({ possible }) => possible === 0),
  }
}
