import type { Db, OrgId } from '../platform/db/database.ts'
import { newId } from '../platform/ids.ts'
import { attachConversations, countAttached, insertFinding, lockOpenFindingOfMonitor } from './queries.ts'

/** What may be told of a finding, by its type. */
const findingTypes = { monitorSpike: 1, experimentHealth: 2 }

/** A finding that goes on for weeks would otherwise gather all that is affected. */
const mostAttached = 500

type Text = { title: string; paragraphs: string[] }

type Spike = {
  monitorId: string
  conversationIds: string[]
  now: Date
  /** Asked when it is filed. */
  tell: () => Promise<Text>
}

/** As the editor of descriptions, TipTap, has it. */
const documentOf = (paragraphs: string[]) => ({
  type: 'doc',
  content: paragraphs.map((text) => ({ type: 'paragraph', content: [{ type: 'text', text }] })),
})

/**
 * Files the spike of a monitor, or adds its conversations to the finding that is open. Another one that is opened at the
 * same moment fails the transaction: there is one for each monitor.
 */
export const fileSpike = async (
  trx: Db,
  org: OrgId,
  { monitorId, conversationIds, now, tell }: Spike,
): Promise<{ id: string; isNew: boolean }> => {
  const open = await lockOpenFindingOfMonitor(trx, org, monitorId)
  const id = open ?? newId()
  if (open === undefined) {
    const { title, paragraphs } = await tell()
    await insertFinding(trx, org, {
      id,
      title,
      description: documentOf(paragraphs),
      priority: 'medium',
      findingType: findingTypes.monitorSpike,
      source: { kind: 'monitor', id: monitorId },
      now,
    })
  }
  const room = Math.max(0, mostAttached - (await countAttached(trx, org, id)))
  await attachConversations(trx, org, id, conversationIds.slice(0, room), now)
  return { id, isNew: open === undefined }
}

type Concern = Text & { experimentId: string; now: Date }

/** Files what makes an experiment untrustworthy. Whoever calls does so once. */
export const fileConcern = (trx: Db, org: OrgId, { experimentId, title, paragraphs, now }: Concern) =>
  insertFinding(trx, org, {
    id: newId(),
    title,
    description: documentOf(paragraphs),
    priority: 'high',
    findingType: findingTypes.experimentHealth,
    source: { kind: 'experiment', id: experimentId },
    now,
  })
