import { parseFilter } from '../../filters/filter.ts'
import type { Deps } from '../../platform/deps.ts'
import type { App } from '../../platform/http/http.ts'
import { answers, IdParams, NoBody, NoQuery, Page, PageQuery, withHeaders } from '../../platform/http/schemas.ts'
import { cancelRun, createRun } from './lifecycle.ts'
import { getRun, listRuns, type StoredRun } from './queries.ts'
import { SoundRun, SoundRunCreate } from './schema.ts'

const tags = ['Conversations']

const shown = ({ afterId: _, storedBefore: __, ...run }: StoredRun) => run

export const soundRuns = (app: App, deps: Deps): void => {
  const { db } = deps

  app.post(
    '/v1/sound-runs',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'createSoundRun',
        summary: 'Measure stored recordings',
        description:
          'Measures the recordings of conversations that match the filter: only those that have not been measured or, with ' +
          '`again`, all of them. New recordings are measured automatically. Returns 409 if the organization does not measure recordings.',
        querystring: NoQuery,
        body: SoundRunCreate,
        response: answers({ 202: withHeaders(SoundRun, 'Location') }, 400, 401, 403, 409),
      },
    },
    async ({ actor, body: { filter = {}, again = false } }, reply) => {
      const run = await createRun(deps, actor, { filter: parseFilter(filter, 'filter'), again })
      return reply.code(202).header('location', `/v1/sound-runs/${run.id}`).send(shown(run))
    },
  )

  app.get(
    '/v1/sound-runs',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listSoundRuns',
        summary: 'List runs that measure recordings',
        description: 'Newest first. Each run shows its progress: `total`, `measured`, `unmeasurable`, and `failed`.',
        querystring: PageQuery,
        response: answers({ 200: Page(SoundRun) }, 400, 401),
      },
    },
    async ({ actor, query }) => {
      const { data, nextCursor } = await app.paging.page(
        query,
        ['sound-runs', actor.org],
        (page) => listRuns(db, actor.org, page),
        (run) => run.id,
      )
      return { data: data.map(shown), nextCursor }
    },
  )

  app.get(
    '/v1/sound-runs/:id',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'getSoundRun',
        summary: 'Get a run that measures recordings',
        description: 'Poll it until `finishedAt` is set.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 200: SoundRun }, 401, 404),
      },
    },
    async ({ actor, params }) => shown(await getRun(db, actor.org, params.id)),
  )

  app.post(
    '/v1/sound-runs/:id/cancel',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'cancelSoundRun',
        summary: 'Cancel a run that measures recordings',
        description: 'Keeps the measures so far. Returns 409 if the run is not in progress.',
        params: IdParams,
        querystring: NoQuery,
        body: NoBody,
        response: answers({ 200: SoundRun }, 400, 401, 403, 404, 409),
      },
    },
    async ({ actor, params }) => shown(await cancelRun(deps, actor, params.id)),
  )
}
