import type { Db, OrgId } from '../../../platform/db/database.ts'
import { excerptOf, mostRead } from '../../../transcripts/excerpt.ts'
import { listTags } from '../../tags/queries.ts'
import {
  listPageCosts,
  listPageFindings,
  listPageMetrics,
  listPageResults,
  listPageSounds,
  listPageStarts,
  listPageTopics,
  type PageRow,
} from './queries.ts'

export const includable = ['results', 'metrics', 'findings', 'tags', 'topic', 'excerpt', 'cost', 'sound'] as const
export type Includable = (typeof includable)[number]

const byConversation = <Row extends { conversationId: string }>(rows: Row[]) => {
  const grouped = new Map<string, Omit<Row, 'conversationId'>[]>()
  for (const { conversationId, ...row } of rows) {
    const others = grouped.get(conversationId)
    if (others) others.push(row)
    else grouped.set(conversationId, [row])
  }
  return (id: string) => grouped.get(id) ?? []
}

const findOrNull = <T>(of: ReadonlyMap<string, T>, id: string): T | null => of.get(id) ?? null

type Options = {
  include: readonly Includable[]
  /** The conversations with results and findings that the caller cannot see yet. */
  findHidden: (ids: string[]) => Promise<string[]>
}

/** Adds the requested data to the conversations on a page. */
export const includeIn = async <Row extends PageRow>(
  db: Db,
  org: OrgId,
  rows: Row[],
  { include, findHidden }: Options,
) => {
  if (rows.length === 0 || include.length === 0) return rows
  const read = <T>(name: Includable, list: (db: Db, org: OrgId, rows: PageRow[]) => Promise<T[]>) =>
    include.includes(name) ? list(db, org, rows) : undefined
  const [results, hidden, metrics, findings, tags, topics, starts, costs, sounds] = await Promise.all([
    read('results', listPageResults),
    include.includes('results') || include.includes('findings') ? findHidden(rows.map(({ id }) => id)) : [],
    read('metrics', listPageMetrics),
    read('findings', listPageFindings),
    read('tags', (on, of, page) =>
      listTags(
        on,
        of,
        page.map(({ id }) => id),
      ),
    ),
    read('topic', listPageTopics),
    read('excerpt', (on, of, page) => listPageStarts(on, of, page, mostRead)),
    read('cost', listPageCosts),
    read('sound', listPageSounds),
  ])
  const resultsOf = results && byConversation(results)
  const metricsOf = metrics && byConversation(metrics)
  const findingsOf = findings && byConversation(findings)
  const tagsOf = tags && new Map(tags.map((each) => [each.conversationId, each.tags]))
  const topicOf = topics && new Map(topics.map(({ conversationId, ...topic }) => [conversationId, topic]))
  const isHidden = new Set(hidden)
  const soundOf = sounds && new Map(sounds.map(({ conversationId, sound }) => [conversationId, sound]))
  const costOf = costs && new Map(costs.map(({ conversationId, cost }) => [conversationId, cost]))
  const excerpts =
    starts &&
    new Map(
      starts.map(({ conversationId, startedAt, start, isCut, format }) => [
        conversationId,
        excerptOf(start, isCut, { startedAt, ...(format !== null && { provider: format }) }),
      ]),
    )
  return rows.map((row) => ({
    ...row,
    ...(resultsOf && { results: isHidden.has(row.id) ? null : resultsOf(row.id) }),
    ...(metricsOf && { metrics: metricsOf(row.id) }),
    ...(findingsOf && { findings: isHidden.has(row.id) ? null : findingsOf(row.id) }),
    ...(tagsOf && { tags: tagsOf.get(row.id) ?? [] }),
    ...(topicOf && { topic: findOrNull(topicOf, row.id) }),
    ...(excerpts && { excerpt: findOrNull(excerpts, row.id) }),
    ...(costOf && { cost: findOrNull(costOf, row.id) }),
    ...(soundOf && { sound: findOrNull(soundOf, row.id) }),
  }))
}
