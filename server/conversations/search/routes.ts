import type { Static } from 'typebox'
import { explainFilter } from '../../filters/explain.ts'
import { parseFilter } from '../../filters/filter.ts'
import { findNames } from '../../filters/names/queries.ts'
import {
  countSelected,
  countSelectedByPeriod,
  isReadInIndexOrder,
  listSelected,
  type Resolved,
  type Selection,
} from '../../filters/queries.ts'
import { resolve } from '../../filters/resolve.ts'
import { isNewestFirst, parseSort, type Sorting } from '../../filters/sort.ts'
import { listSorted, positionOf } from '../../filters/sorted/queries.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { resolvePeriod } from '../../platform/db/periods.ts'
import { invalid } from '../../platform/errors.ts'
import type { App } from '../../platform/http/http.ts'
import type { Page as Position } from '../../platform/http/paging.ts'
import { answers, NoQuery, Page } from '../../platform/http/schemas.ts'
import type { Actor } from '../../platform/identity/actor.ts'
import { requireEntitlement } from '../../platform/identity/entitlements.ts'
import type { Similar } from '../../platform/meanings.ts'
import { readTimeZone } from '../../platform/time-zone.ts'
import type { ConversationDeps } from '../deps.ts'
import { Conversation } from '../schema.ts'
import { filterFromQuery } from './from-query.ts'
import { type Includable, includeIn } from './included/include.ts'
import { listConversationsByIds, listInOrder } from './queries.ts'
import {
  ConversationCount,
  ConversationQuery,
  ConversationSearch,
  CountAnswer,
  FoundConversation,
  mostPeriods,
} from './schema.ts'

const tags = ['Conversations']

type CountRequest = Static<typeof ConversationCount>

/** Returns the intervals to count by, or undefined if the request doesn't ask for counts. */
const readPeriods = ({ interval, timezone }: CountRequest, { since, until }: Resolved, now: Date) => {
  if (interval === undefined) {
    if (timezone !== undefined) throw invalid('timezone', 'requires an interval')
    return undefined
  }
  if (since === undefined) throw invalid('filter.since', 'or filter.period is required with an interval')
  const window = { since: new Date(since), until: until === undefined ? now : new Date(until) }
  if (window.until <= window.since) throw invalid('filter.since', 'must be in the past if the filter has no until')
  return { interval, timezone: readTimeZone(timezone ?? 'UTC', 'timezone'), ...window, mostPeriods }
}

/** Replaces a period with its current start and end. */
const fixPeriod = async (db: Db, { period, ...selection }: Resolved): Promise<Resolved> => {
  if (!period) return selection
  const { since, until } = await resolvePeriod(db, period)
  return { ...selection, since: since.toISOString(), until: until.toISOString() }
}

type PageRequest = { limit: number; cursor?: string }

type Listed = Awaited<ReturnType<typeof listConversationsByIds>>[number]

/** Adds each conversation's passage that is most similar to the filter's text or conversation. */
const withPassages = (rows: Listed[], similar: Similar[] | undefined) => {
  if (!similar) return rows
  const passages = new Map(similar.map(({ conversationId, ...passage }) => [conversationId, passage]))
  return rows.map((row) => {
    const similarPassage = passages.get(row.id)
    return { ...row, ...(similarPassage && { similarPassage }) }
  })
}

export const conversationSearch = (app: App, deps: ConversationDeps): void => {
  const { db, database, replica, clock, findBlind } = deps

  /**
   * A cursor belongs to the filter as the caller sent it, because a search by meaning selects different conversations
   * as new ones arrive.
   */
  type Search = { given: object; selection: Selection<Similar[]> & { externalId?: string } }

  const answerPage = async (list: string, org: OrgId, { given, selection }: Search, request: PageRequest) => {
    const read = <Row extends { id: string; startedAt: Date }>(rows: (page: Position) => Promise<Row[]>) =>
      app.paging.page(request, [list, org, given], rows, ({ startedAt, id }) => `${startedAt.toISOString()} ${id}`)
    const near = database.dbOf(org)
    if (isReadInIndexOrder(org, selection)) return read((page) => listInOrder(near, org, selection, page))
    const { data, nextCursor } = await read((page) => listSelected(near, org, selection, page))
    const ids = data.map(({ id }) => id)
    return { data: await listConversationsByIds(near, org, ids), nextCursor }
  }

  const answerSorted = async (org: OrgId, { given, selection }: Search, sorting: Sorting, request: PageRequest) => {
    const near = database.dbOf(org)
    const { data, nextCursor } = await app.paging.page(
      request,
      ['search', org, given, sorting],
      (page) => listSorted(near, org, selection, sorting, page),
      positionOf,
    )
    const ids = data.map(({ id }) => id)
    return { data: await listConversationsByIds(near, org, ids), nextCursor }
  }

  const checkSort = async (actor: Actor, { key }: Sorting): Promise<void> => {
    if (key.kind === 'metric') requireEntitlement(actor, 'metrics')
    if (key.kind !== 'score') return
    requireEntitlement(actor, 'monitors')
    const found = await findNames(db, actor.org, [{ monitors: [{ id: key.monitorId, result: 'all' }] }])
    if (!found.has(key.monitorId)) throw invalid('sort.by', 'is not a monitor in your organization')
  }

  const checkIncluded = (actor: Actor, include: readonly Includable[]): void => {
    if (include.includes('results') || include.includes('cost')) requireEntitlement(actor, 'monitors')
    if (include.includes('metrics')) requireEntitlement(actor, 'metrics')
  }

  app.get(
    '/v1/conversations',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listConversations',
        summary: 'List conversations',
        description: 'Latest start first. All filters must match. For `and`, `or`, and `not`, use search.',
        querystring: ConversationQuery,
        response: answers({ 200: Page(Conversation) }, 400, 401),
      },
    },
    async ({ actor, query }) => {
      const { limit, cursor, externalId } = query
      const filter = await resolve(deps, actor.org, filterFromQuery(query))
      const selection = { ...filter, ...(externalId !== undefined && { externalId }) }
      const page = { limit, ...(cursor !== undefined && { cursor }) }
      return answerPage('conversations', actor.org, { given: selection, selection }, page)
    },
  )

  app.post(
    '/v1/conversations/search',
    {
      config: { access: { role: 'viewer' }, unaudited: 'It only reads.' },
      schema: {
        tags,
        operationId: 'searchConversations',
        summary: 'Search conversations',
        description:
          'Latest start first, unless you choose a `sort`. Read-only and safe to repeat. Keep the filter and the sort ' +
          'unchanged when you send a `cursor`.',
        querystring: NoQuery,
        body: ConversationSearch,
        response: answers({ 200: Page(FoundConversation) }, 400, 401, 403),
      },
    },
    async ({ actor, body: { filter, sort, include = [], ...request } }) => {
      const { org } = actor
      const given = parseFilter(filter, 'filter')
      const sorting = parseSort(sort, 'sort', given)
      checkIncluded(actor, include)
      await checkSort(actor, sorting)
      const selection = await resolve(deps, org, given)
      const { data, nextCursor } = isNewestFirst(sorting)
        ? await answerPage('search', org, { given, selection }, request)
        : await answerSorted(org, { given, selection }, sorting, request)
      const findHidden = (ids: string[]) => findBlind(db, actor, ids)
      const rows = withPassages(data, selection.similarTo)
      return { data: await includeIn(database.dbOf(org), org, rows, { include, findHidden }), nextCursor }
    },
  )

  app.post(
    '/v1/conversations/count',
    {
      config: { access: { role: 'viewer' }, unaudited: 'It only reads.' },
      schema: {
        tags,
        operationId: 'countConversations',
        summary: 'Count conversations',
        description:
          'Also describes the filter in words. Read-only and safe to repeat. With an `interval`, returns counts ' +
          'over time.',
        querystring: NoQuery,
        body: ConversationCount,
        response: answers({ 200: CountAnswer }, 400, 401),
      },
    },
    async ({ actor, body }) => {
      const given = parseFilter(body.filter, 'filter')
      const explanation = explainFilter(given, await findNames(db, actor.org, [given]))
      const selection = await resolve(deps, actor.org, given)
      const periods = readPeriods(body, await fixPeriod(db, selection), clock.now())
      if (!periods) {
        const count = await replica.read((on) => countSelected(on, actor.org, selection))
        return { count, explanation }
      }
      const { period: _, ...rest } = selection
      const within = { ...rest, since: periods.since.toISOString(), until: periods.until.toISOString() }
      const series = await replica.read((on) => countSelectedByPeriod(on, actor.org, within, periods))
      return { count: series.reduce((sum, { count }) => sum + count, 0), explanation, series }
    },
  )
}
