import Type from 'typebox'
import type { Deps } from '../../platform/deps.ts'
import { dayMs } from '../../platform/durations.ts'
import { invalid } from '../../platform/errors.ts'
import type { App } from '../../platform/http/http.ts'
import { answers, Choice, Closed, Id, Nullable, Timestamp, TimestampInput } from '../../platform/http/schemas.ts'
import { changes, compareMonitors } from './compare.ts'
import { listExamples } from './queries.ts'

const longestDays = 92
const mostMonitors = 200

const Count = Type.Integer({ minimum: 0 })

const Period = Closed({
  affected: Count,
  notAffected: Count,
  rate: Nullable(
    Closed(
      {
        value: Type.Number({ minimum: 0, maximum: 1 }),
        low: Type.Number({ minimum: 0, maximum: 1, description: 'The lower end of the 95% interval.' }),
        high: Type.Number({ minimum: 0, maximum: 1, description: 'The upper end of the 95% interval.' }),
      },
      { description: 'The share of affected results among affected and not affected ones. Null if there are none.' },
    ),
  ),
})

const Compared = Closed({
  monitorId: Id,
  monitorName: Type.String(),
  change: Choice(changes, {
    description:
      'Whether the affected rate rose or fell. unclear: the interval of the difference includes 0, or data is missing.',
  }),
  current: Period,
  previous: Period,
  difference: Nullable(
    Closed(
      { value: Type.Number(), low: Type.Number(), high: Type.Number() },
      { description: 'The current rate minus the previous one, with its 95% interval; null if either is unknown.' },
    ),
  ),
  definitionChanged: Type.Boolean({
    description:
      'Whether several versions of the monitor were counted. If so, a changed definition may have caused the ' +
      'difference.',
  }),
  examples: Type.Array(Closed({ conversationId: Id, startedAt: Timestamp, reasoning: Nullable(Type.String()) }), {
    description: 'The latest affected conversations in the current period.',
  }),
})

const PeriodBounds = Closed({ since: Timestamp, until: Timestamp })

const Comparison = Closed(
  { current: PeriodBounds, previous: PeriodBounds, data: Type.Array(Compared) },
  { title: 'MonitorComparison' },
)

const ComparisonQuery = Closed({
  since: Type.Optional({ ...TimestampInput, description: 'The start of the period. Default: 7 days before `until`.' }),
  until: Type.Optional({ ...TimestampInput, description: 'The end of the period, exclusive. Default: now.' }),
  examples: Type.Integer({ minimum: 0, maximum: 10, default: 3, description: 'The number of examples per monitor.' }),
  monitors: Type.Integer({
    minimum: 1,
    maximum: mostMonitors,
    default: 20,
    description: 'The number of monitors to return.',
  }),
})

const readPeriods = (query: { since?: string; until?: string }, now: Date) => {
  const until = query.until === undefined ? now : new Date(query.until)
  const since = query.since === undefined ? new Date(until.getTime() - 7 * dayMs) : new Date(query.since)
  const length = until.getTime() - since.getTime()
  if (length <= 0) throw invalid(query.until === undefined ? 'since' : 'until', 'must be later than since')
  if (length > longestDays * dayMs) throw invalid('since', `must be at most ${longestDays} days before until`)
  return { before: new Date(since.getTime() - length), since, until }
}

export const monitorComparison = (app: App, { db, replica, clock }: Deps): void => {
  app.get(
    '/v1/monitors/comparison',
    {
      config: { access: { role: 'viewer', entitlement: 'monitors' } },
      schema: {
        tags: ['Monitors'],
        operationId: 'compareMonitors',
        summary: 'Compare monitors with the previous period',
        description:
          'The previous period has the same length. Monitors with the strongest evidence of a rise come first. With many ' +
          'monitors, 1 in 20 unchanged ones shows a change by chance. ' +
          `Covers up to ${longestDays} days and the ${mostMonitors} newest enabled monitors.`,
        querystring: ComparisonQuery,
        response: answers({ 200: Comparison }, 400, 401, 403),
      },
    },
    async ({ actor, query }) => {
      const periods = readPeriods(query, clock.now())
      const { before, since, until } = periods
      const compared = await replica.read((on) => compareMonitors(on, actor.org, periods, { mostMonitors }))
      const shown = compared
        .sort((a, b) => (b.difference?.low ?? -Infinity) - (a.difference?.low ?? -Infinity))
        .slice(0, query.monitors)
      const ids = shown.map(({ monitorId }) => monitorId)
      // Examples contain a judge's text about a conversation, which nobody may read after the conversation has been
      // erased.
      const examples = await listExamples(db, actor.org, ids, { since, until, each: query.examples })
      return {
        current: { since, until },
        previous: { since: before, until: since },
        data: shown.map((each) => ({
          ...each,
          examples: examples
            .filter(({ monitorId }) => monitorId === each.monitorId)
            .map(({ conversationId, startedAt, reasoning }) => ({ conversationId, startedAt, reasoning })),
        })),
      }
    },
  )
}
