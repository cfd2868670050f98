import { getMonitor } from '../monitors/queries.ts'
import type { Deps } from '../platform/deps.ts'
import { invalid } from '../platform/errors.ts'
import type { App } from '../platform/http/http.ts'
import { answers, IdParams, Page } from '../platform/http/schemas.ts'
import { kappa, share } from '../statistics/agreement.ts'
import { commonest, fleissKappa, krippendorffsAlpha, type RatedUnit, withInterval } from './between-people.ts'
import { type JudgedPeriod, listAgreements, listPairs, listPatterns } from './queries.ts'
import { AgreementQuery, VersionAgreement } from './schema.ts'

/** Normalizes the times, because a cursor only works with the query it was created for. */
const parseWindow = ({ since, until, ...rest }: JudgedPeriod): JudgedPeriod => {
  if (since !== undefined && until !== undefined && Date.parse(until) <= Date.parse(since)) {
    throw invalid('until', 'must be later than since')
  }
  return {
    ...rest,
    ...(since !== undefined && { since: new Date(since).toISOString() }),
    ...(until !== undefined && { until: new Date(until).toISOString() }),
  }
}

type Counted = Awaited<ReturnType<typeof listAgreements>>[number]

const measured = ({ truePositives, falsePositives, falseNegatives, trueNegatives, ...counts }: Counted) => {
  const matrix = { truePositives, falsePositives, falseNegatives, trueNegatives }
  const alike = truePositives + trueNegatives
  return {
    ...counts,
    matrix,
    precision: share(truePositives, truePositives + falsePositives),
    recall: share(truePositives, truePositives + falseNegatives),
    agreement: share(alike, alike + falsePositives + falseNegatives),
    kappa: kappa(matrix),
  }
}

type Patterns = Awaited<ReturnType<typeof listPatterns>>
type Pairs = Awaited<ReturnType<typeof listPairs>>

const mostPairs = 50

const pairOf = ({ first, second, conversations, ...pair }: Pairs[number]) => ({
  reviewerUserIds: [first, second],
  conversations,
  agreement: share(pair.bothAffected + pair.neitherAffected, conversations),
  kappa: kappa({
    truePositives: pair.bothAffected,
    falsePositives: pair.firstAffected,
    falseNegatives: pair.secondAffected,
    trueNegatives: pair.neitherAffected,
  }),
})

const answersOf = ({ counts }: RatedUnit): number => counts.reduce((total, count) => total + count, 0)
const timesOf = (units: RatedUnit[]): number => units.reduce((total, { times }) => total + times, 0)

const betweenPeople = (patterns: Patterns, pairs: Pairs) => {
  const units: RatedUnit[] = patterns.map(({ affected, notAffected, conversations }) => ({
    counts: [affected, notAffected],
    times: conversations,
  }))
  const alike = commonest(units)
  const fleiss = withInterval(alike, fleissKappa)
  const alpha = withInterval(units, krippendorffsAlpha)
  const conversations = timesOf(units)
  const judgments = units.reduce((total, unit) => total + answersOf(unit) * unit.times, 0)
  const people = alike[0] ? answersOf(alike[0]) : 0
  return {
    conversations,
    pairs: pairs.map(pairOf),
    fleissKappa: fleiss && { ...fleiss, conversations: timesOf(alike), people },
    krippendorffsAlpha: alpha && { ...alpha, conversations, judgments },
  }
}

export const monitorAgreement = (app: App, { db, replica }: Deps): void => {
  app.get(
    '/v1/monitors/:id/agreement',
    {
      config: { access: { role: 'viewer', entitlement: 'monitors' } },
      schema: {
        tags: ['Monitors'],
        operationId: 'listMonitorAgreement',
        summary: 'Get a monitor’s agreement with reviewers',
        description:
          'Compares each version, newest first, with the judgments of completed reviews. If two people judged a ' +
          'conversation, both count. If one person judged it twice, the latest counts. An adjudication replaces the ' +
          'judgments that it decides between.',
        params: IdParams,
        querystring: AgreementQuery,
        response: answers({ 200: Page(VersionAgreement) }, 400, 401, 403, 404),
      },
    },
    async ({ actor, params, query: { limit, cursor, ...given } }) => {
      const judged = parseWindow(given)
      const { id } = await getMonitor(db, actor.org, params.id)
      const { data, nextCursor } = await app.paging.page(
        { limit, cursor },
        ['monitor-agreement', actor.org, id, judged],
        (page) => replica.read((on) => listAgreements(on, actor.org, id, judged, page)),
        ({ version }) => String(version),
      )
      const between = { ...judged, monitorId: id, versions: data.map(({ version }) => version) }
      const patterns = await replica.read((on) => listPatterns(on, actor.org, between))
      const pairs = await replica.read((on) => listPairs(on, actor.org, between, mostPairs))
      const told = data.map((counts) => {
        const ofVersion = <R extends { version: number }>(rows: R[]) =>
          rows.filter((row) => row.version === counts.version)
        return { ...measured(counts), betweenPeople: betweenPeople(ofVersion(patterns), ofVersion(pairs)) }
      })
      return { data: told, nextCursor }
    },
  )
}
