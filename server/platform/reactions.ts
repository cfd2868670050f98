import type { Db, OrgId } from './db/database.ts'

type ErasedConversation = { id: string; externalId: string | null; startedAt: Date; agentId: string }

/**
 * The events of stored data that other resources follow. The resource that stores it calls `deps.reactions` in the same
 * transaction, and does not know its followers: `server/reactions.ts` lists them.
 */
export type Events = {
  conversationsStored: {
    /** Those that are new or changed. */
    conversationIds: string[]
    /** Those that are new. */
    createdIds: string[]
    /** Those that completed, or with a changed transcript. */
    toEvaluate: string[]
    /** Those with changed metrics, unless they are evaluated anyway. */
    measured: string[]
    /** Completed ones with other changes. */
    changedOtherwise: string[]
  }
  /** Just before they are deleted, while everything about them can still be read. The caller has locked them. */
  conversationsErasing: { conversationIds: string[]; conversations: ErasedConversation[] }
  /** They are deleted, and their external IDs are recorded as erased. */
  conversationsErased: { externalIds: string[] }
  /** Metrics of stored conversations changed. */
  metricsStored: { measured: string[] }
  resultsStored: { conversationIds: string[] }
  /** The monitor is marked as deleted and returns 404 from now on; its results still exist. */
  monitorDeleted: { monitorId: string }
  exportEnded: {
    id: string
    status: string
    errorCode: string | null
    config: Record<string, unknown>
    scheduleId: string | null
    experimentId: string | null
    createdByUserId: string
  }
  /** An incident was announced, or its end. */
  incidentAnnounced: {
    incidentId: string
    kind: 'opened' | 'resolved'
    ownerUserId: string | null
    /** Null if Earshot did it. */
    byUserId: string | null
  }
  /** The finding has a new assignee. */
  findingAssigned: { findingId: string; assigneeUserId: string; byUserId: string | null; at: Date }
  /** A comment that mentions people was written or edited. They may not be members. */
  peopleMentioned: {
    commentId: string
    on: { type: 'finding' | 'alertIncident'; id: string }
    userIds: string[]
    byUserId: string
  }
  /** People were added to the reviewers of a bucket. */
  reviewersAdded: { bucketId: string; userIds: string[]; byUserId: string; at: Date }
  /** The invited person has joined. */
  memberJoined: { memberId: string; userId: string; invitedByUserId: string | null }
  /** At least one, each for another person. */
  notificationsStored: { notifications: { id: string; userId: string }[] }
  notificationsRead: { userId: string }
  /** In the transaction that creates it, after its owner. */
  organizationCreated: object
  /** Just before it is deleted. */
  destinationDeleted: { destinationId: string }
  /** Just before the member's row is deleted. */
  memberRemoved: { userId: string }
}

export type Reactions = {
  [Event in keyof Events]: (trx: Db, org: OrgId, event: Events[Event]) => Promise<void>
}
