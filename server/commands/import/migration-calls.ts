import { createHash } from 'node:crypto'
import { readBluejay } from '../../integrations/migration/bluejay.ts'
import { readCekura } from '../../integrations/migration/cekura.ts'
import { readCoval } from '../../integrations/migration/coval.ts'
import { readRoark } from '../../integrations/migration/roark.ts'
import { emptySentCall, filledList, instantIn, type SentCall } from '../../integrations/migration/sent-call.ts'
import { ApiError } from '../../platform/errors.ts'
import { at, idOf, type JsonObject, objectOf, textOf } from '../../transcripts/json.ts'
import { bounded, type CallReading } from '../../transcripts/provider-calls/call.ts'

/** Reads calls in other platforms' formats, and Pipecat sessions. Pipecat has no webhook. */

const readPipecat = (session: JsonObject): SentCall => ({
  ...emptySentCall,
  externalId: idOf(session.conversation_id),
  agentExternalId: idOf(at(session, 'agent', 'externalId')),
  agentName: textOf(at(session, 'agent', 'name')),
  versionLabel: textOf(at(session, 'agent', 'version')),
  startedAt: instantIn(session, 'started_at'),
  endedAt: instantIn(session, 'ended_at'),
  metadata: objectOf(session.metadata),
  transcript: filledList(session.transcript),
})

/** Returns an ID for a call without one. `/v1` assigns the same ID to the same call, so that both become one call. */
const idOfContent = (platform: string, body: JsonObject): string =>
  `${platform}:${createHash('sha256').update(JSON.stringify(body)).digest('hex')}`

const reading = (platform: string, read: (body: JsonObject) => SentCall) =>
  bounded((body): CallReading => {
    try {
      const { format: _, externalId, startedAt, ...call } = read(body)
      if (startedAt === null) return { unreadable: 'its start time is missing' }
      return { ...call, externalId: externalId ?? idOfContent(platform, body), startedAt }
    } catch (error) {
      if (error instanceof ApiError) return { unreadable: error.message }
      throw error
    }
  })

export const migrationReaders = {
  roark: reading('roark', readRoark),
  coval: reading('coval', readCoval),
  cekura: reading('cekura', readCekura),
  bluejay: reading('bluejay', readBluejay),
  pipecat: reading('pipecat', readPipecat),
}
