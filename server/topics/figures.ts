// Computes the shares of topics and their changes. Pure.

import { share } from '../statistics/agreement.ts'
import type { StoredTopic, TopicCount } from './queries.ts'

type Counted = { trend: number[]; before: number }
type Totals = { now: number; before: number }

const sum = (values: Iterable<number>): number => {
  let total = 0
  for (const value of values) total += value
  return total
}

/** Returns the change in a share, in standard errors of the difference between the two shares. */
export const surpriseOf = (
  now: { some: number; all: number },
  before: { some: number; all: number },
): number | null => {
  if (now.all === 0 || before.all === 0) return null
  const pooled = (now.some + before.some) / (now.all + before.all)
  const variance = pooled * (1 - pooled) * (1 / now.all + 1 / before.all)
  return variance === 0 ? 0 : (now.some / now.all - before.some / before.all) / Math.sqrt(variance)
}

/**
 * Returns a function that returns the topics that a conversation with a topic counts for: this one, or the one that it
 * was merged into, and its group. Until they are assigned again, conversations can belong to topics that have ended.
 */
export const countedFor = (topics: StoredTopic[]): ((topicId: string) => string[]) => {
  const byId = new Map(topics.map((topic) => [topic.id, topic]))
  return (topicId) => {
    const topic = byId.get(topicId)
    if (!topic) return []
    return [topic.mergedIntoId ?? topic.id, ...(topic.groupId ? [topic.groupId] : [])]
  }
}

/** Adds up the counts of each topic and each group. Outliers have the key null. */
const countEach = (topics: StoredTopic[], counts: TopicCount[], days: number): Map<string | null, Counted> => {
  const keysOf = countedFor(topics)
  const counted = new Map<string | null, Counted>()
  const add = (key: string | null, { interval, conversations }: TopicCount) => {
    const own = counted.get(key) ?? { trend: Array.from({ length: days }, () => 0), before: 0 }
    counted.set(key, own)
    if (interval < 0) own.before += conversations
    else own.trend[interval] = (own.trend[interval] ?? 0) + conversations
  }
  for (const count of counts) {
    const keys = count.topicId === null ? [] : keysOf(count.topicId)
    for (const key of keys.length > 0 ? keys : [null]) add(key, count)
  }
  return counted
}

const figuresOf = ({ trend, before }: Counted, all: Totals) => {
  const conversations = sum(trend)
  return {
    conversations,
    share: share(conversations, all.now),
    previousShare: all.before === 0 ? null : before / all.before,
    surprise: surpriseOf({ some: conversations, all: all.now }, { some: before, all: all.before }),
    trend,
  }
}

export const computeFigures = (topics: StoredTopic[], counts: TopicCount[], days: number) => {
  const all = {
    now: sum(counts.map(({ interval, conversations }) => (interval < 0 ? 0 : conversations))),
    before: sum(counts.map(({ interval, conversations }) => (interval < 0 ? conversations : 0))),
  }
  const counted = countEach(topics, counts, days)
  const nothing = () => ({ trend: Array.from({ length: days }, () => 0), before: 0 })
  const byDay = Array.from({ length: days }, () => 0)
  for (const { interval, conversations } of counts) {
    if (interval >= 0) byDay[interval] = (byDay[interval] ?? 0) + conversations
  }
  return {
    conversations: all.now,
    byDay,
    outliers: figuresOf(counted.get(null) ?? nothing(), all),
    ofTopics: topics
      .filter(({ mergedIntoId }) => mergedIntoId === null)
      .map((topic) => ({ topic, figures: figuresOf(counted.get(topic.id) ?? nothing(), all) })),
  }
}

export type TopicWithFigures = ReturnType<typeof computeFigures>['ofTopics'][number]

/** Sorts by the size of the change, and then by the number of conversations. */
export const bySurprise = (a: TopicWithFigures, b: TopicWithFigures): number =>
  Math.abs(b.figures.surprise ?? 0) - Math.abs(a.figures.surprise ?? 0) || bySize(a, b)

export const bySize = (a: TopicWithFigures, b: TopicWithFigures): number =>
  b.figures.conversations - a.figures.conversations || (a.topic.id < b.topic.id ? -1 : 1)
