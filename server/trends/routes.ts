import { getMonitor } from '../monitors/queries.ts'
import type { Deps } from '../platform/deps.ts'
import { invalid } from '../platform/errors.ts'
import type { App } from '../platform/http/http.ts'
import { answers, IdParams } from '../platform/http/schemas.ts'
import { readTimeZone } from '../platform/time-zone.ts'
import { share } from '../statistics/agreement.ts'
import { correctedRate } from './corrected.ts'
import { countByTime, listReviewedResults } from './queries.ts'
import { Trend, TrendQuery } from './schema.ts'

const mostBuckets = 1_000

export const monitorTrend = (app: App, { db, replica, clock }: Deps): void => {
  app.get(
    '/v1/monitors/:id/trend',
    {
      config: { access: { role: 'viewer', entitlement: 'monitors' } },
      schema: {
        tags: ['Monitors'],
        operationId: 'getMonitorTrend',
        summary: 'Get a monitor’s trend',
        description:
          'Counts results by hour, day, or week of the call’s start, oldest first without gaps, up to ' +
          `${mostBuckets.toLocaleString('en')} periods. The first and last are clipped to the requested period.`,
        params: IdParams,
        querystring: TrendQuery,
        response: answers({ 200: Trend }, 400, 401, 403, 404),
      },
    },
    async ({ actor, params, query: { interval, version, ...window } }) => {
      const since = window.since === undefined ? undefined : new Date(window.since)
      const until = window.until === undefined ? clock.now() : new Date(window.until)
      if (since && until <= since) throw invalid(window.until ? 'until' : 'since', 'must be later than since')
      const timezone = readTimeZone(window.timezone, 'timezone')
      const { id, number, kind } = await getMonitor(db, actor.org, params.id)
      // If a monitor has one version, every result is the newest of its call, so it does not have to be looked up.
      const trendQuery = {
        interval,
        timezone,
        since,
        until,
        mostBuckets,
        withCost: kind === 'judge',
        version: number === 1 ? (version ?? 1) : version,
      }
      const { buckets, reviews } = await replica.read(async (on) => {
        const counted = await countByTime(on, actor.org, id, trendQuery)
        const [first, last] = [counted[0], counted.at(-1)]
        const within = first && last && { since: first.start, until: last.end, version: trendQuery.version }
        return {
          buckets: counted,
          reviews: within ? await listReviewedResults(on, actor.org, id, within) : [],
        }
      })
      const data = buckets.map((bucket) => {
        const rate = share(bucket.affected, bucket.affected + bucket.notAffected)
        return { ...bucket, affectedRate: rate?.value ?? null, low: rate?.low ?? null, high: rate?.high ?? null }
      })
      const sum = (of: 'affected' | 'notAffected') => data.reduce((all, bucket) => all + bucket[of], 0)
      const corrected = correctedRate({ affected: sum('affected'), notAffected: sum('notAffected') }, reviews)
      return { interval, timezone, data, corrected }
    },
  )
}
