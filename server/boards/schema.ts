import Type, { type Static } from 'typebox'
import { AnalyticsQuery, EarlierPeriod } from '../analytics/query-schema.ts'
import { Filter } from '../filters/filter.ts'
import { Choice, Closed, Id, Name, Nullable, Page, Timestamp } from '../platform/http/schemas.ts'

const { measure, groupBy, interval } = AnalyticsQuery.properties

const compareTo = {
  ...EarlierPeriod,
  description:
    'previous_period: the preceding period of the same length; for the current week or month, the same part of the ' +
    'previous one. previous_year: the same period a year ago.',
}

const ChartQuery = Closed(
  {
    measure,
    filter: Type.Optional({
      ...Filter,
      description:
        'Its fields replace those of the board’s filter. Cannot contain `since`, `until`, or `period`, which the ' +
        'board sets.',
    }),
    groupBy,
    interval,
  },
  { title: 'BoardChartQuery', description: 'A query for `POST /v1/analytics/query`.' },
)

const kinds = ['line', 'bar', 'heatmap', 'table', 'number'] as const
const widths = ['third', 'half', 'full'] as const

const chart = {
  title: { ...Name, examples: ['Response latency'] },
  kind: Choice(kinds, {
    description:
      'line: over time, so the query needs an `interval`. bar: over time or by group. heatmap: by two groups. ' +
      'number: without groups or an interval.',
  }),
  width: Choice(widths, { description: 'How much of a row the chart takes up.' }),
  query: ChartQuery,
}

export const Chart = Closed({ id: Id, ...chart }, { title: 'BoardChart' })

const ChartInput = Closed({
  id: Type.Optional({ ...Id, description: 'Omit it to create a new chart.' }),
  ...chart,
})
export type ChartInput = Static<typeof ChartInput>
export type Chart = Static<typeof Chart>

const BoardName = { ...Name, examples: ['Front desk'] }
const Description = Type.String({ maxLength: 2_000, examples: ['What we look at every morning'] })
const BoardFilter = { ...Filter, description: 'Applies to all charts. Includes the period.' }

export const Board = Closed(
  {
    id: Id,
    name: BoardName,
    description: Nullable(Description),
    isBuiltIn: Type.Boolean({ description: 'Every organization has these boards. Duplicate one to change it.' }),
    filter: BoardFilter,
    compareTo: Nullable(compareTo),
    charts: Type.Array(Chart, { description: 'In reading order.' }),
    createdByUserId: Nullable(Id),
    createdAt: Nullable(Timestamp),
    updatedAt: Nullable(Timestamp),
  },
  { title: 'Board' },
)

export const BoardPage = Closed({
  ...Page(Board).properties,
  builtIn: Type.Array(Board, { description: 'The boards that every organization has, repeated on each page.' }),
})

const Charts = Type.Array(ChartInput, { maxItems: 24 })

export const BoardCreate = Closed(
  {
    name: BoardName,
    description: Type.Optional(Nullable(Description)),
    filter: Type.Optional({
      ...BoardFilter,
      description: 'Applies to all charts. Includes the period. Default: the last 30 days.',
    }),
    compareTo: Type.Optional(Nullable(compareTo)),
    charts: Type.Optional(Charts),
  },
  {
    examples: [
      {
        name: 'Front desk',
        filter: { channels: ['call'], period: { last: '30d' } },
        compareTo: 'previous_period',
        charts: [
          { title: 'Calls', kind: 'line', width: 'half', query: { measure: { kind: 'volume' }, interval: 'day' } },
        ],
      },
    ],
  },
)

export const BoardUpdate = Closed(
  {
    name: Type.Optional(BoardName),
    description: Type.Optional(Nullable(Description)),
    filter: Type.Optional(BoardFilter),
    compareTo: Type.Optional(Nullable(compareTo)),
    charts: Type.Optional({ ...Charts, description: 'All charts, in order.' }),
  },
  { minProperties: 1, examples: [{ name: 'Front desk' }] },
)

export const BoardDuplicate = Closed(
  { name: Type.Optional({ ...BoardName, description: 'Default: the board’s name with “copy”.' }) },
  { examples: [{ name: 'Front desk in Berlin' }] },
)
