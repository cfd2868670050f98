// Limits the data behind a link to one company. Pure.

import type { AnalyticsQuery } from '../../analytics/query-schema.ts'

type Filter = NonNullable<AnalyticsQuery['filter']>

/**
 * Returns a chart's filter for one company. Returns undefined if the board or chart only selects other companies, so
 * that there is nothing to show.
 */
export const filterForCompany = (board: Filter, chart: Filter | undefined, companyId: string): Filter | undefined => {
  const filter = { ...board, ...chart }
  if (filter.companyIds && !filter.companyIds.some((id) => id.toLowerCase() === companyId)) return undefined
  return { ...filter, companyIds: [companyId] }
}
