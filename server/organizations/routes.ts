import { recordAudit, recordServiceAudit } from '../platform/audit/record.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { App } from '../platform/http/http.ts'
import { answers, IdParams, NoBody, NoQuery, Page, PageQuery } from '../platform/http/schemas.ts'
import { orgIdOf } from '../platform/ids.ts'
import type { OrganizationDeps } from './deps.ts'
import { provisionOrganization } from './provision.ts'
import {
  getOrganization,
  listOrganizationsAllOrgs,
  resumeOrganization,
  suspendOrganization,
  updateOrganization,
} from './queries.ts'
import {
  Organization,
  OrganizationCreate,
  OrganizationUpdate,
  OwnOrganization,
  OwnOrganizationUpdate,
  ProvisionedOrganization,
} from './schema.ts'
import { monthOf } from './spending/month.ts'
import { getSpending } from './spending/queries.ts'

const tags = ['Organizations']

export const organizations = (app: App, deps: OrganizationDeps): void => {
  const { db, identity, clock, checkTranscriptionModel, checkEmbeddingModel } = deps
  const getOwn = async (trx: Db, org: OrgId) => {
    const month = monthOf(clock.now())
    const judgeSpending = { month: month.slice(0, 7), ...(await getSpending(trx, org, month)) }
    return { ...(await getOrganization(trx, org)), judgeSpending }
  }

  app.get(
    '/v1/organizations',
    {
      config: { access: 'service' },
      schema: {
        tags,
        operationId: 'listOrganizations',
        summary: 'List organizations',
        description: 'Newest first. Includes suspended organizations; see `status`.',
        querystring: PageQuery,
        response: answers({ 200: Page(Organization) }, 401),
      },
    },
    ({ query }) =>
      app.paging.page(
        query,
        ['organizations'],
        (page) => listOrganizationsAllOrgs(db, page),
        ({ id }) => id,
      ),
  )

  app.post(
    '/v1/organizations',
    {
      config: { access: 'service' },
      schema: {
        tags,
        operationId: 'createOrganization',
        summary: 'Create an organization with its owner and an API key',
        description: 'Returns the API key and the owner’s invitation link. Store both; they are not shown again.',
        querystring: NoQuery,
        body: OrganizationCreate,
        response: answers({ 201: ProvisionedOrganization }, 400, 401, 409),
      },
    },
    async ({ service, body }, reply) => {
      const provisioned = await db.transaction().execute(async (trx) => {
        const { organization, apiKey, invitationUrl } = await provisionOrganization(deps, trx, body)
        const target = { type: 'organization', id: organization.id }
        await recordServiceAudit(trx, orgIdOf(organization.id), service, 'organization.create', target)
        return { organization, apiKey, invitationUrl }
      })
      return reply.code(201).header('location', `/v1/organizations/${provisioned.organization.id}`).send(provisioned)
    },
  )

  app.get(
    '/v1/organizations/:id',
    {
      config: { access: 'service' },
      schema: {
        tags,
        operationId: 'getOrganization',
        summary: 'Get an organization',
        description: 'Works for suspended organizations too.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 200: Organization }, 401, 404),
      },
    },
    ({ params }) => getOrganization(db, orgIdOf(params.id)),
  )

  app.patch(
    '/v1/organizations/:id',
    {
      config: { access: 'service' },
      schema: {
        tags,
        operationId: 'updateOrganization',
        summary: 'Update an organization’s name, entitlements, and features',
        description: 'Omitted fields keep their values. To suspend an organization, use `/suspend`.',
        params: IdParams,
        querystring: NoQuery,
        body: OrganizationUpdate,
        response: answers({ 200: Organization }, 400, 401, 404, 409),
      },
    },
    ({ service, params, body }) => {
      const org = orgIdOf(params.id)
      return identity.change(org, async (trx) => {
        const organization = await updateOrganization(trx, org, body)
        await recordServiceAudit(trx, org, service, 'organization.update', { type: 'organization', id: org })
        return organization
      })
    },
  )

  for (const verb of ['suspend', 'reactivate'] as const) {
    app.post(
      `/v1/organizations/:id/${verb}`,
      {
        config: { access: 'service' },
        schema: {
          tags,
          operationId: `${verb}Organization`,
          summary: verb === 'suspend' ? 'Suspend an organization' : 'Reactivate an organization',
          description:
            verb === 'suspend'
              ? 'Requests from a suspended organization get 403. Its data is kept.'
              : 'The organization’s keys and sessions work again.',
          params: IdParams,
          querystring: NoQuery,
          body: NoBody,
          response: answers({ 200: Organization }, 401, 404),
        },
      },
      ({ service, params }) => {
        const org = orgIdOf(params.id)
        return identity.change(org, async (trx) => {
          const organization = await (verb === 'suspend' ? suspendOrganization : resumeOrganization)(trx, org)
          await recordServiceAudit(trx, org, service, `organization.${verb}`, { type: 'organization', id: org })
          return organization
        })
      },
    )
  }

  app.get(
    '/v1/organization',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'getOwnOrganization',
        summary: 'Get the current organization',
        description: '`judgeSpending` compares this month’s cost of LLM judges with `monthlyJudgeBudget`.',
        querystring: NoQuery,
        response: answers({ 200: OwnOrganization }, 401),
      },
    },
    ({ actor }) => getOwn(db, actor.org),
  )

  app.patch(
    '/v1/organization',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'updateOwnOrganization',
        summary: 'Update the current organization’s settings',
        description:
          'Omitted fields keep their values. Entitlements and features can only be changed with a service key.',
        querystring: NoQuery,
        body: OwnOrganizationUpdate,
        response: answers({ 200: OwnOrganization }, 400, 401, 403),
      },
    },
    ({ actor, body }) =>
      db.transaction().execute(async (trx) => {
        if (body.transcriptionModel) await checkTranscriptionModel(trx, actor.org, body.transcriptionModel)
        if (body.embeddingModel) await checkEmbeddingModel(trx, actor.org, body.embeddingModel)
        await updateOrganization(trx, actor.org, body)
        await recordAudit(trx, actor, 'organization.update', { type: 'organization', id: actor.org })
        return getOwn(trx, actor.org)
      }),
  )
}
