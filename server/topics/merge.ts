import type { Db, OrgId } from '../platform/db/database.ts'
import { ApiError, notFound, notFoundAt } from '../platform/errors.ts'
import { lockBuild, lockTopics, mergeInto, type StoredTopic, separateTopic } from './queries.ts'

const requireListed = (topic: StoredTopic): void => {
  if (topic.isGroup) throw new ApiError('conflict', 'Groups can’t be merged. Merge their topics.')
  if (topic.endedAt) throw new ApiError('conflict', 'A topic that ended can’t be merged.')
}

/**
 * Merges a topic into another one, which represents both from then on, or separates them again. Builds still find both
 * topics, so conversations keep theirs, and nothing has to be assigned again.
 */
export const mergeTopic = async (trx: Db, org: OrgId, id: string, intoId: string | null): Promise<string[]> => {
  // A concurrent build would overwrite the change with the state that it read before.
  await lockBuild(trx, org)
  const ids = [id, intoId ?? id].map((given) => given.toLowerCase())
  const locked = new Map((await lockTopics(trx, org, ids)).map((topic) => [topic.id, topic]))
  const [topic, into] = ids.map((given) => locked.get(given))
  if (!topic) throw notFound()
  if (!into) throw notFoundAt(['into'])
  requireListed(topic)
  if (intoId === null) {
    await separateTopic(trx, org, topic.id)
    return [topic.id]
  }
  requireListed(into)
  if (topic.id === into.id) throw new ApiError('conflict', 'A topic can’t be merged into itself.')
  if (into.mergedIntoId !== null) {
    throw new ApiError('conflict', `The other topic was merged into ${into.mergedIntoId}. Merge into that one.`)
  }
  await mergeInto(trx, org, topic.id, into)
  return [topic.id, into.id]
}
