import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { lockNamedConversations } from '../queries.ts'
import { mostTags } from './limits.ts'
import { deleteTags, insertTags, listTags } from './queries.ts'

export type TagChange =
  | { conversationId: string; added: string[]; removed: string[] }
  | { conversationId: string; isFull: true }

/** Returns the tags that a conversation should have, in normalized form. */
type TagsOf = (present: string[], conversationId: string) => string[]

/**
 * Changes the tags of conversations in the caller's transaction, and returns the change for each conversation that
 * exists. A conversation that would have too many tags keeps its current tags.
 */
export const changeTags = async (
  { reactions }: Pick<Deps, 'reactions'>,
  trx: Db,
  org: OrgId,
  ids: string[],
  wanted: TagsOf,
): Promise<TagChange[]> => {
  const locked = await lockNamedConversations(trx, org, { ids, externalIds: [] })
  const before = new Map((await listTags(trx, org, ids)).map(({ conversationId, tags }) => [conversationId, tags]))
  const changes = locked.map(({ id: conversationId }): TagChange => {
    const present = before.get(conversationId) ?? []
    const next = wanted(present, conversationId)
    const added = next.filter((tag) => !present.includes(tag))
    if (added.length > 0 && next.length > mostTags) return { conversationId, isFull: true }
    return { conversationId, added, removed: present.filter((tag) => !next.includes(tag)) }
  })
  const applied = changes.filter((change) => 'added' in change)
  await deleteTags(
    trx,
    org,
    applied.map(({ conversationId, removed }) => ({ conversationId, tags: removed })),
  )
  await insertTags(
    trx,
    org,
    applied.map(({ conversationId, added }) => ({ conversationId, tags: added })),
  )
  const changed = applied.filter(({ added, removed }) => added.length + removed.length > 0)
  if (changed.length > 0) {
    await reactions.conversationsTagged(trx, org, { conversationIds: changed.map((each) => each.conversationId) })
  }
  return changes
}
