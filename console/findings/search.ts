// The query parameters of these pages. The filters are those of GET /v1/findings. Each matches any value of a
// comma-separated list, except tags, which must all match.

const filters = ['status', 'priority', 'assigneeUserId', 'findingType', 'monitorId', 'conversationId', 'tags'] as const

export type FindingsFilter = { [name in (typeof filters)[number]]?: string }

export type FindingsSearch = FindingsFilter & { layout?: 'list'; open?: string }

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

export const readFindingsSearch = (search: Record<string, unknown>): FindingsSearch => ({
  ...(search.layout === 'list' && { layout: 'list' }),
  // The router parses numbers in the URL.
  ...Object.fromEntries(
    filters
      .map((name) => [name, typeof search[name] === 'number' ? String(search[name]) : search[name]])
      .filter(([, value]) => isText(value)),
  ),
  ...(isText(search.open) && { open: search.open }),
})

export const filterOf = ({ layout: _, open: __, ...filter }: FindingsSearch): FindingsFilter => filter
