/** The tab of the alerts page, and the status that filters its incidents. */
export type AlertsSearch = { tab?: 'rules'; status?: 'firing' | 'acknowledged' | 'resolved' }

const statuses = ['firing', 'acknowledged', 'resolved'] as const

export const readAlertsSearch = ({ tab, status }: Record<string, unknown>): AlertsSearch => {
  const known = statuses.find((each) => each === status)
  return { ...(tab === 'rules' && { tab }), ...(known && { status: known }) }
}

/** The monitor that a new rule watches. */
export type NewRuleSearch = { monitorId?: string }

export const readNewRuleSearch = ({ monitorId }: Record<string, unknown>): NewRuleSearch =>
  typeof monitorId === 'string' && monitorId !== '' ? { monitorId } : {}
