// Sends providers' webhooks, each several times and in random order.
import { createHmac } from 'node:crypto'
import { sample } from '../../samples/ingest/sample.ts'
import { providerSecret, type Stage, type Traffic } from '../stage.ts'
import { recordingAt } from '../world.ts'
import { fetchRecording } from './recordings.ts'

const providers = ['vapi', 'retell', 'elevenlabs'] as const
type Provider = (typeof providers)[number]
type Event = { provider: Provider; bytes: Buffer }
type Row = { callId: string; id: string; turns: number; metrics: string[]; isRecorded: boolean }

/** Removes recording URLs from a sample, because they point to the internet. */
const withoutRecordings = (call: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(call).filter(([name]) => !/recording|log_?url/i.test(name)))

const vapiEvents = (callId: string): Event[] => {
  const { message } = sample('vapi_end_of_call_report.json')
  const artifact = withoutRecordings(message.artifact)
  const told = { message: { ...withoutRecordings(message), artifact, call: { ...message.call, id: callId } } }
  return [{ provider: 'vapi', bytes: Buffer.from(JSON.stringify(told)) }]
}

/** Returns the webhooks for the end of a call and for its later analysis. */
const retellEvents = (callId: string, recordingUrl: string): Event[] => {
  const { call } = sample('retell_call_ended.json')
  const ended = { ...withoutRecordings(call), call_id: callId, recording_url: recordingUrl }
  const analyzed = { ...ended, call_analysis: { call_summary: `About ${callId}.`, user_sentiment: 'Positive' } }
  return [
    { event: 'call_ended', call: ended },
    { event: 'call_analyzed', call: analyzed },
  ].map((told) => ({ provider: 'retell', bytes: Buffer.from(JSON.stringify(told)) }))
}

/** Returns the webhooks for the transcript of a call and for its audio. */
const elevenlabsEvents = (callId: string, audio: Buffer): Event[] => {
  const transcription = sample('elevenlabs_post_call_transcription.json')
  const { agent_id } = transcription.data
  const data = { agent_id, conversation_id: callId, full_audio: audio.toString('base64') }
  return [
    { ...transcription, data: { ...transcription.data, conversation_id: callId } },
    { type: 'post_call_audio', event_timestamp: transcription.event_timestamp, data },
  ].map((told) => ({ provider: 'elevenlabs', bytes: Buffer.from(JSON.stringify(told)) }))
}

const headersOf = ({ provider, bytes }: Event): Record<string, string> => {
  const type = { 'content-type': 'application/json' }
  if (provider === 'vapi') return { ...type, 'x-vapi-secret': providerSecret }
  const now = Date.now()
  if (provider === 'elevenlabs') {
    const seconds = Math.floor(now / 1_000)
    const digest = createHmac('sha256', providerSecret).update(`${seconds}.`).update(bytes).digest('hex')
    return { ...type, 'elevenlabs-signature': `t=${seconds},v0=${digest}` }
  }
  const digest = createHmac('sha256', providerSecret).update(bytes).update(String(now)).digest('hex')
  return { ...type, 'x-retell-signature': `v=${now},d=${digest}` }
}

export const openProviders = (stage: Stage): Traffic => {
  const { client, random, query, org, webhookPaths, world } = stage
  const acknowledged = new Map<string, Provider>()
  const tried = new Set<string>()

  const send = async (number: number) => {
    const provider = providers[number % providers.length] ?? 'vapi'
    const callId = `${provider}-${number}`
    tried.add(callId)
    const path = `/${org}/${callId}`
    const events = {
      vapi: () => vapiEvents(callId),
      retell: () => retellEvents(callId, world.recordings.url + path),
      elevenlabs: () => elevenlabsEvents(callId, recordingAt(path)),
    }[provider]()
    const told = [...events, ...events.filter(() => random.chance(0.4))]
    if (random.chance(0.5)) told.reverse()
    const tell = async (event: Event) => {
      const raw = { bytes: event.bytes, headers: headersOf(event) }
      // The status is 401 while the service's clock is far from the signer's.
      const { body } = await client.send('POST', webhookPaths[provider], [200, 202], { raw, again: [401] })
      if (!['applied', 'unchanged', 'pending'].includes(body.status))
        throw new Error(`${callId} was answered ${JSON.stringify(body)}`)
    }
    if (random.chance(0.5)) await Promise.all(told.map(tell))
    else for (const event of told) await tell(event)
    acknowledged.set(callId, provider)
  }

  const compare = async () => {
    const rows: Row[] = await query(
      `SELECT c.external_id AS "callId", c.id, t.turn_count AS turns, r.status IS NOT NULL AS "isRecorded",
         ARRAY(SELECT m.key FROM customer_metrics m WHERE m.organization_id = $1 AND m.conversation_id = c.id) AS metrics
       FROM conversations c
       LEFT JOIN transcripts t ON t.organization_id = $1 AND t.conversation_id = c.id
       LEFT JOIN recordings r ON r.organization_id = $1 AND r.conversation_id = c.id AND r.status = 'stored'
       WHERE c.organization_id = $1 AND c.external_id ~ '^(vapi|retell|elevenlabs)-'`,
      [org],
    )
    const ids = rows.map(({ callId }) => callId)
    const found = ids.filter((id, at) => ids.indexOf(id) < at).map((id) => `the call ${id} is stored twice`)
    found.push(...ids.filter((id) => !tried.has(id)).map((id) => `the call ${id} was never told of`))
    for (const [callId, provider] of acknowledged) {
      const row = rows.find((one) => one.callId === callId)
      if (!row) found.push(`the call ${callId} was acknowledged and is not stored`)
      else if (!(row.turns > 0)) found.push(`the call ${callId} has no transcript`)
      else found.push(...faultsOfAnalysis(row, provider), ...(await faultsOfRecording(row, provider)))
    }
    return found
  }

  const faultsOfAnalysis = ({ callId, metrics }: Row, provider: string): string[] =>
    provider === 'retell' && !metrics.includes('retell.summary') ? [`what the analysis of ${callId} found is lost`] : []

  const faultsOfRecording = async ({ callId, id, isRecorded }: Row, provider: string): Promise<string[]> => {
    if (provider === 'vapi') return []
    if (!isRecorded) return [`the recording of ${callId} is lost`]
    const expected = recordingAt(`/${org}/${callId}`)
    return (await fetchRecording(stage, id)).equals(expected) ? [] : [`the recording of ${callId} is another`]
  }

  return { send, compare }
}
