import Type from 'typebox'
import { ApiError, invalid } from '../../platform/errors.ts'
import type { App } from '../../platform/http/http.ts'
import { answers, Closed, NoQuery } from '../../platform/http/schemas.ts'
import { createMonitor } from '../create.ts'
import type { MonitorDeps } from '../deps.ts'
import { Monitor } from '../schema.ts'
import { showMonitor } from '../shown.ts'
import { templates } from './library/all.ts'
import { MonitorTemplate, TemplateInstall, TemplateParams, TemplateQuery } from './schema.ts'
import { conversationOf, groups, type Template } from './template.ts'

const tags = ['Monitors']
const entitlement = 'monitors'

/** Returns the definition of a judge that works in any language, or undefined if the template itself does. */
const anyLanguageOf = ({ inAnyLanguage }: Template) =>
  inAnyLanguage === undefined
    ? undefined
    : { criteria: `Affected if this is true: ${inAnyLanguage}`, output: { type: 'boolean' as const } }

const shownTemplate = (template: Template) => {
  const { inAnyLanguage: _, affected, notAffected, ...rest } = template
  return {
    ...rest,
    groupName: groups[template.group],
    anyLanguage: anyLanguageOf(template) ?? null,
    examples: { affected: conversationOf(affected), notAffected: conversationOf(notAffected) },
  }
}

const findTemplate = (key: string): Template => {
  const found = templates.find((template) => template.key === key)
  if (!found) throw new ApiError('notFound', `No template has the key ${key}. See GET /v1/monitor-templates.`)
  return found
}

export const monitorTemplates = (app: App, deps: MonitorDeps): void => {
  app.get(
    '/v1/monitor-templates',
    {
      config: { access: { role: 'viewer', entitlement } },
      schema: {
        tags,
        operationId: 'listMonitorTemplates',
        summary: 'List monitor templates',
        description: 'All templates, by group. Each has an example of an affected conversation and an unaffected one.',
        querystring: TemplateQuery,
        response: answers({ 200: Closed({ data: Type.Array(MonitorTemplate) }) }, 400, 401, 403),
      },
    },
    ({ query: { group, kind, language } }) => ({
      data: templates
        .filter(
          (template) =>
            (group === undefined || template.group === group) &&
            (kind === undefined || template.kind === kind) &&
            (language !== 'any' || template.language === 'any'),
        )
        .map(shownTemplate),
    }),
  )

  app.post(
    '/v1/monitor-templates/:key/install',
    {
      config: { access: { role: 'member', entitlement } },
      schema: {
        tags,
        operationId: 'installMonitorTemplate',
        summary: 'Create a monitor from a template',
        description:
          'Changing the monitor does not change the template. Returns 409 for a judge if no model is configured.',
        params: TemplateParams,
        querystring: NoQuery,
        body: TemplateInstall,
        response: answers({ 201: Monitor }, 400, 401, 403, 404, 409),
      },
    },
    async ({ actor, params, body: { variant = 'default', name, enabled } }, reply) => {
      const template = findTemplate(params.key)
      const judge = anyLanguageOf(template)
      if (variant === 'any_language' && template.language === 'en' && !judge)
        throw invalid('variant', 'this template has no variant for any language')
      const isJudge = variant === 'any_language' && judge !== undefined
      const created = await createMonitor(deps, actor, {
        name: name ?? template.name,
        description: template.description,
        kind: isJudge ? 'judge' : template.kind,
        definition: isJudge ? judge : template.definition,
        ...(enabled !== undefined && { enabled }),
      })
      return reply
        .code(201)
        .header('location', `/v1/monitors/${created.id}`)
        .send(await showMonitor(deps, actor, created))
    },
  )
}
