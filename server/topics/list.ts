// Lists topics with their shares in a period.

import { listPeriodBounds } from '../platform/db/calendar.ts'
import type { OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { invalid } from '../platform/errors.ts'
import { readTimeZone } from '../platform/time-zone.ts'
import { share } from '../statistics/agreement.ts'
import { countSampled, fewestConversations } from './build.ts'
import { coveringByTopic } from './coverage.ts'
import { bySize, bySurprise, computeFigures } from './figures.ts'
import { countByTopic, countResultsByTopic, listBuilds, listTopics, type StoredTopic } from './queries.ts'

const mostDays = 400

export const shown = ({ label, terms, ...topic }: StoredTopic) => ({
  ...topic,
  label: label ?? terms.join(', '),
  terms,
  hasOwnLabel: label !== null,
})

type Period = { since?: string | undefined; until?: string | undefined; timezone: string }
type Query = Period & { sort: 'surprise' | 'size'; hidden: boolean }

const readCounts = async (deps: Deps, org: OrgId, query: Period) => {
  const until = query.until === undefined ? deps.clock.now() : new Date(query.until)
  const start = query.since === undefined ? undefined : new Date(query.since)
  if (start && until <= start) throw invalid(query.until ? 'until' : 'since', 'must be later than since')
  const calendar = { interval: 'day', timezone: readTimeZone(query.timezone, 'timezone') } as const
  return deps.replica.read(async (on) => {
    const bounds = await listPeriodBounds(on, calendar, { since: start, until }, mostDays)
    const since = bounds[0] ?? until
    const previousSince = new Date(2 * since.getTime() - until.getTime())
    const counts = await countByTopic(on, org, { previousSince, bounds })
    const topics = await listTopics(on, org)
    const covering = coveringByTopic(topics, await countResultsByTopic(on, org))
    return { since, until, days: bounds.slice(0, -1), counts, topics, covering }
  })
}

/** Returns how many more conversations have to be embedded before the first build. */
const countMissing = async (deps: Deps, org: OrgId): Promise<number> => {
  const counts = (await countSampled(deps, org)).map(({ count }) => count)
  return Math.max(0, fewestConversations - Math.max(0, ...counts))
}

/** Omits hidden topics and the topics of hidden groups. */
const withoutHidden = (topics: StoredTopic[]): Set<string> => {
  const hidden = new Set(topics.filter((topic) => topic.hidden).map(({ id }) => id))
  const visible = topics.filter(({ id, groupId }) => !hidden.has(id) && !hidden.has(groupId ?? ''))
  return new Set(visible.map(({ id }) => id))
}

/** Computes the figures of all topics in a period. */
const readPeriod = async (deps: Deps, org: OrgId, query: Period) => {
  const [build] = await listBuilds(deps.db, org)
  const { since, until, days, counts, topics, covering } = await readCounts(deps, org, query)
  const { ofTopics, conversations, byDay, outliers } = computeFigures(topics, counts, days.length)
  return {
    period: {
      builtAt: build?.builtAt ?? null,
      missing: build ? 0 : await countMissing(deps, org),
      since,
      until,
      days,
      conversations,
      conversationsByDay: byDay,
    },
    outliers,
    visible: withoutHidden(topics),
    ofTopics: ofTopics.map(({ topic, figures }) => ({ topic, figures, monitors: covering.get(topic.id) ?? [] })),
  }
}

type OfTopic = Awaited<ReturnType<typeof readPeriod>>['ofTopics'][number]

const listed = ({ topic, figures, monitors }: OfTopic) => ({ ...shown(topic), ...figures, monitors })

export const listWithFigures = async (deps: Deps, org: OrgId, query: Query) => {
  const { period, outliers, visible, ofTopics } = await readPeriod(deps, org, query)
  const data = ofTopics
    .filter(({ topic }) => query.hidden || visible.has(topic.id))
    .sort(query.sort === 'size' ? bySize : bySurprise)
    .map(listed)
  return { ...period, outliers, data }
}

/** Lists the topics that no monitor covers, largest first, and their share of all conversations. */
export const listUncovered = async (deps: Deps, org: OrgId, query: Period) => {
  const { period, visible, ofTopics } = await readPeriod(deps, org, query)
  const uncovered = ofTopics
    .filter(({ topic, figures }) => !topic.isGroup && visible.has(topic.id) && figures.conversations > 0)
    .filter(({ monitors }) => monitors.length === 0)
    .sort(bySize)
  const conversations = uncovered.reduce((sum, { figures }) => sum + figures.conversations, 0)
  return {
    ...period,
    uncovered: { conversations, share: share(conversations, period.conversations) },
    data: uncovered.map(listed),
  }
}
