// Creates findings on behalf of the service itself.

import { publishChanges } from '../platform/changes/changes.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { newId } from '../platform/ids.ts'
import { type AnnounceDeps, announceFinding } from './announce.ts'
import { assignByRules } from './assign.ts'
import { attachConversations, countAttached, countGathered } from './attachments/queries.ts'
import { mostAttached } from './limits.ts'
import { type LockedFinding, lockStandingFinding } from './lock.ts'
import { findFindingOfSource, insertFinding, moveFinding, type RecurringSource } from './queries.ts'

/** The numbers that identify the content of a finding. They are stored. */
const findingTypes = { monitorSpike: 1, experimentHealth: 2, latency: 3 }

/**
 * The maximum number of conversations to attach to a recurring finding. Otherwise, a spike that lasts for weeks would
 * collect all affected conversations.
 */
const mostGathered = 500

/** After somebody ignores a source's finding, the source creates no new findings for this long. */
const quietMs = 30 * 24 * 60 * 60 * 1_000

type Text = { title: string; paragraphs: string[] }

type Occurrence = {
  now: Date
  /** Returns the conversations to attach. Not called if the finding is suppressed. */
  affected: () => Promise<string[]>
  /** Returns the text of a new finding. Not called for an existing one. */
  tell: () => Promise<Text>
}

/** Returns a document in the format of TipTap, the description editor. */
const documentOf = (paragraphs: string[]) => ({
  type: 'doc',
  content: paragraphs.map((text) => ({ type: 'paragraph', content: [{ type: 'text', text }] })),
})

const isClosed = ({ status }: LockedFinding): boolean => status === 'resolved' || status === 'ignored'

const isQuiet = ({ status, statusChangedAt }: LockedFinding, ignoredSince: Date): boolean =>
  status === 'ignored' && statusChangedAt > ignoredSince

/**
 * Reopens a finding. Keeps its title and description, because people may have edited them. The reason for the status
 * change describes the current state.
 */
const reopen = async (trx: Db, org: OrgId, held: LockedFinding, { now, tell }: Occurrence): Promise<void> => {
  const { paragraphs } = await tell()
  await moveFinding(trx, org, {
    id: newId(),
    findingId: held.id,
    kind: 'recurrence',
    now,
    reason: paragraphs[0],
    from: held,
    to: { status: 'open', priority: held.priority },
  })
}

type About = { source: RecurringSource; findingType: number }

const insertOccurrence = async (
  trx: Db,
  org: OrgId,
  { source, findingType }: About,
  { now, tell }: Occurrence,
): Promise<string> => {
  const { title, paragraphs } = await tell()
  const id = newId()
  await insertFinding(trx, org, {
    id,
    title,
    description: documentOf(paragraphs),
    priority: 'medium',
    findingType,
    source,
    now,
  })
  return id
}

type Filed = { id: string; news: 'created' | 'reopened' | undefined }

/**
 * Adds an occurrence to the existing finding of its source and reopens the finding if it was closed, or creates a new
 * finding. Returns undefined if the finding is suppressed. A source can only have one open finding, so the transaction
 * fails if another one is created at the same time.
 */
const fileOccurrence = async (
  deps: AnnounceDeps,
  trx: Db,
  org: OrgId,
  about: About,
  occurrence: Occurrence,
): Promise<Filed | undefined> => {
  const { now } = occurrence
  const ignoredSince = new Date(now.getTime() - quietMs)
  const known = await findFindingOfSource(trx, org, { source: about.source, ignoredSince })
  const locked = known === undefined ? undefined : await lockStandingFinding(trx, org, known)
  if (locked && isQuiet(locked, ignoredSince)) return undefined
  const news = locked === undefined ? 'created' : isClosed(locked) ? 'reopened' : undefined
  if (locked && news === 'reopened') await reopen(trx, org, locked, occurrence)
  const id = locked?.id ?? (await insertOccurrence(trx, org, about, occurrence))
  const room = Math.min(
    mostGathered - (await countGathered(trx, org, id)),
    mostAttached - (await countAttached(trx, org, id)),
  )
  await attachConversations(trx, org, id, (await occurrence.affected()).slice(0, Math.max(0, room)), now)
  if (news === 'created') await assignByRules(deps, trx, org, { findingId: id, now })
  const kind = news === 'created' ? 'created' : 'updated'
  if (news) await announceFinding(deps, trx, org, id, kind)
  await publishChanges(trx, org, { resource: 'findings', kind, ids: [id] })
  return { id, news }
}

/** Creates or updates the finding about a spike in a monitor's rate. */
export const fileSpike = (
  deps: AnnounceDeps,
  trx: Db,
  org: OrgId,
  { monitorId: id, ...spike }: Occurrence & { monitorId: string },
): Promise<Filed | undefined> =>
  fileOccurrence(deps, trx, org, { source: { kind: 'monitor', id }, findingType: findingTypes.monitorSpike }, spike)

/** Creates or updates the finding that an agent's reported response times differ from those in its recordings. */
export const fileLatencyGap = (
  deps: AnnounceDeps,
  trx: Db,
  org: OrgId,
  { agentId: id, ...gap }: Occurrence & { agentId: string },
): Promise<Filed | undefined> =>
  fileOccurrence(deps, trx, org, { source: { kind: 'agent', id }, findingType: findingTypes.latency }, gap)

type Concern = Text & { experimentId: string; agentId: string; now: Date }

/**
 * Creates a finding about a problem that makes an experiment untrustworthy. Called at most once for each experiment.
 */
export const fileConcern = async (
  deps: AnnounceDeps,
  trx: Db,
  org: OrgId,
  { experimentId, agentId, title, paragraphs, now }: Concern,
): Promise<void> => {
  const id = newId()
  await insertFinding(trx, org, {
    id,
    title,
    description: documentOf(paragraphs),
    priority: 'high',
    findingType: findingTypes.experimentHealth,
    source: { kind: 'experiment', id: experimentId },
    now,
  })
  await assignByRules(deps, trx, org, { findingId: id, agentIds: [agentId], now })
  await announceFinding(deps, trx, org, id, 'created')
  await publishChanges(trx, org, { resource: 'findings', kind: 'created', ids: [id] })
}
