import type { Deps } from '../../deps.ts'
import { invalid } from '../../platform/errors.ts'
import type { App } from '../../platform/http/http.ts'
import { answers, IdParams, Page } from '../../platform/http/schemas.ts'
import { getMonitor } from '../queries.ts'
import { type Judged, listAgreements } from './queries.ts'
import { AgreementQuery, VersionAgreement } from './schema.ts'
import { kappa, share } from './statistics.ts'

/** In one spelling, which a cursor is bound to. */
const parseWindow = ({ since, until, ...rest }: Judged): Judged => {
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

export const monitorAgreement = (app: App, { db }: Deps): void => {
  app.get(
    '/v1/monitors/:id/agreement',
    {
      config: { access: { role: 'viewer', entitlement: 'monitors' } },
      schema: {
        tags: ['Monitors'],
        operationId: 'listMonitorAgreement',
        summary: 'How the results of a monitor agree with what people judged, by version, the newest first',
        description:
          'Judgments of completed reviews, each compared with the result of the version that it was made of. Two people ' +
          'who judged the same conversation count twice.',
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
        (page) => listAgreements(db, actor.org, id, judged, page),
        ({ version }) => String(version),
      )
      return { data: data.map(measured), nextCursor }
    },
  )
}
