// What the addresses of these pages hold. The filters are those of GET /v1/findings, each any of a comma list but tags,
// of which all must be there.

const filters = ['status', 'priority', 'assigneeUserId', 'findingType', 'monitorId', 'conversationId', 'tags'] as const

export type FindingsFilter = { [name in (typeof filters)[number]]?: string }

export type FindingsSearch = FindingsFilter & { layout?: 'list'; open?: string }

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

export const readFindingsSearch = (search: Record<string, unknown>): FindingsSearch => ({
  ...(search.layout === 'list' && { layout: 'list' }),
  // A number in an address is read as one.
  ...Object.fromEntries(
    filters
      .map((name) => [name, typeof search[name] === 'number' ? String(search[name]) : search[name]])
      .filter(([, value]) => isText(value)),
  ),
  ...(isText(search.open) && { open: search.open }),
})

export const filterOf = ({ layout: _, open: __, ...filter }: FindingsSearch): FindingsFilter => filter
