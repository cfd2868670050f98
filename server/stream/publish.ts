// Announces changes when data is stored, ends, or is deleted. Changes made by members are announced with their audit
// events.

import { type Change, type ChangeKind, publishChanges } from '../platform/changes/changes.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import type { Events } from '../platform/reactions.ts'

type Follow<Event extends keyof Events> = (_deps: Deps, trx: Db, org: OrgId, event: Events[Event]) => Promise<void>

const conversations = (kind: ChangeKind, ids: string[]) => ({ resource: 'conversations', kind, ids }) as const

export const publishStored: Follow<'conversationsStored'> = (_deps, trx, org, { conversationIds, createdIds }) => {
  const isNew = new Set(createdIds)
  const updated = conversationIds.filter((id) => !isNew.has(id))
  return publishChanges(trx, org, conversations('created', createdIds), conversations('updated', updated))
}

export const publishErased: Follow<'conversationsErasing'> = (_deps, trx, org, { conversationIds }) =>
  publishChanges(trx, org, conversations('deleted', conversationIds))

export const publishMeasured: Follow<'metricsStored'> = (_deps, trx, org, { measured }) =>
  publishChanges(trx, org, conversations('updated', measured))

export const publishSettled: Follow<'soundSettled'> = (_deps, trx, org, { conversationIds }) =>
  publishChanges(trx, org, conversations('updated', conversationIds))

export const publishTagged: Follow<'conversationsTagged'> = (_deps, trx, org, { conversationIds }) =>
  publishChanges(trx, org, conversations('updated', conversationIds))

export const publishResults: Follow<'resultsStored'> = (_deps, trx, org, { conversationIds }) =>
  publishChanges(trx, org, { resource: 'results', kind: 'created', ids: conversationIds })

export const publishNotifications: Follow<'notificationsStored'> = (_deps, trx, org, { notifications }) =>
  publishChanges(
    trx,
    org,
    ...notifications.map(
      ({ id, userId }): Change => ({ resource: 'notifications', kind: 'created', ids: [id], userIds: [userId] }),
    ),
  )

export const publishRead: Follow<'notificationsRead'> = (_deps, trx, org, { userId }) =>
  publishChanges(trx, org, { resource: 'notifications', kind: 'updated', userIds: [userId] })
