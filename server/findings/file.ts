// Creates the findings of the service itself.

import { publishChanges } from '../platform/changes/changes.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { newId } from '../platform/ids.ts'
import { type AnnounceDeps, announceFinding } from './announce.ts'
import { assignByRules } from './assign.ts'
import { attachConversations, countAttached, countGathered } from './attachments/queries.ts'
import { mostAttached } from './limits.ts'
import { type LockedFinding, lockStandingFinding } from './lock.ts'
import { findFindingOfMonitor, insertFinding, moveFinding } from './queries.ts'

/** The numbers that identify the content of a finding. They are stored. */
const findingTypes = { monitorSpike: 1, experimentHealth: 2 }

/**
 * The maximum number of conversations to attach to a spike. One that lasts for weeks would otherwise collect all
 * affected conversations.
 */
const mostGathered = 500

/** The time without new findings for a monitor after somebody ignored its finding. */
const quietMs = 30 * 24 * 60 * 60 * 1_000

type Text = { title: string; paragraphs: string[] }

type Spike = {
  monitorId: string
  now: Date
  /** Returns the conversations to attach. Not called if the finding is suppressed. */
  affected: () => Promise<string[]>
  /** Returns the text of a new finding. Not called for an existing one. */
  tell: () => Promise<Text>
}

/** Returns a document in the format of the description editor, TipTap. */
const documentOf = (paragraphs: string[]) => ({
  type: 'doc',
  content: paragraphs.map((text) => ({ type: 'paragraph', content: [{ type: 'text', text }] })),
})

const isClosed = ({ status }: LockedFinding): boolean => status === 'resolved' || status === 'ignored'

const isQuiet = ({ status, statusChangedAt }: LockedFinding, ignoredSince: Date): boolean =>
  status === 'ignored' && statusChangedAt > ignoredSince

/**
 * Reopens a finding. Keeps its title and description, because people may have edited them. The reason for the move
 * describes the current state.
 */
const reopen = async (trx: Db, org: OrgId, held: LockedFinding, { now, tell }: Spike): Promise<void> => {
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

const insertSpike = async (trx: Db, org: OrgId, { monitorId, now, tell }: Spike): Promise<string> => {
  const { title, paragraphs } = await tell()
  const id = newId()
  await insertFinding(trx, org, {
    id,
    title,
    description: documentOf(paragraphs),
    priority: 'medium',
    findingType: findingTypes.monitorSpike,
    source: { kind: 'monitor', id: monitorId },
    now,
  })
  return id
}

type Filed = { id: string; news: 'created' | 'reopened' | undefined }

/**
 * Adds the spike of a monitor to its existing finding, which is reopened if it was closed, or creates a new one.
 * Returns undefined if the spike is suppressed. A monitor can only have one open finding, so the transaction fails if
 * another one is created at the same time.
 */
export const fileSpike = async (deps: AnnounceDeps, trx: Db, org: OrgId, spike: Spike): Promise<Filed | undefined> => {
  const { monitorId, now } = spike
  const ignoredSince = new Date(now.getTime() - quietMs)
  const known = await findFindingOfMonitor(trx, org, { monitorId, ignoredSince })
  const held = known === undefined ? undefined : await lockStandingFinding(trx, org, known)
  if (held && isQuiet(held, ignoredSince)) return undefined
  const news = held === undefined ? 'created' : isClosed(held) ? 'reopened' : undefined
  if (held && news === 'reopened') await reopen(trx, org, held, spike)
  const id = held?.id ?? (await insertSpike(trx, org, spike))
  const room = Math.min(
    mostGathered - (await countGathered(trx, org, id)),
    mostAttached - (await countAttached(trx, org, id)),
  )
  await attachConversations(trx, org, id, (await spike.affected()).slice(0, Math.max(0, room)), now)
  if (news === 'created') await assignByRules(deps, trx, org, { findingId: id, now })
  const kind = news === 'created' ? 'created' : 'updated'
  if (news) await announceFinding(deps, trx, org, id, kind)
  await publishChanges(trx, org, { resource: 'findings', kind, ids: [id] })
  return { id, news }
}

type Concern = Text & { experimentId: string; agentId: string; now: Date }

/**
 * Creates a finding about something that makes an experiment untrustworthy. Called at most once for each experiment.
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
