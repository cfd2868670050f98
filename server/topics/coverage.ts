// Decides which monitors cover which topics. Pure.

import { countedFor } from './figures.ts'
import type { Covered, StoredTopic } from './queries.ts'

/** The minimum number of evaluated conversations. With fewer, a monitor's results say too little about the topic. */
const fewestEvaluated = 5
const coveredShare = 0.5

export type Covering = { id: string; name: string }

type Counts = { name: string; evaluated: number; affected: number }

/**
 * Returns the monitors that cover each topic or group, by name: those affected in at least half of the compared
 * conversations that they evaluated. Merged topics count as the one they were merged into.
 */
export const coveringByTopic = (topics: StoredTopic[], covered: Covered[]): Map<string, Covering[]> => {
  const keysOf = countedFor(topics)
  const counts = new Map<string, Map<string, Counts>>()
  const add = (topicId: string, { monitorId, name, evaluated, affected }: Covered) => {
    const ofTopic = counts.get(topicId) ?? new Map<string, Counts>()
    counts.set(topicId, ofTopic)
    const sum = ofTopic.get(monitorId) ?? { name, evaluated: 0, affected: 0 }
    ofTopic.set(monitorId, sum)
    sum.evaluated += evaluated
    sum.affected += affected
  }
  for (const each of covered) for (const key of keysOf(each.topicId)) add(key, each)
  const covers = ({ evaluated, affected }: Counts) =>
    evaluated >= fewestEvaluated && affected >= coveredShare * evaluated
  return new Map(
    [...counts].map(([topicId, ofTopic]) => [
      topicId,
      [...ofTopic]
        .flatMap(([id, sum]) => (covers(sum) ? [{ id, name: sum.name }] : []))
        .sort((a, b) => a.name.localeCompare(b.name, 'en') || (a.id < b.id ? -1 : 1)),
    ]),
  )
}
