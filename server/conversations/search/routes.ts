import type { Static } from 'typebox'
import { explainFilter } from '../../filters/explain.ts'
import { parseFilter } from '../../filters/filter.ts'
import { findNames } from '../../filters/names/queries.ts'
import {
  countSelected,
  countSelectedByPeriod,
  isReadInIndexOrder,
  listSelected,
  type Selection,
} from '../../filters/queries.ts'
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
const readPeriods = ({ interval, timezone }: CountRequest, { since, until }: Selection, now: Date) => {
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
const fixPeriod = async (db: Db, { period, ...selection }: Selection): Promise<Selection> => {
  if (!period) return selection
  const { since, until } = await resolvePeriod(db, period)
  return { ...selection, since: since.toISOString(), until: until.toISOString() }
}

type PageRequest = { limit: number; cursor?: string }

export const conversationSearch = (app: App, deps: ConversationDeps): void => {
  const { db, database, replica, clock, findBlind } = deps

  const answerPage = async (list: string, org: OrgId, selection: Selection, request: PageRequest) => {
    const read = <Row extends { id: string; startedAt: Date }>(rows: (page: Position) => Promise<Row[]>) =>
      app.paging.page(request, [list, org, selection], rows, ({ startedAt, id }) => `${startedAt.toISOString()} ${id}`)
    const near = database.dbOf(org)
    if (isReadInIndexOrder(org, selection)) return read((page) => listInOrder(near, org, selection, page))
    const { data, nextCursor } = await read((page) => listSelected(near, org, selection, page))
    const ids = data.map(({ id }) => id)
    return { data: await listConversationsByIds(near, org, ids), nextCursor }
  }

  const answerSorted = async (org: OrgId, selection: Selection, sorting: Sorting, request: PageRequest) => {
    const near = database.dbOf(org)
    const { data, nextCursor } = await app.paging.page(
      request,
      ['search', org, selection, sorting],
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
    ({ actor, query }) => {
      const { limit, cursor, externalId } = query
      const selection = { ...filterFromQuery(query), ...(externalId !== undefined && { externalId }) }
      return answerPage('conversations', actor.org, selection, { limit, ...(cursor !== undefined && { cursor }) })
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
      const selection = parseFilter(filter, 'filter')
      const sorting = parseSort(sort, 'sort')
      checkIncluded(actor, include)
      await checkSort(actor, sorting)
      const { data, nextCursor } = isNewestFirst(sorting)
        ? await answerPage('search', org, selection, request)
        : await answerSorted(org, selection, sorting, request)
      const findHidden = (ids: string[]) => findBlind(db, actor, ids)
      return { data: await includeIn(database.dbOf(org), org, data, { include, findHidden }), nextCursor }
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
      const selection = parseFilter(body.filter, 'filter')
      const explanation = explainFilter(selection, await findNames(db, actor.org, [selection]))
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
