import type { JudgeDefinition } from '../monitors/judges/definition.ts'
import { getMonitor, type StoredMonitor } from '../monitors/queries.ts'
import { ApiError, invalidAll } from '../platform/errors.ts'
import type { App } from '../platform/http/http.ts'
import { answers, IdParams, NoBody, NoQuery, Page, PageQuery, withHeaders } from '../platform/http/schemas.ts'
import { applyProposal } from './apply.ts'
import { selectCases } from './cases.ts'
import type { AlignmentDeps } from './deps.ts'
import { estimateAlignment } from './estimate.ts'
import { kindsFor, needsModel, proposalKinds } from './kinds.ts'
import { cancelAlignment, createAlignment, resumeAlignment } from './lifecycle.ts'
import { getAlignment, listAlignments, type ProposalKind } from './queries.ts'
import {
  Alignment,
  AlignmentApply,
  AlignmentCreate,
  AlignmentEstimate,
  AlignmentParams,
  AlignmentResume,
  AlignmentSummary,
} from './schema.ts'
import { showAlignment, showSummaries, showSummary } from './shown.ts'

const tags = ['Monitors']
const entitlement = 'monitors'

const usualConversations = 200

const requireJudge = ({ kind, definition }: StoredMonitor): JudgeDefinition => {
  if (kind !== 'judge')
    throw new ApiError('conflict', 'Only judges can be aligned. Rules and external monitors do not learn.')
  // Definitions were validated for their kind when they were stored.
  return definition as JudgeDefinition
}

/** Returns the requested proposals in a fixed order. Throws if the judge's output does not allow one of them. */
const readKinds = ({ output }: JudgeDefinition, requested: ProposalKind[] | undefined): ProposalKind[] => {
  const possible = kindsFor(output)
  if (!requested) return possible
  const issues = requested.flatMap((kind, at) =>
    possible.includes(kind) ? [] : [{ path: `proposals[${at}]`, message: 'needs a judge with a score' }],
  )
  if (issues.length > 0) throw invalidAll(issues)
  return proposalKinds.filter((kind) => requested.includes(kind))
}

export const monitorAlignments = (app: App, deps: AlignmentDeps): void => {
  const { db, judge } = deps

  app.get(
    '/v1/monitors/:id/alignments',
    {
      config: { access: { role: 'viewer', entitlement } },
      schema: {
        tags,
        operationId: 'listMonitorAlignments',
        summary: 'List a monitor’s alignments',
        description: 'Newest first, without their reports.',
        params: IdParams,
        querystring: PageQuery,
        response: answers({ 200: Page(AlignmentSummary) }, 400, 401, 403, 404),
      },
    },
    async ({ actor, params, query }) => {
      const { id } = await getMonitor(db, actor.org, params.id)
      const { data, nextCursor } = await app.paging.page(
        query,
        ['monitor-alignments', actor.org, id],
        (page) => listAlignments(db, actor.org, id, page),
        (alignment) => alignment.id,
      )
      return { data: await showSummaries(db, actor.org, data), nextCursor }
    },
  )

  app.post(
    '/v1/monitors/:id/alignments',
    {
      config: { access: { role: 'member', entitlement } },
      schema: {
        tags,
        operationId: 'createMonitorAlignment',
        summary: 'Align a judge with people',
        description:
          'Measures how well the current version of a judge agrees with people, and proposes improvements. A hash ' +
          'splits judged conversations into a tuning half, used to learn improvements, and a test half, used to ' +
          'test them. Conversations that the judge has learned from are never in the test half. Returns 409 if ' +
          'there are too few judgments, and says how many are missing. With `dryRun`, returns 200 with an estimate ' +
          'and starts nothing. Costs count toward the monthly judge budget.',
        params: IdParams,
        querystring: NoQuery,
        body: AlignmentCreate,
        response: answers(
          { 200: AlignmentEstimate, 202: withHeaders(AlignmentSummary, 'Location') },
          400,
          401,
          403,
          404,
          409,
        ),
      },
    },
    async ({ actor, params, body }, reply) => {
      const { proposals, maxConversations = usualConversations, maxCost = null, dryRun = false } = body
      const monitor = await getMonitor(db, actor.org, params.id)
      const definition = requireJudge(monitor)
      const kinds = readKinds(definition, proposals)
      const selected = await selectCases(db, actor.org, monitor, maxConversations)
      const estimate = await estimateAlignment(deps, actor.org, { monitor, selected, kinds })
      if (dryRun) return reply.code(200).send(estimate)
      if (selected.missing !== null) throw new ApiError('conflict', selected.missing)
      if (estimate.requests > 0 || kinds.some(needsModel)) await judge.requireModel(actor.org, definition)
      const created = await createAlignment(deps, actor, { monitor, kinds, maxCost, cases: selected.cases })
      const shown = await showSummary(db, actor.org, created)
      return reply.code(202).header('location', `/v1/monitors/${monitor.id}/alignments/${created.id}`).send(shown)
    },
  )

  app.get(
    '/v1/monitors/:id/alignments/:alignmentId',
    {
      config: { access: { role: 'viewer', entitlement } },
      schema: {
        tags,
        operationId: 'getMonitorAlignment',
        summary: 'Get an alignment',
        description:
          'Contains the report once the alignment is completed. Poll it until `finishedAt` is set. Omits ' +
          'conversations that you still have to judge blindly.',
        params: AlignmentParams,
        querystring: NoQuery,
        response: answers({ 200: Alignment }, 400, 401, 403, 404),
      },
    },
    async ({ actor, params }) => {
      const { id } = await getMonitor(db, actor.org, params.id)
      return showAlignment(deps, actor, await getAlignment(db, actor.org, id, params.alignmentId))
    },
  )

  app.post(
    '/v1/monitors/:id/alignments/:alignmentId/apply',
    {
      config: { access: { role: 'member', entitlement } },
      schema: {
        tags,
        operationId: 'applyMonitorAlignment',
        summary: 'Apply an alignment’s proposal',
        description:
          'Makes the proposed definition the next version of the monitor. Returns 409 if the monitor has changed ' +
          'since, if there is nothing to apply, or if the monitor requires a gain and the proposal has not shown ' +
          'one.',
        params: AlignmentParams,
        querystring: NoQuery,
        body: AlignmentApply,
        response: answers({ 200: Alignment }, 400, 401, 403, 404, 409),
      },
    },
    ({ actor, params, body: { proposal: kind, overrideReason } }) =>
      db.transaction().execute(async (trx) => {
        const { id: monitorId, alignmentId } = params
        const applied = await applyProposal(trx, actor, { monitorId, alignmentId, kind, overrideReason })
        return showAlignment({ ...deps, db: trx }, actor, applied)
      }),
  )

  app.post(
    '/v1/monitors/:id/alignments/:alignmentId/cancel',
    {
      config: { access: { role: 'member', entitlement } },
      schema: {
        tags,
        operationId: 'cancelMonitorAlignment',
        summary: 'Cancel an alignment',
        description: 'A cancelled alignment can be resumed. Returns 409 if it is not in progress.',
        params: AlignmentParams,
        querystring: NoQuery,
        body: NoBody,
        response: answers({ 200: AlignmentSummary }, 400, 401, 403, 404, 409),
      },
    },
    ({ actor, params: { id, alignmentId } }) =>
      db.transaction().execute(async (trx) => {
        const { id: monitorId } = await getMonitor(trx, actor.org, id)
        return showSummary(trx, actor.org, await cancelAlignment(deps, trx, actor, { monitorId, alignmentId }))
      }),
  )

  app.post(
    '/v1/monitors/:id/alignments/:alignmentId/resume',
    {
      config: { access: { role: 'member', entitlement } },
      schema: {
        tags,
        operationId: 'resumeMonitorAlignment',
        summary: 'Resume an alignment',
        description:
          'Continues a cancelled or failed alignment where it stopped. Keeps existing results and repeats failed ' +
          'evaluations. Returns 409 for other alignments.',
        params: AlignmentParams,
        querystring: NoQuery,
        body: AlignmentResume,
        response: answers({ 202: AlignmentSummary }, 400, 401, 403, 404, 409),
      },
    },
    async ({ actor, params: { id, alignmentId }, body: { maxCost } }, reply) => {
      const shown = await db.transaction().execute(async (trx) => {
        const { id: monitorId } = await getMonitor(trx, actor.org, id)
        const resumed = await resumeAlignment(deps, trx, actor, { monitorId, alignmentId, maxCost })
        return showSummary(trx, actor.org, resumed)
      })
      return reply.code(202).send(shown)
    },
  )
}
