import Type, { type Static } from 'typebox'
import { Filter } from '../filters/filter.ts'
import { Sort } from '../filters/sort.ts'
import { Closed, Id, Name, Timestamp } from '../platform/http/schemas.ts'
import { Column } from './columns.ts'

const ViewName = { ...Name, examples: ['Refunds for gold customers'] }

/** The columns in the order in which they are shown. */
const columns = {
  type: ['array', 'null'],
  items: Column,
  minItems: 1,
  maxItems: 50,
  description: 'The columns in order. Null means the default columns.',
  examples: [[{ key: 'startedAt', width: 120 }, { key: 'metadata:plan' }]],
}
const Columns = Type.Unsafe<Static<typeof Column>[] | null>(columns)

const NullableSort = Type.Unsafe<Static<typeof Sort> | null>({
  ...Closed(Sort.properties),
  type: ['object', 'null'],
  description: 'The sort order. Null means latest start first.',
})

const Shared = Type.Boolean({
  description: 'Whether everyone in your organization can see the view. Otherwise, only its creator can.',
})

const IsDefault = Type.Boolean({ description: 'Whether your conversation list opens with this view.' })

export const SavedView = Closed(
  {
    id: Id,
    name: ViewName,
    filter: Filter,
    columns: Columns,
    sort: NullableSort,
    shared: Shared,
    isDefault: IsDefault,
    explanation: Type.String({
      description: 'Describes the filter in words.',
      examples: ['calls, mentioning “refund”, where plan is “gold”'],
    }),
    createdByUserId: Id,
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'SavedView' },
)

export const SavedViewCreate = Closed({
  name: ViewName,
  filter: Filter,
  columns: Type.Optional(Columns),
  sort: Type.Optional(NullableSort),
  shared: Type.Optional({ ...Shared, default: true }),
  isDefault: Type.Optional({ ...IsDefault, default: false }),
})

export const SavedViewUpdate = Closed(
  {
    name: Type.Optional(ViewName),
    filter: Type.Optional(Filter),
    columns: Type.Optional(Columns),
    sort: Type.Optional(NullableSort),
    shared: Type.Optional({
      ...Shared,
      description: 'Only the person who created a shared view can make it personal.',
    }),
    isDefault: Type.Optional(IsDefault),
  },
  { minProperties: 1 },
)
