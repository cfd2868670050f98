import { isObject } from '../../platform/is-object.ts'
import { at, idOf, instantOf, instantOfMs, type JsonObject, numberOf, objectOf, textOf } from '../json.ts'
import type { Metric, ProviderCall } from './call.ts'
import { bounded, type CallReading, durationOf, firstAddress, metricsOf, transcriptOf } from './call.ts'

/** Reads Vapi's end-of-call report. All other messages from Vapi are about calls in progress. */

/** Matches the end reasons, out of about 250, that mean that there was no conversation or an interrupted one. */
const failure =
  /error|failed|rejected|busy|did-not-(answer|give)|not-(found|valid|provided)|never-connected|join-timed-out|closed-websocket|worker-shutdown/

const channelOf = (message: JsonObject, endReason: string | null): ProviderCall['channel'] => {
  if (isObject(message.chat)) return 'chat'
  return endReason === 'voicemail' ? 'voicemail' : 'call'
}

const directionOf = (type: unknown): ProviderCall['direction'] => {
  if (type === 'inboundPhoneCall') return 'inbound'
  return type === 'outboundPhoneCall' ? 'outbound' : null
}

const promptOf = (message: JsonObject): string | null => {
  const model = at(message, 'assistant', 'model')
  const messages = [at(model, 'messages'), at(message, 'artifact', 'messages')].flatMap((list) =>
    Array.isArray(list) ? list : [],
  )
  const system = messages.find((entry) => isObject(entry) && entry.role === 'system')
  return textOf(at(system, 'content')) ?? textOf(at(system, 'message')) ?? textOf(at(model, 'systemPrompt'))
}

const metricsIn = ({ analysis, artifact, cost }: JsonObject): Metric[] => {
  const { add, all } = metricsOf('vapi')
  const { summary, successEvaluation, structuredData } = objectOf(analysis)
  add('summary', summary)
  add('success', successEvaluation)
  for (const [name, value] of Object.entries(objectOf(structuredData))) add(`data.${name}`, value)
  const named = (from: string) => Object.entries(objectOf(at(artifact, from)))
  for (const [id, output] of named('structuredOutputs'))
    add(`output.${textOf(at(output, 'name')) ?? id}`, at(output, 'result'))
  for (const [id, card] of named('scorecards')) {
    add(`scorecard.${textOf(at(card, 'name')) ?? id}`, at(card, 'scoreNormalized') ?? at(card, 'score'))
  }
  const measured = objectOf(at(artifact, 'performanceMetrics'))
  add('latency.turnMs', measured.turnLatencyAverage)
  add('latency.modelMs', measured.modelLatencyAverage)
  add('latency.voiceMs', measured.voiceLatencyAverage)
  add('latency.transcriptionMs', measured.transcriberLatencyAverage)
  add('latency.endOfTurnMs', measured.endpointingLatencyAverage)
  add('customerInterrupted', measured.numUserInterrupted)
  add('agentInterrupted', measured.numAssistantInterrupted)
  add('cost', cost)
  return all()
}

const metadataOf = (message: JsonObject): JsonObject => {
  const consent = at(message, 'compliance', 'recordingConsent')
  return {
    ...objectOf(at(message, 'assistant', 'metadata')),
    ...objectOf(at(message, 'artifact', 'variableValues')),
    ...objectOf(at(message, 'call', 'metadata')),
    ...(isObject(consent) && { recordingConsent: consent }),
  }
}

const read = ({ message }: JsonObject): CallReading => {
  if (!isObject(message) || typeof message.type !== 'string') return { unreadable: 'message.type is missing' }
  if (message.type !== 'end-of-call-report') return { ignored: `${message.type} does not report a finished call` }
  const call = objectOf(message.call)
  const artifact = objectOf(message.artifact)
  const externalId = idOf(call.id) ?? idOf(at(message, 'chat', 'id'))
  if (externalId === null) return { unreadable: 'message.call.id is missing' }
  const instant = (name: string) =>
    instantOf(message[name]) ?? instantOfMs(numberOf(message[name])) ?? instantOf(call[name])
  const startedAt = instant('startedAt') ?? instantOf(call.createdAt)
  if (startedAt === null) return { unreadable: 'message.startedAt is missing' }
  const endReason = textOf(message.endedReason) ?? textOf(call.endedReason)
  const customer = { ...objectOf(call.customer), ...objectOf(message.customer) }
  return {
    externalId,
    agentExternalId: idOf(call.assistantId) ?? idOf(at(message, 'assistant', 'id')) ?? idOf(call.squadId),
    agentName: textOf(at(message, 'assistant', 'name')),
    versionLabel: null,
    systemPrompt: promptOf(message),
    channel: channelOf(message, endReason),
    direction: directionOf(call.type),
    status: endReason !== null && failure.test(endReason) ? 'failed' : 'completed',
    startedAt,
    endedAt: instant('endedAt'),
    durationSeconds: durationOf(numberOf(message.durationSeconds)),
    endReason,
    customerId: idOf(customer.externalId) ?? idOf(customer.number) ?? textOf(customer.sipUri),
    metadata: metadataOf(message),
    transcript: transcriptOf(artifact.messages, message.messages, artifact.transcript),
    recordingUrl: firstAddress(
      at(artifact, 'recording', 'stereoUrl'),
      at(artifact, 'recording', 'mono', 'combinedUrl'),
      artifact.stereoRecordingUrl,
      artifact.recordingUrl,
    ),
    metrics: metricsIn(message),
  }
}

export const readVapiCall = bounded(read)
