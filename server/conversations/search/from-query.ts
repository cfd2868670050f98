import type { Static } from 'typebox'
import { Filter, parseFilter } from '../../filters/filter.ts'
import { ApiError, invalidAll } from '../../platform/errors.ts'
import { itemReader } from '../../platform/http/items.ts'
import type { ConversationQuery } from './schema.ts'

const readFilter = itemReader(Filter)

/** The properties of a filter that are lists, with their query parameters. */
const parameters = {
  agentIds: 'agentId',
  agentVersionIds: 'agentVersionId',
  agentGroupIds: 'agentGroupId',
  companyIds: 'companyId',
  channels: 'channel',
  directions: 'direction',
  statuses: 'status',
  tags: 'tag',
} as const

/** Returns the filter that the query parameters describe. Errors contain the parameter's name. */
export const filterFromQuery = (query: Static<typeof ConversationQuery>) => {
  const { since, until, customerId, text, reviewStatus, bucketId } = query
  const lists = Object.entries(parameters).map(([field, name]) => [field, query[name]?.split(',')])
  const single = { since, until, customerId, text, reviewStatus, bucketId }
  const given = Object.entries({ ...Object.fromEntries(lists), ...single })
  const filter = readFilter(Object.fromEntries(given.filter(([, value]) => value !== undefined)))
  if (!(filter instanceof ApiError)) return parseFilter(filter)
  const issues = filter.details?.issues ?? []
  throw invalidAll(
    issues.map(({ path, message }) => {
      const field = path.replace(/\[.*$/, '')
      return { path: parameters[field as keyof typeof parameters] ?? field, message }
    }),
  )
}
