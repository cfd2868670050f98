// Sends emails to people. They are queued in the transaction of the event.

import { fileConcern } from '../findings/file.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { queueMail } from '../platform/mail/mail.ts'
import type { Health } from './health.ts'
import type { StoredExperiment } from './queries.ts'

type NoticeDeps = Pick<Deps, 'jobs' | 'config' | 'clock' | 'baseUrl' | 'reactions'>

/** The length is in UTF-16 units, like the limit of subjects. */
const longestInSubject = 150

/** Returns the name on one line, short enough for a subject. */
const titleOf = (name: string): string => {
  const line = name.replace(/[\s\p{Cc}]+/gu, ' ').trim()
  if (line.length <= longestInSubject) return line
  // The cut must not split a character.
  return `${line.slice(0, longestInSubject).replace(/[\ud800-\udbff]$/, '')}…`
}

const outcomesIn = ({ measures: { length } }: StoredExperiment) => (length === 1 ? 'one outcome' : `${length} outcomes`)

type Notice = { subject: string; lines: string[] }

const notify = async (
  deps: NoticeDeps,
  trx: Db,
  org: OrgId,
  { id, name, emails }: StoredExperiment,
  { subject, lines }: Notice,
): Promise<void> => {
  if (emails.length === 0) return
  const text = [...lines, '', `${deps.baseUrl()}/experiments/${id}`].join('\n')
  await queueMail(deps, trx, org, { to: emails, subject: `${subject}: ${titleOf(name)}`, text })
}

export const tellLaunched = (deps: NoticeDeps, trx: Db, org: OrgId, experiment: StoredExperiment): Promise<void> =>
  notify(deps, trx, org, experiment, {
    subject: 'Experiment launched',
    lines: [
      `“${experiment.name}” launched at ${experiment.startedAt.toISOString()}.`,
      `It measures ${outcomesIn(experiment)} in new conversations of both versions.`,
      'It runs until an admin finishes it.',
    ],
  })

const concerns: Record<Health['concerns'][number], string> = {
  mismatch: 'The traffic split differs from the expected one.',
  arms_not_concurrent: 'The arms did not run at the same time.',
  routed_per_conversation: 'Returning callers get a random variant each time.',
}

/** Sends an email and creates a finding. */
export const alarmRouting = async (
  deps: NoticeDeps,
  trx: Db,
  org: OrgId,
  experiment: StoredExperiment,
  { concerns: found, sampleRatio: { units }, routing }: Health,
): Promise<void> => {
  const sentences = found.map((concern) => concerns[concern])
  if (routing.status === 'unstable_routing') sentences.push('Some returning callers see both variants.')
  const counts = `So far, arm A has ${units.a} units and arm B has ${units.b}; ${routing.inBothArms} units are in both.`
  const advice = 'Differences may not be caused by the prompt. Check how you route the traffic.'
  await fileConcern(deps, trx, org, {
    experimentId: experiment.id,
    agentId: experiment.agentId,
    title: `Routing problem in “${titleOf(experiment.name)}”`,
    paragraphs: [...sentences, counts, advice],
    now: deps.clock.now(),
  })
  await notify(deps, trx, org, experiment, {
    subject: 'Routing problem',
    lines: [
      `The traffic of “${experiment.name}” is not routed as confirmed at launch:`,
      ...sentences.map((line) => `- ${line}`),
      counts,
      advice,
    ],
  })
}

export const tellFinished = (deps: NoticeDeps, trx: Db, org: OrgId, experiment: StoredExperiment): Promise<void> =>
  notify(deps, trx, org, experiment, {
    subject: 'Experiment finished',
    lines: [
      `“${experiment.name}” is finished. New conversations are not counted.`,
      'Results of counted conversations can still arrive.',
    ],
  })
