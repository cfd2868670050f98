import type { Db, OrgId } from './db/database.ts'

type ErasedConversation = { id: string; externalId: string | null; startedAt: Date; agentId: string }

/**
 * The events about stored data that other resources follow. The resource that stores the data calls `deps.reactions` in
 * the same transaction, and does not know its followers. `server/reactions.ts` lists them.
 */
export type Events = {
  conversationsStored: {
    /** New or changed conversations. */
    conversationIds: string[]
    /** New or changed conversations, and others with changed metrics. */
    conversations: { startedAt: Date }[]
    /** New conversations. */
    createdIds: string[]
    /** Conversations that were completed, or that have a changed transcript. */
    toEvaluate: string[]
    /** Conversations with changed metrics, unless they are evaluated anyway. */
    measured: string[]
    /** Completed conversations with other changes. */
    changedOtherwise: string[]
  }
  /** The vectors of conversations were stored. The first passage of a conversation is the customer's first request. */
  conversationsEmbedded: { firstPassages: { conversationId: string; model: number; vector: Uint8Array }[] }
  /** The conversations are about to be deleted, and all their data can still be read. The caller has locked them. */
  conversationsErasing: { conversationIds: string[]; conversations: ErasedConversation[] }
  /** The conversations were deleted, and their external IDs are recorded as erased. */
  conversationsErased: { externalIds: string[] }
  /** A conversation received a recording, or a different one than before. */
  recordingStored: { conversationId: string }
  /** The agent's settings for recordings have changed. */
  recordingPolicyChanged: { agentId: string }
  /** The sound of conversations was measured, or it is known that it can't be. */
  soundSettled: { conversationIds: string[] }
  /** The metrics of stored conversations have changed. */
  metricsStored: { measured: string[] }
  /** The tags of conversations have changed. */
  conversationsTagged: { conversationIds: string[] }
  resultsStored: { conversationIds: string[]; monitorIds: string[] }
  /** The monitor is marked as deleted. It returns 404 from now on, but its results still exist. */
  monitorDeleted: { monitorId: string }
  exportEnded: {
    id: string
    status: string
    errorCode: string | null
    config: Record<string, unknown>
    scheduleId: string | null
    kind: 'monitor' | 'conversation' | 'experiment'
    experimentId: string | null
    createdByUserId: string
  }
  /** The start or end of an incident was announced. */
  incidentAnnounced: {
    incidentId: string
    kind: 'opened' | 'resolved'
    ownerUserId: string | null
    /** Null if Earshot itself did it. */
    byUserId: string | null
  }
  /** The finding has a new assignee. */
  findingAssigned: { findingId: string; assigneeUserId: string; byUserId: string | null; at: Date }
  /** A comment that mentions people was written or edited. The people may not be members. */
  peopleMentioned: {
    commentId: string
    on: { type: 'finding' | 'alertIncident'; id: string }
    userIds: string[]
    byUserId: string
  }
  /** People were added as reviewers of a bucket. */
  reviewersAdded: { bucketId: string; userIds: string[]; byUserId: string; at: Date }
  /** A bulk action has given a person reviews of conversations. */
  reviewsAssigned: { bulkActionId: string; userId: string; byUserId: string }
  /** The invited person has joined. */
  memberJoined: { memberId: string; userId: string; invitedByUserId: string | null }
  /** Notifications were stored: at least one, and at most one for each person. */
  notificationsStored: { notifications: { id: string; userId: string }[] }
  notificationsRead: { userId: string }
  /** The organization and its owner were just created in the same transaction. */
  organizationCreated: object
  /** The destination is about to be deleted. */
  destinationDeleted: { destinationId: string }
  /** The address of the model provider has changed. */
  modelProviderMoved: { providerId: string }
  /** The model provider is about to be deleted. The caller has locked it against new references. */
  modelProviderDeleted: { providerId: string; name: string; isDefault: boolean }
  /** The member's row is about to be deleted. */
  memberRemoved: { userId: string }
}

export type Reactions = {
  [Event in keyof Events]: (trx: Db, org: OrgId, event: Events[Event]) => Promise<void>
}
