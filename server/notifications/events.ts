// Notifies people of events. Each function handles one event, in the event's transaction.

import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import type { Events } from '../platform/reactions.ts'
import { notify } from './notify.ts'
import { deleteOfUser } from './queries.ts'

export const notifyOfIncident = (
  deps: Deps,
  trx: Db,
  org: OrgId,
  { incidentId, kind, ownerUserId, byUserId }: Events['incidentAnnounced'],
): Promise<void> =>
  notify(deps, trx, org, {
    kind: 'incident',
    event: kind,
    subjectType: 'alertIncident',
    subjectId: incidentId,
    eventKey: `incident/${incidentId}/${kind}`,
    actorUserId: byUserId,
    userIds: ownerUserId === null ? [] : [ownerUserId],
    andWhoWantAllIncidents: true,
  })

export const notifyAssignee = (
  deps: Deps,
  trx: Db,
  org: OrgId,
  { findingId, assigneeUserId, byUserId, at }: Events['findingAssigned'],
): Promise<void> =>
  notify(deps, trx, org, {
    kind: 'assignment',
    event: 'assigned',
    subjectType: 'finding',
    subjectId: findingId,
    // The time is part of the key, because someone can be assigned again later.
    eventKey: `finding/${findingId}/assigned/${at.toISOString()}`,
    actorUserId: byUserId,
    userIds: [assigneeUserId],
  })

export const notifyMentioned = (
  deps: Deps,
  trx: Db,
  org: OrgId,
  { commentId, on, userIds, byUserId }: Events['peopleMentioned'],
): Promise<void> =>
  notify(deps, trx, org, {
    kind: 'mention',
    event: 'mentioned',
    subjectType: on.type,
    subjectId: on.id,
    // Editing a comment only notifies people who were not mentioned before.
    eventKey: `comment/${commentId}/mentioned`,
    actorUserId: byUserId,
    userIds,
  })

/**
 * Notifies the person who created the export. A schedule's runs only notify people about failures. Nobody is notified
 * about an export that they cancelled themselves.
 */
export const notifyOfExport = async (
  deps: Deps,
  trx: Db,
  org: OrgId,
  { id, status, errorCode, scheduleId, kind, createdByUserId }: Events['exportEnded'],
): Promise<void> => {
  if (status !== 'completed' && status !== 'failed') return
  if (errorCode === 'cancelled' || (status === 'completed' && scheduleId !== null)) return
  await notify(deps, trx, org, {
    kind: 'export',
    event: status,
    subjectType: `${kind}Export`,
    subjectId: id,
    eventKey: `export/${id}/${status}`,
    actorUserId: null,
    userIds: [createdByUserId],
  })
}

export const notifyReviewers = (
  deps: Deps,
  trx: Db,
  org: OrgId,
  { bucketId, userIds, byUserId, at }: Events['reviewersAdded'],
): Promise<void> =>
  notify(deps, trx, org, {
    kind: 'review_request',
    event: 'requested',
    subjectType: 'bucket',
    subjectId: bucketId,
    eventKey: `bucket/${bucketId}/requested/${at.toISOString()}`,
    actorUserId: byUserId,
    userIds,
  })

export const notifyAssignedReviewer = (
  deps: Deps,
  trx: Db,
  org: OrgId,
  { bulkActionId, userId, byUserId }: Events['reviewsAssigned'],
): Promise<void> =>
  notify(deps, trx, org, {
    kind: 'review_request',
    event: 'requested',
    subjectType: 'bulkAction',
    subjectId: bulkActionId,
    eventKey: `bulk-action/${bulkActionId}/requested`,
    actorUserId: byUserId,
    userIds: [userId],
  })

export const notifyInviter = async (
  deps: Deps,
  trx: Db,
  org: OrgId,
  { memberId, userId, invitedByUserId }: Events['memberJoined'],
): Promise<void> => {
  if (invitedByUserId === null) return
  await notify(deps, trx, org, {
    kind: 'invitation',
    event: 'accepted',
    subjectType: 'member',
    subjectId: memberId,
    eventKey: `member/${memberId}/accepted`,
    actorUserId: userId,
    userIds: [invitedByUserId],
  })
}

export const deleteNotificationsOfMember = (
  _deps: Deps,
  trx: Db,
  org: OrgId,
  { userId }: Events['memberRemoved'],
): Promise<void> => deleteOfUser(trx, org, userId)
