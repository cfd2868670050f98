import { parseFilter } from '../../filters/filter.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { App } from '../../platform/http/http.ts'
import { answers, IdParams, NoBody, NoQuery, Page, PageQuery, withHeaders } from '../../platform/http/schemas.ts'
import type { SoundDeps } from '../deps.ts'
import { cancelRun, createRun, estimateRun } from './lifecycle.ts'
import { getRun, listRuns, type StoredRun } from './queries.ts'
import { SoundRun, SoundRunCreate, SoundRunEstimate } from './schema.ts'

const tags = ['Conversations']

export const soundRuns = (app: App, deps: SoundDeps): void => {
  const { db, countOfRuns } = deps

  /** Returns runs in the API's format, with the progress of their transcriptions. */
  const showRuns = async (near: Db, org: OrgId, runs: StoredRun[]) => {
    const transcribing = runs.filter(({ transcribe }) => transcribe).map(({ id }) => id)
    const counts = transcribing.length > 0 ? await countOfRuns(near, org, transcribing) : []
    const countsOf = new Map(counts.map(({ runId, ...one }) => [runId, one]))
    const none = { pending: 0, completed: 0, failed: 0, cost: 0 }
    return runs.map(({ afterId: _, storedBefore: __, ...run }) => {
      return { ...run, transcriptions: run.transcribe ? (countsOf.get(run.id) ?? none) : null }
    })
  }

  const showRun = async (near: Db, org: OrgId, run: StoredRun) => {
    const [shown] = await showRuns(near, org, [run])
    if (!shown) throw new Error('The run is missing')
    return shown
  }

  app.post(
    '/v1/sound-runs',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'createSoundRun',
        summary: 'Measure or transcribe stored recordings',
        description:
          'Measures the recordings of conversations that match the filter: only those that have not been measured or, with ' +
          '`again`, all of them. With `transcribe`, it also transcribes recordings without a transcript. New recordings are ' +
          'measured automatically. With `dryRun`, returns 200 with an estimate. Returns 409 if the organization does not ' +
          'measure recordings, or has no model to transcribe them.',
        querystring: NoQuery,
        body: SoundRunCreate,
        response: answers({ 200: SoundRunEstimate, 202: withHeaders(SoundRun, 'Location') }, 400, 401, 403, 409),
      },
    },
    async ({ actor, body: { filter = {}, again = false, transcribe = false, dryRun = false } }, reply) => {
      const request = { filter: parseFilter(filter, 'filter'), again, transcribe }
      if (dryRun) return reply.code(200).send(await estimateRun(deps, actor.org, request))
      const run = await createRun(deps, actor, request)
      return reply
        .code(202)
        .header('location', `/v1/sound-runs/${run.id}`)
        .send(await showRun(db, actor.org, run))
    },
  )

  app.get(
    '/v1/sound-runs',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listSoundRuns',
        summary: 'List runs that measure or transcribe recordings',
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
      return { data: await showRuns(db, actor.org, data), nextCursor }
    },
  )

  app.get(
    '/v1/sound-runs/:id',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'getSoundRun',
        summary: 'Get a run that measures or transcribes recordings',
        description: 'Poll it until `finishedAt` is set.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 200: SoundRun }, 401, 404),
      },
    },
    async ({ actor, params }) => showRun(db, actor.org, await getRun(db, actor.org, params.id)),
  )

  app.post(
    '/v1/sound-runs/:id/cancel',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'cancelSoundRun',
        summary: 'Cancel a run that measures or transcribes recordings',
        description:
          'Keeps the measures and transcripts so far. Returns 409 if neither the run nor one of its transcriptions is in progress.',
        params: IdParams,
        querystring: NoQuery,
        body: NoBody,
        response: answers({ 200: SoundRun }, 400, 401, 403, 404, 409),
      },
    },
    async ({ actor, params }) => showRun(db, actor.org, await cancelRun(deps, actor, params.id)),
  )
}
