import type { TObject, TProperties } from 'typebox'
import type { Deps } from '../platform/deps.ts'
import type { Access } from '../platform/http/access.ts'
import type { App } from '../platform/http/http.ts'
import { answers, Closed, Empty, IdParams, NoQuery, Page, PageQuery, withHeaders } from '../platform/http/schemas.ts'
import { linkToFile } from './download.ts'
import { endByHand } from './lifecycle.ts'
import { ExportFilter, waitingHeaders } from './manifest.ts'
import { getExport, listExports, type StoredExport } from './queries.ts'

/** The differences between the endpoints for each kind of export. */
type Kind = {
  kind: 'monitor' | 'conversation'
  tags: string[]
  needs: Omit<Exclude<Access, string>, 'role'>
  /** The schema of an export as returned by `show`. */
  schema: TObject<TProperties>
  show: (stored: StoredExport, now: Date) => Record<string, unknown>
  /** The terms for one export and for several exports in the descriptions of operations. */
  noun: { one: string; many: string }
}

/** Adds the endpoints that list, read, cancel, and download exports of one kind. */
export const exportLife = (app: App, deps: Deps, { kind, tags, needs, schema, show, noun }: Kind): void => {
  const { db, clock } = deps
  const path = `/v1/${kind}-exports`
  const of = { kind, experimentId: null }
  const operation = kind === 'monitor' ? 'MonitorExport' : 'ConversationExport'

  app.get(
    path,
    {
      config: { access: { role: 'viewer', ...needs } },
      schema: {
        tags,
        operationId: `list${operation}s`,
        summary: `List ${noun.many}`,
        description: 'Newest first, including expired ones. Use `status` to filter.',
        querystring: Closed({ ...PageQuery.properties, ...ExportFilter }),
        response: answers({ 200: Page(schema) }, 400, 401, 403, 503),
      },
    },
    async ({ actor, query: { status, ...page } }) => {
      const now = clock.now()
      const { data, nextCursor } = await app.paging.page(
        page,
        [`${kind}-exports`, actor.org, status ?? ''],
        (wanted) => listExports(db, actor.org, { of, status, now }, wanted),
        ({ id }) => id,
      )
      return { data: data.map((stored) => show(stored, now)), nextCursor }
    },
  )

  app.get(
    `${path}/:id`,
    {
      config: { access: { role: 'viewer', ...needs } },
      schema: {
        tags,
        operationId: `get${operation}`,
        summary: `Get ${noun.one}`,
        description: 'Poll it until it is completed, failed, or expired. `Retry-After` says how many seconds to wait.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 200: withHeaders(schema, 'Retry-After') }, 400, 401, 403, 404, 503),
      },
    },
    async ({ actor, params }, reply) => {
      const stored = await getExport(db, actor.org, { ...params, ...of })
      return reply.headers(waitingHeaders(stored)).send(show(stored, clock.now()))
    },
  )

  app.delete(
    `${path}/:id`,
    {
      config: { access: { role: 'member', ...needs } },
      schema: {
        tags,
        operationId: `delete${operation}`,
        summary: `Cancel or expire ${noun.one}`,
        description:
          'Cancels an unfinished export, or expires a completed one. It stays in the list, but its file is no longer available.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 204: Empty }, 400, 401, 403, 404, 409, 503),
      },
    },
    async ({ actor, params }, reply) => {
      await endByHand(deps, actor, { ...params, ...of })
      return reply.code(204).send(null)
    },
  )

  app.get(
    `${path}/:id/download`,
    {
      config: { access: { role: 'viewer', ...needs }, audited: true },
      schema: {
        tags,
        operationId: `download${operation}`,
        summary: `Download ${noun.one}`,
        description:
          'Redirects to a signed link that works for 15 minutes without a key. Do not send the key to it. ' +
          '`X-File-Digest` is the file’s digest, which the file’s response repeats as `Repr-Digest` if ' +
          'Earshot serves the file itself.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 302: withHeaders(Empty, 'Location', 'X-File-Digest') }, 400, 401, 403, 404, 409, 410, 503),
      },
    },
    async ({ actor, params }, reply) => {
      const stored = await getExport(db, actor.org, { ...params, ...of })
      return reply
        .code(302)
        .headers(await linkToFile(deps, actor, stored))
        .send(undefined)
    },
  )
}
