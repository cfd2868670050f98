// Limits what a link shows to one company. Pure.

import type { AnalyticsQuery } from '../../analytics/query-schema.ts'

type Filter = NonNullable<AnalyticsQuery['filter']>

/**
 * Returns the filter of a chart for one company. Undefined if the board or chart only selects other companies, so that
 * it shows nothing.
 */
export const filterForCompany = (board: Filter, chart: Filter | undefined, companyId: string): Filter | undefined => {
  const filter = { ...board, ...chart }
  if (filter.companyIds && !filter.companyIds.some((id) => id.toLowerCase() === companyId)) return undefined
  return { ...filter, companyIds: [companyId] }
}
