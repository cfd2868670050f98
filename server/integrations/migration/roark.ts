import { isObject } from '../../platform/is-object.ts'
import { at, idOf, type JsonObject, objectOf, textOf } from '../../transcripts/json.ts'
import {
  directionIn,
  emptySentCall,
  filledList,
  instantIn,
  objectsIn,
  recordingIn,
  type SentCall,
} from './sent-call.ts'

/** Reads calls sent with `call.create` from Roark's SDK. */

/** The end states in which there was no conversation, or an interrupted one. */
const failures = new Set([
  'AGENT_DID_NOT_ANSWER',
  'AGENT_BUSY',
  'AGENT_ERROR',
  'CUSTOMER_DID_NOT_ANSWER',
  'CUSTOMER_BUSY',
  'DIAL_ERROR',
  'PHONE_CALL_PROVIDER_CONNECTION_ERROR',
])

const metadataOf = (body: JsonObject): JsonObject => {
  const linked = Object.fromEntries(
    ['vapiCallId', 'livekitRoomId'].flatMap((name) => {
      const value = textOf(body[name])
      return value === null ? [] : [[name, value]]
    }),
  )
  return { ...linked, ...objectOf(body.properties) }
}

/** Returns the transcript. Roark sends it as a list of messages and a separate list of tools. */
const transcriptOf = ({ transcript, toolInvocations }: JsonObject) => {
  const messages = filledList(transcript)
  const used = filledList(toolInvocations)
  return messages || used ? { transcript: messages ?? [], ...(used && { toolInvocations: used }) } : null
}

export const readRoark = (body: JsonObject): SentCall => {
  const agent = [body.agent, ...objectsIn(body.agents)].find(isObject)
  const customers = [body.customer, ...objectsIn(body.customers)]
  const endReason = textOf(body.endedStatus)
  const name = textOf(at(agent, 'name'))
  return {
    ...emptySentCall,
    externalId: textOf(body.externalId),
    agentExternalId: idOf(at(agent, 'customId')) ?? idOf(at(agent, 'roarkId')) ?? name,
    agentName: name,
    systemPrompt: textOf(at(agent, 'prompt', 'resolvedPrompt')),
    channel: endReason === 'VOICE_MAIL_REACHED' ? 'voicemail' : 'call',
    direction: directionIn(body.callDirection),
    status: endReason !== null && failures.has(endReason) ? 'failed' : 'completed',
    startedAt: instantIn(body, 'startedAt'),
    endReason,
    customerId:
      customers.map((customer) => textOf(at(customer, 'phoneNumberE164'))).find((phone) => phone !== null) ?? null,
    metadata: metadataOf(body),
    transcript: transcriptOf(body),
    recordingUrl: recordingIn(body, 'stereoRecordingUrl', 'recordingUrl'),
    format: 'roark',
  }
}
