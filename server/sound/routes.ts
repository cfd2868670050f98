import type { Static } from 'typebox'
import { readTurns } from '../conversations/ingest/tasks.ts'
import { getConversation, getTranscript } from '../conversations/queries.ts'
import { findRecording } from '../conversations/recordings/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import type { App } from '../platform/http/http.ts'
import { answers, IdParams, NoQuery } from '../platform/http/schemas.ts'
import { utterancesOf } from '../transcripts/signals/speech.ts'
import { deriveSound, emptySound } from './derive.ts'
import type { MeasuredFile } from './measure-file.ts'
import { findSound } from './queries.ts'
import { Sound } from './schema.ts'

const tags = ['Conversations']

export const sound = (app: App, deps: Deps): void => {
  const { database, threads } = deps

  /** Returns who speaks when according to the transcript, or null if it doesn't say. */
  const readUtterances = async (near: Db, org: OrgId, id: string) => {
    const { content, format, startedAt } = await getTranscript(near, org, id)
    if (content === null || format === null) return null
    return utterancesOf(await readTurns(threads, org, content, { provider: format, startedAt }))
  }

  const read = async (near: Db, org: OrgId, id: string): Promise<Static<typeof Sound>> => {
    const { signals, recording: state } = await getConversation(near, org, id)
    if (state?.status !== 'stored') return emptySound({ status: 'none', reason: null })
    const recording = await findRecording(near, org, id)
    const found = await findSound(near, org, id)
    if (!found || found.blobKey !== recording?.blobKey) return emptySound({ status: 'pending', reason: null })
    if (!found.measured) return emptySound({ status: 'unmeasurable', reason: found.reason })
    const utterances = await readUtterances(near, org, id)
    // The job stored it.
    return deriveSound(found.measured as MeasuredFile, { utterances, responseMs: signals.responseLatencyMs.p50 })
  }

  app.get(
    '/v1/conversations/:id/sound',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'getSound',
        summary: 'Get the sound measurements of a conversation',
        description:
          'Returns who speaks when, how long responses take, who interrupts whom, levels, and faults, all measured ' +
          'from the recording itself. The transcript is only used to determine who speaks on which channel. See the ' +
          'guide for the definition of each measure.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 200: Sound }, 401, 404),
      },
    },
    async ({ actor, params }) => read(database.dbOf(actor.org), actor.org, params.id),
  )
}
