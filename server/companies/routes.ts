import { recordAudit } from '../platform/audit/record.ts'
import type { Deps } from '../platform/deps.ts'
import { ApiError } from '../platform/errors.ts'
import type { App } from '../platform/http/http.ts'
import { answers, Empty, IdParams, NoQuery, Page, PageQuery, RawBody } from '../platform/http/schemas.ts'
import { newId } from '../platform/ids.ts'
import { deleteLogo } from './jobs.ts'
import { imageKind, logoUrlFault } from './logo.ts'
import { deleteCompany, getCompany, insertCompany, listCompanies, lockCompany, updateCompany } from './queries.ts'
import { Company, CompanyCreate, CompanyUpdate } from './schema.ts'

const tags = ['Companies']

export const companies = (app: App, { db, jobs, blobs, config }: Deps): void => {
  app.get(
    '/v1/companies',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listCompanies',
        summary: 'List companies',
        description: 'Newest first. A company is a client or brand that your agents work for.',
        querystring: PageQuery,
        response: answers({ 200: Page(Company) }, 401),
      },
    },
    ({ actor, query }) =>
      app.paging.page(
        query,
        ['companies', actor.org],
        (page) => listCompanies(db, actor.org, page),
        ({ id }) => id,
      ),
  )

  app.post(
    '/v1/companies',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'createCompany',
        summary: 'Create a company',
        description:
          'Names do not have to be unique. `logoUrl` must be an `https` URL. To host the image on this server, ' +
          'upload a logo instead.',
        querystring: NoQuery,
        body: CompanyCreate,
        response: answers({ 201: Company }, 400, 401, 403),
      },
    },
    async ({ actor, body }, reply) => {
      const fault = logoUrlFault(body.logoUrl)
      if (fault) throw fault
      const company = await db.transaction().execute(async (trx) => {
        const created = await insertCompany(trx, actor.org, { id: newId(), ...body })
        await recordAudit(trx, actor, 'company.create', { type: 'company', id: created.id })
        return created
      })
      return reply.code(201).header('location', `/v1/companies/${company.id}`).send(company)
    },
  )

  app.get(
    '/v1/companies/:id',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'getCompany',
        summary: 'Get a company',
        description: '`logoUrl` is null if the company has no logo.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 200: Company }, 401, 404),
      },
    },
    ({ actor, params }) => getCompany(db, actor.org, params.id),
  )

  app.patch(
    '/v1/companies/:id',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'updateCompany',
        summary: 'Update a company’s name or logo',
        description: 'Omitted fields keep their values. Set `logoUrl` to null to remove the logo.',
        params: IdParams,
        querystring: NoQuery,
        body: CompanyUpdate,
        response: answers({ 200: Company }, 400, 401, 404),
      },
    },
    ({ actor, params, body }) =>
      db.transaction().execute(async (trx) => {
        const fault = logoUrlFault(body.logoUrl)
        const { logoKey, logoUrl } = await lockCompany(trx, actor.org, params.id).catch((error: unknown) => {
          throw fault ?? error
        })
        // A client can send back the body of a GET response without changing anything, including the URL of an uploaded
        // logo.
        const replacesLogo = body.logoUrl !== undefined && body.logoUrl !== logoUrl
        if (replacesLogo && fault) throw fault
        const company = await updateCompany(trx, actor.org, params.id, {
          ...body,
          ...(replacesLogo && { logoKey: null }),
        })
        if (replacesLogo && logoKey) await jobs.enqueue(trx, deleteLogo, { key: logoKey }, { org: actor.org })
        await recordAudit(trx, actor, 'company.update', { type: 'company', id: params.id })
        return company
      }),
  )

  app.delete(
    '/v1/companies/:id',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'deleteCompany',
        summary: 'Delete a company',
        description: 'Also deletes an uploaded logo. Returns 409 while the company is in use.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 204: Empty }, 401, 403, 404, 409),
      },
    },
    async ({ actor, params }, reply) => {
      await db.transaction().execute(async (trx) => {
        const { logoKey } = await lockCompany(trx, actor.org, params.id)
        await deleteCompany(trx, actor.org, params.id)
        if (logoKey) await jobs.enqueue(trx, deleteLogo, { key: logoKey }, { org: actor.org })
        await recordAudit(trx, actor, 'company.delete', { type: 'company', id: params.id })
      })
      return reply.code(204).send(null)
    },
  )

  app.put(
    '/v1/companies/:id/logo',
    {
      bodyLimit: config.limits.logoBytes,
      config: { access: { role: 'member' }, takes: 'image' },
      schema: {
        tags,
        operationId: 'uploadCompanyLogo',
        summary: 'Upload a company’s logo',
        description: 'Accepts a PNG, JPEG, WebP, or GIF image. `logoUrl` becomes an address on this server.',
        params: IdParams,
        querystring: NoQuery,
        body: RawBody,
        response: answers({ 200: Company }, 400, 401, 403, 404),
      },
    },
    async ({ actor, params, body }) => {
      const kind = imageKind(body)
      if (!kind) throw new ApiError('unsupportedMediaType', 'Send a PNG, JPEG, WebP, or GIF image.')
      await getCompany(db, actor.org, params.id)
      const key = `${actor.org}/logos/${newId()}.${kind.extension}`
      await blobs.put(key, [body], { contentType: kind.contentType })
      const logoUrl = blobs.permanentUrl(key)
      return db.transaction().execute(async (trx) => {
        const { logoKey } = await lockCompany(trx, actor.org, params.id)
        const company = await updateCompany(trx, actor.org, params.id, { logoUrl, logoKey: key })
        if (logoKey) await jobs.enqueue(trx, deleteLogo, { key: logoKey }, { org: actor.org })
        await recordAudit(trx, actor, 'company.logo', { type: 'company', id: params.id })
        return company
      })
    },
  )
}
