import { isDeepStrictEqual } from 'node:util'
import type { Selection } from '../filters/queries.ts'
import type { StoredMonitor } from '../monitors/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { listSelectedAmong, type listSubjects } from './queries.ts'

export type Subject = Awaited<ReturnType<typeof listSubjects>>[number]

type Asked = (subject: Subject, monitor: StoredMonitor) => boolean

/**
 * Which monitors are asked of which conversations: those whose scope it is in and whose share takes it. The others make
 * no result at all. Scopes that are alike are looked up once, and an empty one never.
 */
export const findAsked = async (db: Db, org: OrgId, subjects: Subject[], monitors: StoredMonitor[]): Promise<Asked> => {
  const scopes: Selection[] = []
  const scopeAt = new Map<string, number>()
  for (const { id, scope } of monitors) {
    if (Object.keys(scope).length === 0) continue
    const known = scopes.findIndex((one) => isDeepStrictEqual(one, scope))
    scopeAt.set(id, known >= 0 ? known : scopes.push(scope) - 1)
  }
  const ids = subjects.map(({ id }) => id)
  const within = await listSelectedAmong(db, org, ids, scopes)
  return (subject, monitor) => {
    if (subject.samplePosition >= monitor.samplePercent) return false
    const at = scopeAt.get(monitor.id)
    return at === undefined || within[at]?.has(subject.id) === true
  }
}
