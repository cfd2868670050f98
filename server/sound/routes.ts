import type { Static } from 'typebox'
import { getConversation } from '../conversations/queries.ts'
import { findRecording } from '../conversations/recordings/queries.ts'
import { getOrganization } from '../organizations/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import type { App } from '../platform/http/http.ts'
import { answers, IdParams, NoQuery } from '../platform/http/schemas.ts'
import { emptySound } from './derive-measures.ts'
import { findSound } from './queries.ts'
import { readSound } from './read-sound.ts'
import type { Recording } from './redaction/lifecycle.ts'
import { Sound } from './schema.ts'
import { isSoundOf } from './settle.ts'

const tags = ['Conversations']

const notMeasured = 'The organization does not measure recordings.'
const redactedFirst = 'The recording was redacted without being measured.'

const listRedacted = ({ redactedSpans }: Recording): Static<typeof Sound>['redacted'] =>
  redactedSpans?.map(([startMs, endMs]) => ({ startMs, endMs })) ?? null

/** Returns the status of a recording that has no measures. */
const whyUnmeasured = async (
  near: Db,
  org: OrgId,
  { fileKey, redactedSpans }: Recording,
): Promise<Parameters<typeof emptySound>[0]> => {
  if (fileKey === null) return { status: 'none', reason: null }
  if (redactedSpans) return { status: 'none', reason: redactedFirst }
  const { measureSound } = await getOrganization(near, org)
  return measureSound ? { status: 'pending', reason: null } : { status: 'none', reason: notMeasured }
}

export const sound = (app: App, deps: Deps): void => {
  const { database } = deps

  const read = async (near: Db, org: OrgId, id: string): Promise<Static<typeof Sound>> => {
    const { recording: state } = await getConversation(near, org, id)
    // A conversation without a recording doesn't need another query.
    const recording = state === null ? undefined : await findRecording(near, org, id)
    if (!recording) return emptySound({ status: 'none', reason: null })
    const redacted = listRedacted(recording)
    const found = await findSound(near, org, id)
    if (found && isSoundOf(recording, found)) {
      if (!found.measured) return emptySound({ status: 'unmeasurable', reason: found.reason })
      return { ...(await readSound(deps, near, org, { id, measured: found.measured })), redacted }
    }
    return { ...emptySound(await whyUnmeasured(near, org, recording)), redacted }
  }

  app.get(
    '/v1/conversations/:id/sound',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'getSound',
        summary: 'Get a conversation’s sound measurements',
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
