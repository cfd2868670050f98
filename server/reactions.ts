// The table of events and their consequences. Resources only import lower floors. What an upper floor does when a lower
// one stores, ends, or deletes something is listed here, as are the questions that a lower floor asks an upper one.

import { removeErasedConversations } from './alert-incidents/erase.ts'
import { createDefaultRules } from './alert-rules/defaults.ts'
import { clearOwnerOfAlertRules, disableRulesOfMonitor, removeDeletedDestination } from './alert-rules/referenced.ts'
import { admitOwner } from './api-keys/admit-owner.ts'
import { revokeKeysOfMember } from './api-keys/revoke.ts'
import { offerConversationsToBuckets, offerResultsToBuckets } from './buckets/arrivals/jobs.ts'
import { evaluateMetricRules, evaluateStored } from './evaluations/lifecycle.ts'
import { makeObservationOrder } from './experiments/exports/make-order.ts'
import { refuseWhileMeasured } from './experiments/monitors-in-use.ts'
import { noteChanges } from './experiments/observations/note-changes.ts'
import { evaluatePinned, findPinned } from './experiments/observations/pinned.ts'
import { followExport } from './export-schedules/lifecycle.ts'
import { expireExportsOfCalls } from './exports/lifecycle.ts'
import { eraseDeliveries, eraseProviderData } from './integrations/erasure/erase.ts'
import { deleteResultsLater, eraseResults } from './monitor-results/delete.ts'
import {
  deleteNotificationsOfMember,
  notifyAssignee,
  notifyInviter,
  notifyMentioned,
  notifyOfExport,
  notifyOfIncident,
  notifyReviewers,
} from './notifications/events.ts'
import { clearOwnerWhoLeft, removeDestinationOfRoutes } from './ownership-rules/route.ts'
import type { Db, OrgId } from './platform/db/database.ts'
import type { Deps } from './platform/deps.ts'
import type { Events, Reactions } from './platform/reactions.ts'
import { requireOwnAnswer } from './reviews/blind.ts'
import {
  publishErased,
  publishMeasured,
  publishNotifications,
  publishRead,
  publishResults,
  publishStored,
} from './stream/publish.ts'

type Reaction<Event extends keyof Events> = (deps: Deps, trx: Db, org: OrgId, event: Events[Event]) => Promise<unknown>

/**
 * Each event with its consequences, in the order in which they run and lock, in the transaction of the event. A
 * consequence that throws rejects the event.
 */
const consequences: { [Event in keyof Events]: Reaction<Event>[] } = {
  conversationsStored: [
    evaluateStored,
    evaluateMetricRules,
    evaluatePinned,
    noteChanges,
    offerConversationsToBuckets,
    publishStored,
  ],
  conversationsErasing: [
    noteChanges,
    eraseDeliveries,
    eraseResults,
    expireExportsOfCalls,
    removeErasedConversations,
    publishErased,
  ],
  conversationsErased: [eraseProviderData],
  metricsStored: [evaluateMetricRules, publishMeasured],
  resultsStored: [noteChanges, offerResultsToBuckets, publishResults],
  monitorDeleted: [refuseWhileMeasured, deleteResultsLater, disableRulesOfMonitor],
  exportEnded: [followExport, notifyOfExport],
  incidentAnnounced: [notifyOfIncident],
  findingAssigned: [notifyAssignee],
  peopleMentioned: [notifyMentioned],
  reviewersAdded: [notifyReviewers],
  memberJoined: [notifyInviter],
  notificationsStored: [publishNotifications],
  notificationsRead: [publishRead],
  organizationCreated: [createDefaultRules],
  destinationDeleted: [removeDeletedDestination, removeDestinationOfRoutes],
  memberRemoved: [revokeKeysOfMember, clearOwnerWhoLeft, clearOwnerOfAlertRules, deleteNotificationsOfMember],
}

/** Implementations of the providers that lower floors declare. */
export const providers = {
  /** An organization is created: who adds its owner? */
  admitOwner,
  /** Conversations are evaluated: which monitor versions have experiments pinned for them? */
  findPinned,
  /** Results of a conversation are read: can this person see them before submitting their own judgment? */
  requireOwnAnswer,
  /** An export of an experiment is generated: what does its file contain? */
  makeObservationOrder,
}

export const openReactions = (deps: () => Deps): Reactions => {
  const reactTo =
    <Event extends keyof Events>(event: Event) =>
    async (trx: Db, org: OrgId, about: Events[Event]): Promise<void> => {
      for (const react of consequences[event]) await react(deps(), trx, org, about)
    }
  return {
    conversationsStored: reactTo('conversationsStored'),
    conversationsErasing: reactTo('conversationsErasing'),
    conversationsErased: reactTo('conversationsErased'),
    metricsStored: reactTo('metricsStored'),
    resultsStored: reactTo('resultsStored'),
    monitorDeleted: reactTo('monitorDeleted'),
    exportEnded: reactTo('exportEnded'),
    incidentAnnounced: reactTo('incidentAnnounced'),
    findingAssigned: reactTo('findingAssigned'),
    peopleMentioned: reactTo('peopleMentioned'),
    reviewersAdded: reactTo('reviewersAdded'),
    memberJoined: reactTo('memberJoined'),
    notificationsStored: reactTo('notificationsStored'),
    notificationsRead: reactTo('notificationsRead'),
    organizationCreated: reactTo('organizationCreated'),
    destinationDeleted: reactTo('destinationDeleted'),
    memberRemoved: reactTo('memberRemoved'),
  }
}
