// Assigns conversations to the topics of the newest build: new ones when they are embedded, and stored ones after a
// build.

import { type KnownClusters, nearestCluster } from '../clustering/find-clusters.ts'
import type { Nearest } from '../clustering/k-means.ts'
import { makeVectors, normalize, readFloats, vectorAt } from '../clustering/vectors.ts'
import { lockNamedConversations } from '../conversations/queries.ts'
import { dimensions } from '../embeddings/encoder/sentence-encoder.ts'
import { joinVectors, readVector } from '../embeddings/vectors.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { dropOldest } from '../platform/drop-oldest.ts'
import type { Attempt } from '../platform/jobs/define-job.ts'
import type { Events } from '../platform/reactions.ts'
import { assignInProcess } from './clustering/run.ts'
import { type Assignment, assignTopics, listCenters, lockBuild, type Unassigned } from './queries.ts'

/** The topics of a build with which a model's vectors are compared. */
type Topics = KnownClusters & { ids: string[] }
type Build = { number: number; ofModels: Map<number, Topics> }

/** The newest builds of organizations that have recently assigned conversations. */
const cache = new Map<string, Build>()
const mostCached = 64

const readTopics = async (db: Db, org: OrgId): Promise<Build['ofModels']> => {
  const rows = Map.groupBy(await listCenters(db, org), ({ model }) => model)
  const ofModels: Build['ofModels'] = new Map()
  for (const [model, topics] of rows) {
    const centers = makeVectors(topics.length, dimensions)
    for (const [at, { center }] of topics.entries()) vectorAt(centers, at).set(readFloats(center))
    ofModels.set(model, {
      mean: readFloats(topics[0]?.mean ?? Buffer.alloc(0)),
      centers,
      bounds: topics.map(({ bound }) => bound),
      ids: topics.map(({ id }) => id),
    })
  }
  return ofModels
}

/** Returns the newest build. It is not replaced until the transaction ends. */
const openBuild = async (trx: Db, org: OrgId): Promise<Build | undefined> => {
  const number = await lockBuild(trx, org)
  if (number === undefined) return undefined
  const known = cache.get(org)
  if (known?.number === number) return known
  const build = { number, ofModels: await readTopics(trx, org) }
  cache.delete(org)
  cache.set(org, build)
  dropOldest(cache, mostCached)
  return build
}

const assignmentOf = (conversationId: string, { ids }: Topics, nearest: Nearest | undefined): Assignment => ({
  conversationId,
  topicId: (nearest && ids[nearest.cluster]) ?? null,
  similarity: nearest?.similarity ?? null,
})

const unitVector = (stored: Uint8Array): Float32Array => {
  const vector = Float32Array.from(readVector(stored))
  normalize(vector)
  return vector
}

/** Assigns conversations to topics in the transaction that stores their passages. */
export const assignEmbedded = async (
  _deps: unknown,
  trx: Db,
  org: OrgId,
  { firstPassages }: Events['conversationsEmbedded'],
): Promise<void> => {
  const build = firstPassages.length > 0 ? await openBuild(trx, org) : undefined
  if (!build) return
  const assignments = firstPassages.flatMap(({ conversationId, model, vector }) => {
    const topics = build.ofModels.get(model)
    return topics ? [assignmentOf(conversationId, topics, nearestCluster(topics, unitVector(vector)))] : []
  })
  if (assignments.length > 0) await assignTopics(trx, org, build.number, assignments)
}

/** Assigns a page of stored conversations. */
export const assignPage = async (
  { database }: Deps,
  org: OrgId,
  page: Unassigned[],
  attempt: Attempt,
): Promise<void> => {
  const build = await database
    .dbOf(org)
    .transaction()
    .execute((trx) => openBuild(trx, org))
  if (!build) return
  const assignments: Assignment[] = []
  for (const [model, topics] of build.ofModels) {
    const some = page.filter((one) => one.model === model)
    if (some.length === 0) continue
    const vectors = joinVectors(some.flatMap(({ vector }) => vector ?? []))
    const { ids: _, ...clusters } = topics
    const nearest = await assignInProcess(vectors, clusters, attempt.signal)
    assignments.push(...some.map(({ id }, at) => assignmentOf(id, topics, nearest[at])))
  }
  if (assignments.length === 0) return
  const ids = assignments.map(({ conversationId }) => conversationId)
  await attempt.transaction(async (trx) => {
    await lockNamedConversations(trx, org, { ids, externalIds: [] })
    // If the build was replaced in the meantime, its topics are outdated, and the next page uses the new ones.
    if ((await lockBuild(trx, org)) === build.number) await assignTopics(trx, org, build.number, assignments)
  })
}
