import { getMonitor } from '../monitors/queries.ts'
import { recordAudit } from '../platform/audit/record.ts'
import { invalid } from '../platform/errors.ts'
import type { App } from '../platform/http/http.ts'
import { answers, IdParams, NoQuery, Page } from '../platform/http/schemas.ts'
import type { ResultDeps } from './deps.ts'
import { withItemReasons } from './item-reasons.ts'
import { getCallStart, listConversationResults, listMonitorResults, type ResultFilter } from './queries.ts'
import { ConversationResultQuery, MonitorResultQuery, Result, ResultBatch, ResultBatchAnswer } from './schema.ts'
import { writeBatch } from './write-results.ts'

const tags = ['Monitors']
const entitlement = 'monitors'

/** Normalizes the times, because a cursor only works with the query it was created for. */
const parseWindow = ({ since, until, ...filter }: ResultFilter): ResultFilter => {
  if (since !== undefined && until !== undefined && Date.parse(until) <= Date.parse(since)) {
    throw invalid('until', 'must be later than since')
  }
  const utc = (instant: string) => new Date(instant).toISOString()
  return {
    ...filter,
    ...(since !== undefined && { since: utc(since) }),
    ...(until !== undefined && { until: utc(until) }),
  }
}

export const monitorResults = (app: App, deps: ResultDeps): void => {
  const { db, config } = deps
  app.post(
    '/v1/monitor-results',
    {
      bodyLimit: config.limits.documentBytes,
      config: { access: { role: 'member', entitlement }, list: 'results' },
      schema: {
        tags,
        operationId: 'createMonitorResults',
        summary: 'Submit results for external monitors',
        description:
          'Each result belongs to its monitor’s current version and replaces the previous one. Each has its own ' +
          'outcome in the response. If the request contains several results for the same monitor and ' +
          'conversation, the last one wins.',
        querystring: NoQuery,
        body: ResultBatch,
        response: answers({ 200: ResultBatchAnswer }, 400, 401, 403),
      },
    },
    ({ actor, body }) =>
      db.transaction().execute(async (trx) => {
        const data = await writeBatch(deps, trx, actor.org, body.results)
        await recordAudit(trx, actor, 'monitor.results')
        return { data }
      }),
  )

  app.get(
    '/v1/monitors/:id/results',
    {
      config: { access: { role: 'viewer', entitlement } },
      schema: {
        tags,
        operationId: 'listMonitorResults',
        summary: 'List a monitor’s results',
        description: 'Latest call first. All filters must match. `since` and `until` apply to the start of the call.',
        params: IdParams,
        querystring: MonitorResultQuery,
        response: answers({ 200: Page(Result) }, 400, 401, 403, 404),
      },
    },
    async ({ actor, params, query: { limit, cursor, ...given } }) => {
      const filter = parseWindow(given)
      const { id } = await getMonitor(db, actor.org, params.id)
      return app.paging.page(
        { limit, cursor },
        ['monitor-results', actor.org, id, filter],
        async (page) => withItemReasons(db, actor.org, await listMonitorResults(db, actor.org, id, filter, page)),
        ({ callStartedAt, conversationId, monitorVersion }) =>
          `${callStartedAt.toISOString()} ${conversationId} ${monitorVersion}`,
      )
    },
  )

  app.get(
    '/v1/conversations/:id/results',
    {
      config: { access: { role: 'viewer', entitlement } },
      schema: {
        tags,
        operationId: 'listConversationResults',
        summary: 'List a conversation’s results',
        description:
          'Returns the newest version’s result for each monitor. Returns 403 while you have a blind review of the conversation.',
        params: IdParams,
        querystring: ConversationResultQuery,
        response: answers({ 200: Page(Result) }, 400, 401, 403, 404),
      },
    },
    async ({ actor, params, query: { limit, cursor, history = false } }) => {
      const id = params.id.toLowerCase()
      const startedAt = await getCallStart(db, actor.org, id)
      await deps.requireOwnAnswer(db, actor, id)
      return app.paging.page(
        { limit, cursor },
        ['conversation-results', actor.org, id, history],
        async (page) =>
          withItemReasons(
            db,
            actor.org,
            await listConversationResults(db, actor.org, { id, startedAt, history }, page),
          ),
        ({ monitorId, monitorVersion }) => `${monitorId} ${monitorVersion}`,
      )
    },
  )
}
