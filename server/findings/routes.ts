import type { Deps } from '../deps.ts'
import { invalid } from '../platform/errors.ts'
import type { App } from '../platform/http/http.ts'
import { answers, IdParams, NoQuery, Page, PageQuery } from '../platform/http/schemas.ts'
import { getFinding, listAttached, listFindings } from './queries.ts'
import { Finding, FindingConversation, FindingQuery, findingPriorities, findingStatuses } from './schema.ts'

const tags = ['Findings']

/** The parts of a comma list, each of which must be known. */
const partsOf = <V extends string>(name: string, text: string | undefined, known: readonly V[]): V[] | undefined => {
  const parts = text?.split(',').map((part) => part.trim())
  const unknown = parts?.find((part) => !known.some((one) => one === part))
  if (unknown !== undefined) throw invalid(name, `"${unknown}" is none of ${known.join(', ')}`)
  // Each was just found among the known.
  return parts as V[] | undefined
}

type Stored = Awaited<ReturnType<typeof getFinding>>

/** What is not set is left out, as the published interface has it. */
const shown = ({ description, assigneeUserId, sourceKind, sourceId, ...finding }: Stored) => ({
  ...finding,
  ...(description !== null && { description }),
  ...(assigneeUserId !== null && { assigneeUserId }),
  source: { kind: sourceKind, id: sourceId },
})

export const findings = (app: App, { db }: Deps): void => {
  app.get(
    '/v1/findings',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listFindings',
        summary: 'List findings, newest first',
        querystring: FindingQuery,
        response: answers({ 200: Page(Finding) }, 401),
      },
    },
    async ({ actor, query: { limit, cursor, status, priority, tags: words } }) => {
      const filter = {
        statuses: partsOf('status', status, findingStatuses),
        priorities: partsOf('priority', priority, findingPriorities),
        tags: words
          ?.split(',')
          .map((tag) => tag.trim().toLowerCase())
          .filter((tag) => tag !== ''),
      }
      const { data, nextCursor } = await app.paging.page(
        { limit, cursor },
        ['findings', actor.org, filter],
        (page) => listFindings(db, actor.org, filter, page),
        ({ id }) => id,
      )
      return { data: data.map(shown), nextCursor }
    },
  )

  app.get(
    '/v1/findings/:id',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'getFinding',
        summary: 'Get a finding',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 200: Finding }, 401, 404),
      },
    },
    async ({ actor, params }) => shown(await getFinding(db, actor.org, params.id)),
  )

  app.get(
    '/v1/findings/:id/conversations',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listFindingConversations',
        summary: 'List the conversations of a finding, the one that was stored last first',
        params: IdParams,
        querystring: PageQuery,
        response: answers({ 200: Page(FindingConversation) }, 401, 404),
      },
    },
    async ({ actor, params, query }) => {
      const { id } = await getFinding(db, actor.org, params.id)
      return app.paging.page(
        query,
        ['finding-conversations', actor.org, id],
        (page) => listAttached(db, actor.org, id, page),
        ({ conversationId }) => conversationId,
      )
    },
  )
}
