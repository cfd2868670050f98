// The routes that anyone with a link can call. The link's token is in the body to keep it out of logs.

import type { FastifyRequest } from 'fastify'
import { answerQuery } from '../../analytics/answer.ts'
import { Analytics } from '../../analytics/answer-schema.ts'
import { entitlementOf } from '../../analytics/query-schema.ts'
import { getCompany } from '../../companies/queries.ts'
import { getOrganization } from '../../organizations/queries.ts'
import type { Deps } from '../../platform/deps.ts'
import { ApiError } from '../../platform/errors.ts'
import type { App } from '../../platform/http/http.ts'
import { limitByAddress, tokenBuckets } from '../../platform/http/rate-limit.ts'
import { answers, NoQuery } from '../../platform/http/schemas.ts'
import { readTimeZone } from '../../platform/time-zone.ts'
import { findBoard } from '../find.ts'
import type { Chart } from '../schema.ts'
import { filterForCompany } from './of-company.ts'
import { findOpenShare, noteOpened } from './queries.ts'
import { SharedBoard, SharedBoardRequest, SharedChartRequest } from './schema.ts'
import { readToken } from './token.ts'

const tags = ['Analytics']

const gone = () => new ApiError('notFound', 'This link is invalid, has expired, or was revoked. Ask for a new one.')

const nothing = { period: null, comparedPeriod: null, groups: [], warnings: [] }

const unaudited = 'It only reads. The token is in the body to keep it out of logs.'

export const sharedBoards = (app: App, deps: Deps): void => {
  const { db, clock } = deps
  // A board has up to 24 charts, which are requested together.
  const countAddress = limitByAddress({ perSecond: 5, burst: 100 }, 'Too many requests from this IP address.')
  const shares = tokenBuckets({ perSecond: 10, burst: 200 })

  const asVisitor = async (request: FastifyRequest) => countAddress(request.ip)

  /** Returns the link, its company, and its board in the form that the organization can currently show. */
  const openShare = async (token: string) => {
    const read = readToken(token)
    const share = read && (await findOpenShare(db, read.org, read.id, read.tokenHash, clock.now()))
    if (!share) throw gone()
    const { org } = read
    if (shares.take(share.id) < 0) {
      throw new ApiError('rateLimited', 'This link has been opened too often. Try again in a moment.', {
        retryAfterSeconds: 1,
      })
    }
    const { status, entitlements } = await getOrganization(db, org)
    if (status === 'suspended') throw gone()
    const [board, company] = await Promise.all([
      findBoard(db, { org, entitlements }, share.boardId),
      getCompany(db, org, share.companyId),
    ]).catch((error: unknown) => {
      throw error instanceof ApiError && error.kind === 'notFound' ? gone() : error
    })
    const isAllowed = ({ query: { measure, groupBy } }: Chart) => {
      const needed = entitlementOf(measure, groupBy)
      return needed === undefined || entitlements[needed]
    }
    return { org, share, company, board, charts: board.charts.filter(isAllowed) }
  }

  app.post(
    '/v1/shared-board',
    {
      onRequest: asVisitor,
      config: { access: 'public', unaudited },
      schema: {
        tags,
        operationId: 'getSharedBoard',
        summary: 'Get a shared board',
        description: 'Requires only the link’s token. Returns 404 once the link has expired or was revoked.',
        querystring: NoQuery,
        body: SharedBoardRequest,
        response: answers({ 200: SharedBoard }, 400, 404, 429),
      },
    },
    async ({ body }) => {
      const { org, share, company, board, charts } = await openShare(body.token)
      await noteOpened(db, org, share.id, clock.now())
      return {
        name: board.name,
        company: { name: company.name, logoUrl: company.logoUrl },
        compareTo: board.compareTo,
        charts: charts.map(({ query: { measure, groupBy, interval }, ...chart }) => ({
          ...chart,
          query: { measure, ...(groupBy && { groupBy }), ...(interval && { interval }) },
        })),
        expiresAt: share.expiresAt,
      }
    },
  )

  app.post(
    '/v1/shared-board/query',
    {
      onRequest: asVisitor,
      config: { access: 'public', unaudited },
      schema: {
        tags,
        operationId: 'querySharedChart',
        summary: 'Measure a shared board’s chart',
        description: 'Counts only conversations of the link’s company. Requires only the link’s token.',
        querystring: NoQuery,
        body: SharedChartRequest,
        response: answers({ 200: Analytics }, 400, 404, 429),
      },
    },
    async ({ body }) => {
      const { org, company, board, charts } = await openShare(body.token)
      const chart = charts.find(({ id }) => id === body.chartId.toLowerCase())
      if (!chart) throw gone()
      const timezone = body.timezone === undefined ? undefined : readTimeZone(body.timezone, 'timezone')
      const { filter: own, ...query } = chart.query
      const filter = filterForCompany(board.filter, own, company.id)
      if (!filter) return nothing
      return answerQuery(deps, org, {
        ...query,
        filter: filter.period && timezone ? { ...filter, period: { ...filter.period, timezone } } : filter,
        ...(timezone && { timezone }),
        ...(board.compareTo && { compareTo: board.compareTo }),
      })
    },
  )
}
