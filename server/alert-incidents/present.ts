import type { Db, OrgId } from '../platform/db/database.ts'
import { listTimeline, type StoredIncident } from './queries.ts'

/** Returns an incident in the API's format. */
export const presentIncident = (incident: StoredIncident) => {
  const { groupKey, groupLabel, reading, clearSince: _clearSince, notifiedAt: _notifiedAt, ...others } = incident
  const { routedDestinationIds: _routed, ...shown } = others
  const { value, interval, sample, text } = reading
  const group = groupKey === '' ? null : { key: groupKey, label: groupLabel }
  return { ...shown, group, text, value, interval, sample }
}

/** Returns an incident with its timeline. */
export const presentWithTimeline = async (db: Db, org: OrgId, incident: StoredIncident) => ({
  ...presentIncident(incident),
  timeline: (await listTimeline(db, org, incident.id)).map(({ kind, at, userId }) => ({ kind, at, userId })),
})
