import { getOrganization } from '../../organizations/queries.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { isCancelled } from '../../platform/db/errors.ts'
import type { Deps } from '../../platform/deps.ts'
import { eachOfPages } from '../../platform/jobs/attempt-each.ts'
import { defineSweep, trustedTime } from '../../platform/jobs/define-sweep.ts'
import { queueMail } from '../../platform/mail/mail.ts'
import { isPlaceholder } from '../../sign-in/address/placeholder.ts'
import { describeNotifications } from '../describe.ts'
import { latestBefore, nextAfter } from '../period.ts'
import { type Cadence, cadences, preferencesOf } from '../preferences.ts'
import { findPeriods, lockPreferences } from '../queries.ts'
import { findReader, listDue, listOrganizationsWithDueAllOrgs, takeWaiting, updatePeriod } from './queries.ts'
import { type Section, summarize } from './summarize.ts'
import { writeDigest } from './write.ts'

const batch = 100

/** The maximum number of notifications that a digest lists. The others are in the inbox. */
const mostNotifications = 30

type Period = { since: Date; until: Date }

/** The summaries of one organization. People with the same period share them. */
type Summaries = Map<string, Promise<Section[]>>

type Person = { id: string; summaries: Summaries }

async function* peopleOf(db: Db, org: OrgId, now: Date, after: string | undefined): AsyncGenerator<Person> {
  const summaries: Summaries = new Map()
  for await (const { id } of eachOfPages(batch, (page) => listDue(db, org, now, page), after)) yield { id, summaries }
}

/** Replaces a summary that takes too long. It would take just as long a minute later, and nobody would get a digest. */
const missingSummary: Section = {
  title: 'Summary',
  lines: [{ text: 'The summary of this period took too long to compute.', path: '/' }],
}

const summaryOf = ({ replica, log }: Deps, org: OrgId, { since, until }: Period, summaries: Summaries) => {
  const key = `${since.toISOString()}/${until.toISOString()}`
  const known = summaries.get(key)
  if (known) return known
  const made = replica
    .read((on) => summarize(on, org, { since, until }))
    .catch((error: unknown) => {
      if (!isCancelled(error)) throw error
      log.warn({ job: 'notification.digest', organizationId: org, err: error }, 'the summary of a digest took too long')
      return [missingSummary]
    })
  summaries.set(key, made)
  return made
}

/** Returns the period of a digest that is due, and the contents that the person has chosen. */
const readDue = (stored: Awaited<ReturnType<typeof lockPreferences>>, cadence: Cadence, now: Date) => {
  const period = stored?.[cadence]
  if (!stored || !period || period.nextAt > now) return undefined
  const preferences = preferencesOf(stored)
  return { preferences, since: period.since, until: latestBefore(preferences, cadence, now) }
}

const waitingSection = async (trx: Db, org: OrgId, userId: string, cadence: Cadence): Promise<Section[]> => {
  const waiting = await takeWaiting(trx, org, userId, cadence)
  if (waiting.length === 0) return []
  const newest = waiting.toSorted((a, b) => (a.id < b.id ? 1 : -1)).slice(0, mostNotifications)
  const lines = (await describeNotifications(trx, org, newest)).map(({ text, path }) => ({ text, path }))
  const more = waiting.length - newest.length
  const rest = more > 0 ? [{ text: `${more.toLocaleString('en')} more`, path: '/notifications' }] : []
  return [{ title: 'Your notifications', lines: [...lines, ...rest] }]
}

/**
 * Sends a digest and moves on to the next period in one transaction, so that there is at most one email for each
 * period. Sends no email if there is nothing to report.
 */
const sendDigest = async (
  deps: Deps,
  trx: Db,
  org: OrgId,
  { userId, cadence, now, sections }: { userId: string; cadence: Cadence; now: Date; sections: Section[] },
): Promise<void> => {
  const due = readDue(await lockPreferences(trx, org, userId), cadence, now)
  if (!due) return
  const { preferences, since, until } = due
  const { timezone } = preferences.digest
  const allSections = [...(await waitingSection(trx, org, userId, cadence)), ...sections]
  await updatePeriod(trx, org, userId, cadence, { since: until, nextAt: nextAfter(preferences, cadence, now) })
  const reader = await findReader(trx, org, userId)
  if (allSections.length === 0 || !reader || isPlaceholder(reader.email)) return
  const { name: organization } = await getOrganization(trx, org)
  const period = { since, until }
  const mail = writeDigest({ cadence, organization, period, timezone, sections: allSections, baseUrl: deps.baseUrl() })
  await queueMail(deps, trx, org, { to: [reader.email], ...mail })
}

/**
 * Sends the digests that are due. They wait while the clock may be wrong, because a digest with a wrong period would
 * miss events.
 */
export const sendDigests = defineSweep({
  name: 'notification.digest',
  schedule: '* * * * *',
  time: trustedTime,
  listOrganizations: ({ db }: Deps, now) => listOrganizationsWithDueAllOrgs(db, now),
  listItems: ({ db }, { org, now, after }) => peopleOf(db, org, now, after),
  sweepItem: async (deps, { id: userId, summaries }, { org, now, attempt }) => {
    for (const cadence of cadences) {
      // Summarizing takes longer than a row should be locked, so this happens before.
      const due = readDue(await findPeriods(deps.db, org, userId), cadence, now)
      if (!due) continue
      const wantsSummary = due.preferences.digest.summary === cadence
      const sections = wantsSummary ? await summaryOf(deps, org, due, summaries) : []
      await attempt.transaction((trx) => sendDigest(deps, trx, org, { userId, cadence, now, sections }))
    }
  },
})
