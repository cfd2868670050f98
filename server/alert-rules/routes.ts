import { resolveIncident } from '../alert-incidents/lifecycle.ts'
import { lockOpenIncidents, settleOverruled } from '../alert-incidents/queries.ts'
import type { Filter } from '../filters/filter.ts'
import { recordAudit } from '../platform/audit/record.ts'
import type { Deps } from '../platform/deps.ts'
import { dayMs } from '../platform/durations.ts'
import { ApiError, invalid } from '../platform/errors.ts'
import type { App } from '../platform/http/http.ts'
import { answers, Empty, IdParams, NoQuery, Page, PageQuery } from '../platform/http/schemas.ts'
import { newId } from '../platform/ids.ts'
import { questionOf } from './check-rule.ts'
import type { AlertCondition } from './condition-schema.ts'
import { previewDays, previewRule } from './preview.ts'
import {
  deleteRule,
  getRule,
  insertRules,
  listRules,
  lockRule,
  lockRuleCount,
  muteRule,
  type StoredRule,
  updateRule,
} from './queries.ts'
import { Rule, RuleCreate, RuleMute, RulePreview, RulePreviewRequest, RuleUpdate } from './schema.ts'
import {
  changesOutcome,
  changesSubject,
  checkMonitor,
  checkRuleSettings,
  checkTogether,
  parseRuleFilter,
  withGiven,
} from './settings.ts'

const tags = ['Alerts']
const mostRules = 500
const longestMuteMs = 365 * dayMs

const target = (id: string) => ({ type: 'alertRule', id })

export const alertRules = (app: App, deps: Deps): void => {
  const { db, replica, clock } = deps

  const shown = (rule: StoredRule) => {
    const { isFiring, checkedUntil: _checkedUntil, condition, filter, mutedUntil, ...others } = rule
    const until = mutedUntil !== null && mutedUntil > clock.now() ? mutedUntil : null
    const state = until ? 'muted' : isFiring ? 'firing' : 'ok'
    return {
      ...others,
      // Condition and filter were validated when they were stored.
      condition: condition as AlertCondition,
      filter: filter as Filter | null,
      mutedUntil: until,
      state,
    } as const
  }

  app.get(
    '/v1/alert-rules',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listAlertRules',
        summary: 'List alert rules',
        description: 'Newest first. Every organization starts with three rules.',
        querystring: PageQuery,
        response: answers({ 200: Page(Rule) }, 401),
      },
    },
    async ({ actor, query }) => {
      const { data, nextCursor } = await app.paging.page(
        query,
        ['alert-rules', actor.org],
        (page) => listRules(db, actor.org, page),
        ({ id }) => id,
      )
      return { data: data.map(shown), nextCursor }
    },
  )

  app.post(
    '/v1/alert-rules',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'createAlertRule',
        summary: 'Create an alert rule',
        description:
          'Earshot checks a rule every 15 to 60 seconds, or less often if its window is longer than a day. Limit: 500 rules.',
        querystring: NoQuery,
        body: RuleCreate,
        response: answers({ 201: Rule }, 400, 401, 403, 409),
      },
    },
    async ({ actor, body }, reply) => {
      const id = newId()
      const fields = withGiven(undefined, body)
      const rule = await db.transaction().execute(async (trx) => {
        await checkRuleSettings(trx, actor.org, fields, body)
        if ((await lockRuleCount(trx, actor.org)) >= mostRules) {
          throw new ApiError('conflict', `An organization can have ${mostRules} alert rules. Delete one first.`)
        }
        await insertRules(trx, actor.org, [{ id, ...fields, createdByUserId: actor.userId, now: clock.now() }])
        await recordAudit(trx, actor, 'alertRule.create', target(id))
        return getRule(trx, actor.org, id)
      })
      return reply.code(201).header('location', `/v1/alert-rules/${id}`).send(shown(rule))
    },
  )

  app.post(
    '/v1/alert-rules/preview',
    {
      config: { access: { role: 'viewer' }, unaudited: 'It only reads.' },
      schema: {
        tags,
        operationId: 'previewAlertRule',
        summary: 'Preview an alert rule',
        description:
          'Shows when the rule would have fired in the last 90 days, in consecutive windows. Works only for ' +
          'conditions that count conversations: rate, score, signal, volume, change, and no_data.',
        querystring: NoQuery,
        body: RulePreviewRequest,
        response: answers({ 200: RulePreview }, 400, 401, 403),
      },
    },
    async ({ actor, body }) => {
      const { filter, ...fields } = withGiven(undefined, body)
      const stored = parseRuleFilter(filter as Filter | null)
      checkTogether({ ...fields, filter: stored })
      await checkMonitor(db, actor.org, fields.condition)
      const now = clock.now()
      const start = new Date(now.getTime() - previewDays * dayMs)
      const question = await questionOf(deps, actor.org, { ...fields, filter: stored, createdAt: now }, start)
      return replica.read((on) => previewRule(on, actor.org, question, now))
    },
  )

  app.get(
    '/v1/alert-rules/:id',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'getAlertRule',
        summary: 'Get an alert rule',
        description: '`state` shows whether the rule has an open incident.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 200: Rule }, 401, 404),
      },
    },
    async ({ actor, params }) => shown(await getRule(db, actor.org, params.id)),
  )

  app.patch(
    '/v1/alert-rules/:id',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'updateAlertRule',
        summary: 'Update an alert rule',
        description:
          'Omitted fields keep their values. The rule is checked immediately. Disabling it, or changing what its condition ' +
          'measures, resolves its incidents.',
        params: IdParams,
        querystring: NoQuery,
        body: RuleUpdate,
        response: answers({ 200: Rule }, 400, 401, 403, 404),
      },
    },
    ({ actor, params, body }) =>
      db.transaction().execute(async (trx) => {
        const stored = await lockRule(trx, actor.org, params.id)
        const fields = withGiven(stored, body)
        await checkRuleSettings(trx, actor.org, fields, body)
        const now = clock.now()
        await updateRule(trx, actor.org, stored.id, fields, now)
        if (!fields.enabled || changesSubject(stored, fields)) {
          for (const incident of await lockOpenIncidents(trx, actor.org, stored.id)) {
            await resolveIncident(deps, trx, actor.org, incident, actor.userId, now)
          }
        }
        if (changesOutcome(stored, fields)) await settleOverruled(trx, actor.org, stored.id, now)
        await recordAudit(trx, actor, 'alertRule.update', target(stored.id))
        return shown(await getRule(trx, actor.org, stored.id))
      }),
  )

  app.delete(
    '/v1/alert-rules/:id',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'deleteAlertRule',
        summary: 'Delete an alert rule',
        description: 'Resolves its open incidents, which stay in the history.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 204: Empty }, 401, 403, 404),
      },
    },
    async ({ actor, params }, reply) => {
      await db.transaction().execute(async (trx) => {
        const { id } = await lockRule(trx, actor.org, params.id)
        for (const incident of await lockOpenIncidents(trx, actor.org, id)) {
          await resolveIncident(deps, trx, actor.org, incident, actor.userId, clock.now())
        }
        await deleteRule(trx, actor.org, id)
        await recordAudit(trx, actor, 'alertRule.delete', target(id))
      })
      return reply.code(204).send(null)
    },
  )

  app.post(
    '/v1/alert-rules/:id/mute',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'muteAlertRule',
        summary: 'Mute an alert rule',
        description:
          'Incidents open and resolve as usual, but new ones are not sent until the mute ends, and then only if they are ' +
          'still open. If an incident was sent before the mute, its resolution is sent too.',
        params: IdParams,
        querystring: NoQuery,
        body: RuleMute,
        response: answers({ 200: Rule }, 400, 401, 403, 404),
      },
    },
    ({ actor, params, body }) => {
      const now = clock.now()
      const until = body.until === null ? null : new Date(body.until)
      if (until !== null && (until <= now || until.getTime() - now.getTime() > longestMuteMs)) {
        throw invalid('until', 'must be in the future, at most a year from now')
      }
      return db.transaction().execute(async (trx) => {
        const { id } = await lockRule(trx, actor.org, params.id)
        await muteRule(trx, actor.org, id, until, now)
        await recordAudit(trx, actor, until === null ? 'alertRule.unmute' : 'alertRule.mute', target(id))
        return shown(await getRule(trx, actor.org, id))
      })
    },
  )
}
