import Type, { type Static } from 'typebox'
import type { Issue } from '../../platform/errors.ts'
import { Choice, Closed, Id } from '../../platform/http/schemas.ts'
import type { Scorecard } from './algebra.ts'

/** Defines the schema and the stored form of scorecard definitions. */

const mostSections = 20
const mostItems = 100
const mostBands = 20

const Label = Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' })
const Percent = Type.Number({ minimum: 0, maximum: 100 })

const Item = Closed({
  monitorId: Id,
  version: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })),
  points: Type.Number({ exclusiveMinimum: 0, maximum: 1_000, multipleOf: 0.01 }),
  notApplicable: Type.Optional(Choice(['exclude', 'full', 'zero'])),
  autoFail: Type.Optional(Type.Boolean()),
})

export const ScorecardDefinition = Closed({
  sections: Type.Array(Closed({ name: Label, items: Type.Array(Item, { minItems: 1, maxItems: mostItems }) }), {
    minItems: 1,
    maxItems: mostSections,
  }),
  bands: Type.Optional(Type.Array(Closed({ name: Label, from: Percent }), { maxItems: mostBands })),
  affectedBelow: Percent,
})

export type GivenScorecard = Static<typeof ScorecardDefinition>

/** Returns every item in a definition with its path. */
export const itemsOf = <I>({ sections }: { sections: { items: I[] }[] }): { path: string; item: I }[] =>
  sections.flatMap(({ items }, section) =>
    items.map((item, at) => ({ path: `definition.sections[${section}].items[${at}]`, item })),
  )

const bandIssues = (bands: NonNullable<GivenScorecard['bands']>): Issue[] => {
  const issues = (['name', 'from'] as const).flatMap((name) => {
    const values = bands.map((band) => band[name])
    return values.flatMap((value, at) =>
      values.indexOf(value) < at
        ? [{ path: `definition.bands[${at}].${name}`, message: 'is used by an earlier band' }]
        : [],
    )
  })
  if (bands.length > 0 && !bands.some(({ from }) => from === 0))
    issues.push({ path: 'definition.bands', message: 'must contain a band from 0' })
  return issues
}

/** Returns the errors that a definition's schema can't detect. */
export const scorecardIssues = (definition: GivenScorecard): Issue[] => {
  const items = itemsOf(definition)
  const ids = items.map(({ item }) => item.monitorId.toLowerCase())
  const issues = items.flatMap(({ path }, at) =>
    ids.indexOf(ids[at] ?? '') < at ? [{ path: `${path}.monitorId`, message: 'is used by an earlier item' }] : [],
  )
  if (items.length > mostItems)
    issues.push({ path: 'definition.sections', message: `must have at most ${mostItems} items in total` })
  return [...issues, ...bandIssues(definition.bands ?? [])]
}

/** Returns the stored form of a definition. */
export const completeScorecard = ({ sections, bands = [], affectedBelow }: GivenScorecard): Scorecard => ({
  sections: sections.map(({ name, items }) => ({
    name,
    items: items.map(({ monitorId, version, points, notApplicable = 'exclude', autoFail = false }) => ({
      monitorId: monitorId.toLowerCase(),
      ...(version !== undefined && { version }),
      points,
      notApplicable,
      autoFail,
    })),
  })),
  bands: bands.toSorted((a, b) => a.from - b.from).map(({ name, from }) => ({ name, from })),
  affectedBelow,
})
