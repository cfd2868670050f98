import type { Schemas } from '../api/schema.d.ts'
import { readFilter } from '../conversations/search.ts'

/** The tab of the alerts page, and the status by which its incidents are filtered. */
export type AlertsSearch = { tab?: 'rules'; status?: 'firing' | 'acknowledged' | 'resolved' }

const statuses = ['firing', 'acknowledged', 'resolved'] as const

export const readAlertsSearch = ({ tab, status }: Record<string, unknown>): AlertsSearch => {
  const known = statuses.find((each) => each === status)
  return { ...(tab === 'rules' && { tab }), ...(known && { status: known }) }
}

/** The monitor for a new rule, and its filter. */
export type NewRuleSearch = { monitorId?: string; filter?: Schemas['Filter'] }

export const readNewRuleSearch = ({ monitorId, filter }: Record<string, unknown>): NewRuleSearch => ({
  ...(typeof monitorId === 'string' && monitorId !== '' && { monitorId }),
  ...readFilter(filter),
})
