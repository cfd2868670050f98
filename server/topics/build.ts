// Finds the topics of an organization in a sample of its conversations, and matches them with its existing topics.

import type { Found } from '../clustering/find-clusters.ts'
import { type Cluster, type Matched, matchClusters } from '../clustering/match.ts'
import { vectorAt } from '../clustering/vectors.ts'
import { findCurrentModel } from '../embeddings/model-numbers.ts'
import { joinVectors } from '../embeddings/vectors.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { dayMs } from '../platform/durations.ts'
import { newId } from '../platform/ids.ts'
import type { Attempt } from '../platform/jobs/define-job.ts'
import { findInProcess, labelInProcess } from './clustering/run.ts'
import { rootsAfter } from './merged.ts'
import {
  type BuiltTopic,
  type Change,
  countFirstPassages,
  deleteEnded,
  endTopics,
  type FirstPassage,
  insertChanges,
  listBuilds,
  listTopics,
  listTopicsOf,
  replaceBuild,
  type StoredTopic,
  sampleFirstPassages,
  storeTopics,
} from './queries.ts'
import { readRequests } from './requests.ts'

/**
 * The minimum number of conversations, because clusters of fewer would be coincidences. Only conversations that were
 * embedded by the same model count.
 */
export const fewestConversations = 200
/**
 * The maximum size of the sample. More conversations would hardly change the topics, and finding topics takes minutes.
 */
const mostConversations = 10_000
const sampledDays = 90
/** The number of most typical conversations with texts that name a topic. */
const textsEach = 100
const keptDays = 90

type Sampled = { model: number; sample: FirstPassage[]; found: Found }

/** Returns the number of conversations that can be sampled for each current model. */
export const countSampled = async (
  { database, db, clock }: Pick<Deps, 'database' | 'db' | 'clock'>,
  org: OrgId,
): Promise<{ model: number; count: number }[]> => {
  const { ofPassages } = await findCurrentModel(db, org)
  const since = new Date(clock.now().getTime() - sampledDays * dayMs)
  const counts: { model: number; count: number }[] = []
  for (const model of ofPassages) {
    counts.push({ model, count: await countFirstPassages(database.dbOf(org), org, model, since) })
  }
  return counts
}

/** Finds clusters in a fair sample of the conversations that a model has embedded. */
const findInSample = async (
  { database, clock }: Deps,
  org: OrgId,
  { model, count }: { model: number; count: number },
  { seed, signal }: { seed: number; signal: AbortSignal },
): Promise<Sampled> => {
  const since = new Date(clock.now().getTime() - sampledDays * dayMs)
  const share = (1.2 * mostConversations) / count
  const sample = await sampleFirstPassages(database.dbOf(org), org, { model, since, share, limit: mostConversations })
  const found = await findInProcess(joinVectors(sample.map(({ vector }) => vector)), seed, signal)
  return { model, sample, found }
}

type Made = Cluster & { model: number; group: string; center: Buffer; bound: number; typical: string[] }

const bufferOf = ({ buffer, byteOffset, byteLength }: Float32Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength)

/** Returns the clusters with their conversations. */
const clustersOf = ({ model, sample, found }: Sampled): Made[] =>
  found.sizes.flatMap((size, cluster) => {
    if (size === 0) return []
    const positions = [...sample.keys()].filter((at) => found.assigned[at] === cluster)
    positions.sort((a, b) => (found.similarity[b] ?? 0) - (found.similarity[a] ?? 0))
    const ids = positions.map((at) => sample[at]?.conversationId ?? '')
    const center = bufferOf(vectorAt(found.centers, cluster))
    const group = `${model} ${found.groups[cluster]}`
    return [
      {
        members: new Set(ids),
        model,
        group,
        center,
        bound: found.bounds[cluster] ?? 1,
        typical: ids.slice(0, textsEach),
      },
    ]
  })

type Named = { terms: string[][]; groupTerms: Map<string, string[]> }

/** Names the clusters, and the groups that contain several clusters. */
const nameClusters = async (deps: Deps, org: OrgId, made: Made[], signal: AbortSignal): Promise<Named> => {
  const requests = await readRequests(
    deps,
    org,
    made.flatMap(({ typical }) => typical),
  )
  const texts = made.map(({ typical }) => typical.flatMap((id) => requests.get(id) ?? []))
  const groups = [...Map.groupBy(made.keys(), (at) => made[at]?.group ?? '')].filter(([, of]) => of.length > 1)
  const groupTexts = groups.map(([, of]) => of.flatMap((at) => texts[at] ?? []))
  const terms = await labelInProcess(texts, signal)
  const ofGroups = groups.length > 0 ? await labelInProcess(groupTexts, signal) : []
  return { terms, groupTerms: new Map(groups.map(([group], at) => [group, ofGroups[at] ?? []])) }
}

type Level = { made: Cluster[]; matched: Matched; ids: string[] }

/** The conversations of each topic or group. Other keys stand for conversations without one. */
type Members = Map<string | null | undefined, string[]>

/** Assigns the IDs of known topics to clusters with mostly the same conversations. */
const matchLevel = (known: StoredTopic[], memberIds: Members, made: Cluster[]): Level => {
  const clusters = known.map(({ id }) => ({ id, members: new Set(memberIds.get(id)) }))
  const matched = matchClusters(clusters, made)
  return { made, matched, ids: matched.ids.map((id) => id ?? newId()) }
}

const endedOf = ({ ids, matched }: Pick<Level, 'ids' | 'matched'>): { id: string; mergedIntoId: string | null }[] => [
  ...matched.merges.flatMap((merge) => merge.ids.map((id) => ({ id, mergedIntoId: ids[merge.into] ?? null }))),
  ...matched.ended.map((id) => ({ id, mergedIntoId: null })),
]

/** Returns the changes that a build makes. */
const changesOf = ({ ids, matched }: Level): Change[] => {
  const idAt = (at: number) => ids[at] ?? ''
  const created = ids.filter((_, at) => matched.ids[at] === undefined)
  return [
    ...created.map((topicId): Change => ({ topicId, kind: 'created', topicIds: [] })),
    ...matched.splits.map(({ id, into }): Change => ({ topicId: id, kind: 'split', topicIds: into.map(idAt) })),
    ...matched.merges.map((merge): Change => ({ topicId: idAt(merge.into), kind: 'merged', topicIds: merge.ids })),
    ...endedOf({ ids, matched }).map(({ id }): Change => ({ topicId: id, kind: 'ended', topicIds: [] })),
  ]
}

/** Matches clusters and their groups with the existing topics. */
const matchTopics = async (db: Db, org: OrgId, made: Made[], groups: string[]) => {
  const known = await listTopics(db, org)
  const topicOf = await listTopicsOf(
    db,
    org,
    made.flatMap(({ members }) => [...members]),
  )
  const membersOf = Map.groupBy(topicOf.keys(), (id) => topicOf.get(id))
  const groupOf = new Map(known.map(({ id, groupId }) => [id, groupId]))
  const membersOfGroup = Map.groupBy(topicOf.keys(), (id) => groupOf.get(topicOf.get(id) ?? ''))
  const madeGroups = groups.map((group) => ({
    members: new Set(made.flatMap((one) => (one.group === group ? [...one.members] : []))),
  }))
  return {
    known,
    topics: matchLevel(
      known.filter(({ isGroup }) => !isGroup),
      membersOf,
      made,
    ),
    groups: matchLevel(
      known.filter(({ isGroup }) => isGroup),
      membersOfGroup,
      madeGroups,
    ),
  }
}

type Store = { number: number; sampled: Sampled[]; made: Made[]; named: Named }

const storeBuild = async (deps: Deps, trx: Db, org: OrgId, { number, sampled, made, named }: Store): Promise<void> => {
  const builtAt = deps.clock.now()
  const models = sampled.map(({ model, found }) => ({ model, mean: bufferOf(found.mean) }))
  if (!(await replaceBuild(trx, org, { number, builtAt, models }))) throw new Error('Another build was faster')
  const groupNames = [...named.groupTerms.keys()]
  const { known, topics, groups } = await matchTopics(trx, org, made, groupNames)
  const roots = rootsAfter(known, { ids: topics.ids, splits: topics.matched.splits, ended: endedOf(topics) })
  const groupIds = new Map(groupNames.map((group, at) => [group, groups.ids[at] ?? null]))
  const built: BuiltTopic[] = groupNames.map((group, at) => ({
    id: groups.ids[at] ?? '',
    groupId: null,
    mergedIntoId: null,
    isGroup: true,
    terms: named.groupTerms.get(group) ?? [],
    model: null,
    center: null,
    bound: null,
  }))
  const groupOf = new Map(made.map(({ group }, at) => [topics.ids[at] ?? '', groupIds.get(group) ?? null]))
  for (const [at, { model, center, bound }] of made.entries()) {
    const id = topics.ids[at] ?? ''
    const mergedIntoId = roots.get(id) ?? null
    const groupId = groupOf.get(mergedIntoId ?? id) ?? null
    built.push({ id, groupId, mergedIntoId, isGroup: false, terms: named.terms[at] ?? [], model, center, bound })
  }
  await storeTopics(trx, org, built, builtAt)
  await endTopics(trx, org, [topics, groups].flatMap(endedOf), builtAt)
  await insertChanges(trx, org, [topics, groups].flatMap(changesOf), { number, builtAt })
  await deleteEnded(trx, org, new Date(builtAt.getTime() - keptDays * dayMs))
}

/**
 * Builds the topics of an organization, and stores them in one transaction. Returns false if it has too few
 * conversations. `afterwards` runs in the same transaction.
 */
export const buildTopics = async (
  deps: Deps,
  org: OrgId,
  attempt: Attempt,
  afterwards: (trx: Db, number: number) => Promise<void>,
): Promise<boolean> => {
  const { signal } = attempt
  const number = 1 + Math.max(0, ...(await listBuilds(deps.db, org)).map((build) => build.number))
  const sampled: Sampled[] = []
  for (const of of await countSampled(deps, org)) {
    if (of.count >= fewestConversations) sampled.push(await findInSample(deps, org, of, { seed: number, signal }))
  }
  if (sampled.length === 0) return false
  const made = sampled.flatMap(clustersOf)
  const named = await nameClusters(deps, org, made, signal)
  await attempt.transaction(async (trx) => {
    await storeBuild(deps, trx, org, { number, sampled, made, named })
    await afterwards(trx, number)
  })
  deps.log.info({ organizationId: org, topics: made.length }, 'built topics')
  return true
}
