// Announces changes to resources to all processes. Announcements contain names and IDs, but never content. The event
// streams in `server/stream` follow them.

import type { Db, OrgId } from '../db/database.ts'
import { longestNotice, notify } from '../db/notify.ts'
import { newId } from '../ids.ts'
import type { Resource } from './resources.ts'

const changeKinds = ['created', 'updated', 'deleted'] as const
export type ChangeKind = (typeof changeKinds)[number]

export type Change = {
  resource: Resource
  kind: ChangeKind
  /** The resources that changed. If missing, any resource of this kind may have changed. */
  ids?: string[]
  /** The only people who may learn about the change. */
  userIds?: string[]
}

/** The changes in one transaction, or as many of them as fit into a notification. */
export type Notice = { org: string; id: string; changes: Change[] }

export const changesChannel = 'earshot_changes'

/** If there are more IDs than this, all are omitted, because no page shows that many at once. */
const mostIds = 20
const idLength = 36

type Compact = [resource: Resource, kind: ChangeKind, ids: string[], userIds?: string[]]

const compact = ({ resource, kind, ids = [], userIds }: Change): Compact => {
  const named = ids.length > mostIds ? [] : ids
  return userIds ? [resource, kind, named, userIds] : [resource, kind, named]
}

/**
 * Returns the payloads of notifications: the organization, an ID, and JSON. Each payload is short enough for
 * PostgreSQL.
 */
const payloadsOf = (org: OrgId, changes: Change[]): string[] => {
  const room = longestNotice - 2 * idLength - '[]'.length
  const groups: string[][] = []
  let left = 0
  for (const change of changes) {
    const text = JSON.stringify(compact(change))
    if (text.length + 1 > room) throw new RangeError('A change names too many people.')
    if (groups.length === 0 || text.length + 1 > left) {
      groups.push([])
      left = room
    }
    groups.at(-1)?.push(text)
    left -= text.length + 1
  }
  return groups.map((group) => `${org}${newId()}[${group.join(',')}]`)
}

/** Returns the organization in a payload without parsing the payload. */
export const orgOfPayload = (payload: string): string => payload.slice(0, idLength)

export const readPayload = (payload: string): Notice => {
  // Only `payloadsOf` writes this JSON.
  const listed = JSON.parse(payload.slice(2 * idLength)) as Compact[]
  const changes = listed.map(
    ([resource, kind, ids, userIds]): Change => ({
      resource,
      kind,
      ...(ids.length > 0 && { ids }),
      ...(userIds && { userIds }),
    }),
  )
  return { org: orgOfPayload(payload), id: payload.slice(idLength, 2 * idLength), changes }
}

/** Announces changes in the transaction that makes them, so that nothing is announced unless it commits. */
export const publishChanges = async (trx: Db, org: OrgId, ...changes: Change[]): Promise<void> => {
  const some = changes.filter(({ ids }) => ids === undefined || ids.length > 0)
  for (const payload of payloadsOf(org, some)) await notify(trx, changesChannel, payload)
}
