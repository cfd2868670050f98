// Lists events and their consequences. A resource only imports lower floors, so this table defines what upper floors do
// when a lower one stores, ends, or deletes something. It also lists the questions that a lower floor asks an upper
// one.

import { removeErasedConversations } from './alert-incidents/erase.ts'
import { createDefaultRules } from './alert-rules/defaults.ts'
import { clearOwnerOfAlertRules, disableRulesOfMonitor, removeDeletedDestination } from './alert-rules/referenced.ts'
import { forgetLearned } from './alignments/forget.ts'
import {
  noteChangedHours,
  noteJudgedHours,
  noteMeasuredHours,
  noteSettledHours,
} from './analytics/days/note-changes.ts'
import { admitOwner } from './api-keys/admit-owner.ts'
import { revokeKeysOfMember } from './api-keys/revoke.ts'
import {
  offerConversationsToBuckets,
  offerEmbeddedToBuckets,
  offerResultsToBuckets,
  offerSettledToBuckets,
  offerTaggedToBuckets,
} from './buckets/arrivals/jobs.ts'
import { removeErasedFromActions } from './bulk-actions/erased.ts'
import { applyPolicyLater } from './conversations/recordings/expiry/jobs.ts'
import { checkEmbeddingModel, refuseWhileEmbedding } from './embeddings/check-model.ts'
import { embedStored } from './embeddings/lifecycle.ts'
import { renumberModels } from './embeddings/model-numbers.ts'
import { evaluateMetricRules, evaluateSoundRules, evaluateStored } from './evaluations/lifecycle.ts'
import { scoreResults, scoreStored } from './evaluations/scorecards/jobs.ts'
import { makeObservationOrder } from './experiments/exports/make-order.ts'
import { refuseWhileMeasured, refuseWhilePinned } from './experiments/monitors-in-use.ts'
import { noteChanges } from './experiments/observations/note-changes.ts'
import { evaluatePinned, findPinned } from './experiments/observations/pinned.ts'
import { followExport } from './export-schedules/runs/lifecycle.ts'
import { expireExportsOfCalls } from './exports/lifecycle.ts'
import { eraseDeliveries, eraseProviderData } from './integrations/erasure/erase.ts'
import { deleteResultsLater, eraseResults } from './monitor-results/delete.ts'
import { refuseWhileUsed } from './monitors/provider-in-use.ts'
import {
  deleteNotificationsOfMember,
  notifyAssignedReviewer,
  notifyAssignee,
  notifyInviter,
  notifyMentioned,
  notifyOfExport,
  notifyOfIncident,
  notifyReviewers,
} from './notifications/events.ts'
import { clearOwnerWhoLeft, removeDestinationOfRoutes } from './ownership-rules/match-rule.ts'
import type { Db, OrgId } from './platform/db/database.ts'
import type { Deps } from './platform/deps.ts'
import type { Events, Reactions } from './platform/reactions.ts'
import { findBlind, requireOwnAnswer } from './reviews/blind.ts'
import { deletePersonalViews } from './saved-views/member-left.ts'
import { deriveMeasuresAgain, measureSoundLater, redactAgain } from './sound/jobs.ts'
import {
  publishErased,
  publishMeasured,
  publishNotifications,
  publishRead,
  publishResults,
  publishSettled,
  publishStored,
  publishTagged,
} from './stream/publish.ts'
import { assignEmbedded } from './topics/assign.ts'
import { buildFirst } from './topics/jobs.ts'
import { checkTranscriptionModel, refuseWhileTranscribing } from './transcriptions/check-model.ts'
import { estimateTranscriptions, whyNothingIsTranscribed } from './transcriptions/estimate.ts'
import {
  cancelTranscriptions,
  startTranscriptions,
  transcribeEnded,
  transcribeMeasured,
} from './transcriptions/lifecycle.ts'
import { countOfRuns } from './transcriptions/queries.ts'

type Reaction<Event extends keyof Events> = (deps: Deps, trx: Db, org: OrgId, event: Events[Event]) => Promise<unknown>

/**
 * The consequences of each event. They run and lock in this order, in the transaction of the event. If one throws, the
 * event is rejected.
 */
const consequences: { [Event in keyof Events]: Reaction<Event>[] } = {
  conversationsStored: [
    deriveMeasuresAgain,
    transcribeEnded,
    redactAgain,
    evaluateStored,
    evaluateMetricRules,
    evaluatePinned,
    scoreStored,
    noteChanges,
    noteChangedHours,
    offerConversationsToBuckets,
    publishStored,
    embedStored,
  ],
  conversationsEmbedded: [assignEmbedded, buildFirst, offerEmbeddedToBuckets],
  conversationsErasing: [
    noteChanges,
    noteChangedHours,
    eraseDeliveries,
    eraseResults,
    expireExportsOfCalls,
    removeErasedConversations,
    removeErasedFromActions,
    forgetLearned,
    publishErased,
  ],
  conversationsErased: [eraseProviderData],
  recordingStored: [measureSoundLater],
  recordingPolicyChanged: [applyPolicyLater],
  soundSettled: [transcribeMeasured, evaluateSoundRules, noteSettledHours, offerSettledToBuckets, publishSettled],
  metricsStored: [evaluateMetricRules, noteMeasuredHours, publishMeasured],
  conversationsTagged: [offerTaggedToBuckets, publishTagged],
  resultsStored: [scoreResults, noteChanges, noteJudgedHours, offerResultsToBuckets, publishResults],
  monitorDeleted: [refuseWhileMeasured, deleteResultsLater, disableRulesOfMonitor],
  exportEnded: [followExport, notifyOfExport],
  incidentAnnounced: [notifyOfIncident],
  findingAssigned: [notifyAssignee],
  peopleMentioned: [notifyMentioned],
  reviewersAdded: [notifyReviewers],
  reviewsAssigned: [notifyAssignedReviewer],
  memberJoined: [notifyInviter],
  notificationsStored: [publishNotifications],
  notificationsRead: [publishRead],
  organizationCreated: [createDefaultRules],
  destinationDeleted: [removeDeletedDestination, removeDestinationOfRoutes],
  modelProviderMoved: [renumberModels],
  modelProviderDeleted: [refuseWhileTranscribing, refuseWhileEmbedding, refuseWhileUsed, refuseWhilePinned],
  memberRemoved: [
    revokeKeysOfMember,
    deletePersonalViews,
    clearOwnerWhoLeft,
    clearOwnerOfAlertRules,
    deleteNotificationsOfMember,
  ],
}

/** Implements the functions that lower floors declare as dependencies. */
export const providers = {
  /** Adds the owner of a new organization. */
  admitOwner,
  /** Locks the provider of a model. Throws if it can't transcribe recordings. */
  checkTranscriptionModel,
  /** Locks the provider of a model. Throws if it can't embed texts. */
  checkEmbeddingModel,
  /** Functions that let runs over recordings transcribe them. */
  whyNothingIsTranscribed,
  startTranscriptions,
  cancelTranscriptions,
  countOfRuns,
  estimateTranscriptions,
  /** Finds the monitor versions that experiments have pinned for conversations. */
  findPinned,
  /** Throws if a person must submit their own judgment before they see results. */
  requireOwnAnswer,
  /** Finds the conversations with results that a person may not see before they submit their own judgment. */
  findBlind,
  /** Returns the contents of an experiment's export. */
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
    conversationsEmbedded: reactTo('conversationsEmbedded'),
    conversationsErasing: reactTo('conversationsErasing'),
    conversationsErased: reactTo('conversationsErased'),
    recordingStored: reactTo('recordingStored'),
    recordingPolicyChanged: reactTo('recordingPolicyChanged'),
    soundSettled: reactTo('soundSettled'),
    metricsStored: reactTo('metricsStored'),
    conversationsTagged: reactTo('conversationsTagged'),
    resultsStored: reactTo('resultsStored'),
    monitorDeleted: reactTo('monitorDeleted'),
    exportEnded: reactTo('exportEnded'),
    incidentAnnounced: reactTo('incidentAnnounced'),
    findingAssigned: reactTo('findingAssigned'),
    peopleMentioned: reactTo('peopleMentioned'),
    reviewersAdded: reactTo('reviewersAdded'),
    reviewsAssigned: reactTo('reviewsAssigned'),
    memberJoined: reactTo('memberJoined'),
    notificationsStored: reactTo('notificationsStored'),
    notificationsRead: reactTo('notificationsRead'),
    organizationCreated: reactTo('organizationCreated'),
    destinationDeleted: reactTo('destinationDeleted'),
    modelProviderMoved: reactTo('modelProviderMoved'),
    modelProviderDeleted: reactTo('modelProviderDeleted'),
    memberRemoved: reactTo('memberRemoved'),
  }
}
