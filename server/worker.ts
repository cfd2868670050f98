import { hostname } from 'node:os'
import { checkAlertRules, sweepAlertIncidents } from './alert-rules/jobs.ts'
import { alignMonitor } from './alignments/lifecycle.ts'
import { buildAnalyticsDays, checkAnalyticsDays } from './analytics/days/jobs.ts'
import { drawQuotas, offerConversations } from './buckets/arrivals/jobs.ts'
import { runBulkAction, sweepBulkActions } from './bulk-actions/lifecycle.ts'
import { deleteLogo, sweepLogos } from './companies/jobs.ts'
import { eraseByRetention } from './conversations/erasure/jobs.ts'
import { applyPolicy, deleteExpired } from './conversations/recordings/expiry/jobs.ts'
import { deleteRecording, fetchRecording, sweepRecordings } from './conversations/recordings/jobs.ts'
import type { ServiceDeps } from './deps.ts'
import { deliverMessage, sweepMessageDeliveries } from './destinations/deliveries/jobs.ts'
import { sortVectors } from './embeddings/cells/jobs.ts'
import { embedNew, embedOlder } from './embeddings/lifecycle.ts'
import { evaluateConversations, judge } from './evaluations/lifecycle.ts'
import { evaluateBatch } from './evaluations/runs/batches/lifecycle.ts'
import { evaluateRun } from './evaluations/runs/lifecycle.ts'
import { scoreConversations } from './evaluations/scorecards/jobs.ts'
import { startCounting } from './experiments/observations/counter-loop.ts'
import { sweepExperiments } from './experiments/runs/jobs.ts'
import { retryLacking } from './experiments/runs/lifecycle.ts'
import { planRuns } from './export-schedules/jobs.ts'
import { deliverRun } from './export-schedules/runs/lifecycle.ts'
import { expireExports, generateExport } from './exports/lifecycle.ts'
import { deleteFile, sweepFiles } from './exports/stored-files.ts'
import { measureDatabase, sweepJudgeRequests } from './health/jobs.ts'
import { sweepWaitingRecordings } from './integrations/audio/jobs.ts'
import { deleteDeliveries, sweepDeliveries } from './integrations/deliveries/jobs.ts'
import { eraseMentions } from './integrations/erasure/mentions.ts'
import { assembleConversations, sweepSpans } from './integrations/otlp/jobs.ts'
import { startSyncs, sweepSyncs, syncCalls } from './integrations/sync/jobs.ts'
import { pullRecording } from './integrations/twilio/fetch-recording.ts'
import { pullTranscript } from './integrations/twilio/jobs.ts'
import { deleteMonitorResults } from './monitor-results/jobs.ts'
import { sendDigests } from './notifications/digest/jobs.ts'
import { sweepNotifications } from './notifications/jobs.ts'
import { claimOwnStore } from './platform/blobs/sweep.ts'
import { newId } from './platform/ids.ts'
import type { Job } from './platform/jobs/define-job.ts'
import { deliverMail, sweepMails } from './platform/mail/jobs.ts'
import { compareLatencies } from './reported-latencies/jobs.ts'
import { lapseReviews } from './reviews/lifecycle.ts'
import { sweepSessions } from './sign-in/jobs.ts'
import { deriveMeasures, measureOlder, measureSound } from './sound/jobs.ts'
import { measureRun } from './sound/runs/lifecycle.ts'
import { detectSpikes } from './spikes/jobs.ts'
import { assignOlder, buildDaily } from './topics/jobs.ts'
import { transcribe } from './transcriptions/lifecycle.ts'
import { deliver, sweepWebhooks } from './webhooks/deliveries/jobs.ts'

/** All of the product's jobs. Processes that only serve requests use the list, too, because they enqueue jobs. */
export const jobList: Job<ServiceDeps>[] = [
  deleteLogo,
  sweepLogos,
  sweepSessions,
  evaluateConversations,
  judge,
  scoreConversations,
  evaluateRun,
  evaluateBatch,
  alignMonitor,
  runBulkAction,
  sweepBulkActions,
  deleteMonitorResults,
  generateExport,
  expireExports,
  deleteFile,
  sweepFiles,
  planRuns,
  deliverRun,
  retryLacking,
  sweepExperiments,
  detectSpikes,
  buildAnalyticsDays,
  checkAnalyticsDays,
  checkAlertRules,
  sweepAlertIncidents,
  measureDatabase,
  sweepJudgeRequests,
  sendDigests,
  sweepNotifications,
  offerConversations,
  drawQuotas,
  lapseReviews,
  fetchRecording,
  deleteRecording,
  sweepRecordings,
  applyPolicy,
  deleteExpired,
  measureSound,
  deriveMeasures,
  measureOlder,
  measureRun,
  transcribe,
  embedNew,
  embedOlder,
  sortVectors,
  buildDaily,
  assignOlder,
  compareLatencies,
  sweepWaitingRecordings,
  eraseMentions,
  eraseByRetention,
  deleteDeliveries,
  sweepDeliveries,
  pullTranscript,
  pullRecording,
  startSyncs,
  syncCalls,
  sweepSyncs,
  assembleConversations,
  sweepSpans,
  deliver,
  sweepWebhooks,
  deliverMessage,
  sweepMessageDeliveries,
  deliverMail,
  sweepMails,
]

type WorkerOptions = {
  /** Whether it is certain that no other process uses this database. */
  alone: boolean
}

export type Worker = { stop: (options: { timeoutMs: number }) => Promise<void> }

export const startWorker = async (deps: ServiceDeps, { alone }: WorkerOptions): Promise<Worker> => {
  if (!deps.config.smtp) deps.log.info('emails are stored but not sent because EARSHOT_SMTP_URL is not set')
  await deps.jobs.start(jobList, deps, {
    workerId: `${hostname()} ${process.pid} ${newId()}`,
    assumeSoleWorker: alone,
    onSettled: ({ name, result, durationSeconds }) => deps.metrics.countJob(name, result, durationSeconds),
  })
  const counting = startCounting(deps)
  // This claims the storage early, so that a copy of the database detects the claim. If claiming fails, a sweep claims
  // the storage later.
  void claimOwnStore(deps).catch((err: unknown) => deps.log.warn({ err }, 'claiming the storage failed, retrying'))
  return {
    stop: async (options) => {
      await Promise.all([counting.stop(), deps.jobs.stop(options)])
    },
  }
}
