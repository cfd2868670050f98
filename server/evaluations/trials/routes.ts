import type { ServerResponse } from 'node:http'
import { parseFilter } from '../../filters/filter.ts'
import { checkDefinition, type MonitorDefinition } from '../../monitors/definition.ts'
import type { JudgeDefinition } from '../../monitors/judges/definition.ts'
import { resolveLearned } from '../../monitors/learned.ts'
import { getMonitor, type StoredMonitor } from '../../monitors/queries.ts'
import { type AuditTarget, recordAudit } from '../../platform/audit/record.ts'
import { ApiError, invalidAll } from '../../platform/errors.ts'
import type { App } from '../../platform/http/http.ts'
import { answers, IdParams, NoQuery } from '../../platform/http/schemas.ts'
import type { Actor } from '../../platform/identity/actor.ts'
import { newId } from '../../platform/ids.ts'
import type { EvaluationDeps } from '../deps.ts'
import { findMonitorsInScope, resolveScopes } from '../monitors-in-scope.ts'
import { faultsOf, listChosen } from './choose.ts'
import { compare } from './compare.ts'
import { listLastJudgments, listNewestResults } from './queries.ts'
import { askMonitor, longestTrialSeconds } from './run-trial.ts'
import { type Chosen, DraftTrial, MonitorTrial, TrialAnswer } from './schema.ts'

const tags = ['Monitors']
const entitlement = 'monitors'

const description =
  'Evaluates completed conversations without storing results. A judge’s cost counts toward the monthly budget. ' +
  `Results fail if the budget does not allow them or if they take longer than ${longestTrialSeconds} seconds. ` +
  'Closing the connection stops the test. The sampling rate is ignored.'

/** Returns a signal that aborts after the time limit, or when the connection closes. */
const untilOver = (response: ServerResponse): AbortSignal => {
  const closed = new AbortController()
  response.once('close', () => closed.abort())
  return AbortSignal.any([closed.signal, AbortSignal.timeout(longestTrialSeconds * 1_000)])
}

type Trial = {
  monitor: StoredMonitor
  /** The definition in the request, which may be invalid. */
  given: MonitorDefinition | undefined
  chosen: Chosen
  targets: AuditTarget[]
  signal: AbortSignal
}

export const monitorTrials = (app: App, deps: EvaluationDeps): void => {
  const { db, clock, judge } = deps

  const tryMonitor = async (actor: Actor, { monitor: tried, given, chosen, targets, signal }: Trial) => {
    const { kind } = tried
    if (kind === 'external') {
      throw new ApiError(
        'conflict',
        'Earshot does not evaluate external monitors. Send their results to /v1/monitor-results.',
      )
    }
    if (kind === 'scorecard') {
      throw new ApiError('conflict', 'Scorecards are computed from stored results. Start a run to compute them.')
    }
    const issues = [...(given ? checkDefinition(kind, given) : []), ...faultsOf(kind, chosen)]
    if (issues.length > 0) throw invalidAll(issues)
    const definition = given ? await resolveLearned(db, actor.org, targets[0]?.id, given) : tried.definition
    const monitor = { ...tried, definition }
    const readAt = clock.now()
    const subjects = await listChosen(deps, actor.org, chosen)
    if (kind === 'judge') {
      // The definition was validated for its kind just now, or when it was stored.
      await judge.requireModel(actor.org, definition as JudgeDefinition)
    }
    const ids = subjects.map(({ id }) => id)
    const scopes = await resolveScopes(deps, actor.org, ids, [monitor])
    const isAsked = await findMonitorsInScope(db, actor.org, subjects, [monitor], scopes)
    await recordAudit(db, actor, 'monitor.test', ...targets)
    const asked = subjects.filter((subject) => isAsked(subject, monitor))
    const found = await askMonitor(deps, actor.org, { monitor, subjects: asked, readAt, signal })
    const stored = await listNewestResults(db, actor.org, monitor.id, ids)
    const judgments = await listLastJudgments(db, actor.org, monitor.id, ids)
    return compare(ids, { answers: found, stored, judgments })
  }

  app.post(
    '/v1/monitors/test',
    {
      config: { access: { role: 'member', entitlement } },
      schema: {
        tags,
        operationId: 'testMonitorDraft',
        summary: 'Test a draft monitor',
        description,
        querystring: NoQuery,
        body: DraftTrial,
        response: answers({ 200: TrialAnswer }, 400, 401, 403, 409),
      },
    },
    ({ actor, body: { kind, definition, scope = {}, ...chosen } }, reply) => {
      const at = clock.now()
      const monitor = {
        id: newId(),
        name: '',
        description: null,
        kind,
        enabled: false,
        number: 1,
        definition,
        scope: parseFilter(scope, 'scope'),
        samplePercent: 100,
        requireGain: false,
        note: null,
        versionCreatedAt: at,
        createdAt: at,
        updatedAt: at,
      }
      return tryMonitor(actor, { monitor, given: definition, chosen, targets: [], signal: untilOver(reply.raw) })
    },
  )

  app.post(
    '/v1/monitors/:id/test',
    {
      config: { access: { role: 'member', entitlement } },
      schema: {
        tags,
        operationId: 'testMonitor',
        summary: 'Test changes to a monitor',
        description,
        params: IdParams,
        querystring: NoQuery,
        body: MonitorTrial,
        response: answers({ 200: TrialAnswer }, 400, 401, 403, 404, 409),
      },
    },
    async ({ actor, params, body: { definition: given, scope, ...chosen } }, reply) => {
      const signal = untilOver(reply.raw)
      const parsed = scope && parseFilter(scope, 'scope')
      const current = await getMonitor(db, actor.org, params.id)
      const change = { ...(given && { definition: given }), ...(parsed && { scope: parsed }), samplePercent: 100 }
      const targets = [{ type: 'monitor', id: current.id }]
      return tryMonitor(actor, { monitor: { ...current, ...change }, given, chosen, targets, signal })
    },
  )
}
