import Type from 'typebox'
import { Filter } from '../filters/filter.ts'
import { Closed, Id, Name, Timestamp } from '../platform/http/schemas.ts'

const ViewName = { ...Name, examples: ['Refunds of gold customers'] }

export const SavedView = Closed(
  {
    id: Id,
    name: ViewName,
    filter: Filter,
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

export const SavedViewCreate = Closed({ name: ViewName, filter: Filter })

export const SavedViewUpdate = Closed(
  { name: Type.Optional(ViewName), filter: Type.Optional(Filter) },
  { minProperties: 1 },
)
