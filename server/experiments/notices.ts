// What people are told by e-mail: in the transaction of what it tells.

import { fileConcern } from '../findings/file.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { sendMail } from '../platform/mail/mail.ts'
import type { Health } from './health.ts'
import type { StoredExperiment } from './queries.ts'

type NoticeDeps = Pick<Deps, 'jobs' | 'config' | 'clock' | 'baseUrl'>

/** Counted as `length` counts, by which a mail limits its subject. */
const longestInSubject = 150

/** On one line, and not too long for a subject. */
const titleOf = (name: string): string => {
  const line = name.replace(/[\s\p{Cc}]+/gu, ' ').trim()
  if (line.length <= longestInSubject) return line
  // Not through the middle of a character.
  return `${line.slice(0, longestInSubject).replace(/[\ud800-\udbff]$/, '')}…`
}

const outcomesIn = ({ outcomeMetricIds: { length } }: StoredExperiment) =>
  length === 1 ? 'one outcome' : `${length} outcomes`

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
  await sendMail(deps, trx, org, { to: emails, subject: `${subject}: ${titleOf(name)}`, text })
}

export const tellLaunched = (deps: NoticeDeps, trx: Db, org: OrgId, experiment: StoredExperiment): Promise<void> =>
  notify(deps, trx, org, experiment, {
    subject: 'Experiment launched',
    lines: [
      `“${experiment.name}” was launched at ${experiment.startedAt.toISOString()}.`,
      `It measures conversations by either version that start from now on, by ${outcomesIn(experiment)}.`,
      'It continues until an operator finishes it.',
    ],
  })

const concerns: Record<Health['concerns'][number], string> = {
  mismatch: 'The arms do not get the shares of units that are expected.',
  arms_not_concurrent: 'The arms did not run at the same times.',
  routed_per_conversation: 'Callers who return change between the arms as if by chance.',
}

/** By e-mail, and as a finding. */
export const alarmRouting = async (
  deps: NoticeDeps,
  trx: Db,
  org: OrgId,
  experiment: StoredExperiment,
  { concerns: found, sampleRatio: { units }, routing }: Health,
): Promise<void> => {
  const said = found.map((concern) => concerns[concern])
  if (routing.status === 'unstable_routing') said.push('Some callers who return change between the arms.')
  const counts = `So far ${units.a} units came to arm A and ${units.b} to arm B; ${routing.inBothArms} were in both.`
  const advice = 'What is measured may not come from the prompt. Please look at how the traffic is routed.'
  await fileConcern(deps, trx, org, {
    experimentId: experiment.id,
    title: `The routing of “${titleOf(experiment.name)}” is not as confirmed`,
    paragraphs: [...said, counts, advice],
    now: deps.clock.now(),
  })
  await notify(deps, trx, org, experiment, {
    subject: 'Routing is not as confirmed',
    lines: [
      `The traffic of “${experiment.name}” does not come as it should:`,
      ...said.map((line) => `- ${line}`),
      counts,
      advice,
    ],
  })
}

export const tellFinished = (deps: NoticeDeps, trx: Db, org: OrgId, experiment: StoredExperiment): Promise<void> =>
  notify(deps, trx, org, experiment, {
    subject: 'Experiment finished',
    lines: [
      `“${experiment.name}” was finished. No further conversation is counted.`,
      'Results of conversations that are counted may still arrive.',
    ],
  })
