// Uploads and replaces recordings.
import { wav } from '../../make.ts'
import type { Stage, Traffic } from '../stage.ts'
import type { ConversationTraffic } from './conversations.ts'

/** Downloads a recording through the service. */
export const fetchRecording = ({ client, key }: Stage, conversationId: string): Promise<Buffer> =>
  client.download(`/v1/conversations/${conversationId}/recording`, key)

export const openRecordings = (stage: Stage, conversations: ConversationTraffic): Traffic => {
  const { client, key, random } = stage
  /** The last acknowledged recording of each conversation. A conversation has no concurrent uploads. */
  const acknowledged = new Map<string, Uint8Array<ArrayBuffer>>()

  const send = async (number: number) => {
    const conversation = conversations.take()
    if (!conversation) return
    const bytes = wav(1_044 + random.below(60_000))
    bytes.fill(number % 256, 44)
    const raw = { bytes, headers: { 'content-type': 'audio/wav' } }
    await client.send('PUT', `/v1/conversations/${conversation.id}/recording`, [200], { key, raw })
    acknowledged.set(conversation.id, bytes)
  }

  const compare = async () => {
    const found: string[] = []
    for (const [id, bytes] of acknowledged) {
      const stored = await fetchRecording(stage, id)
      if (!stored.equals(bytes)) found.push(`the recording of ${id} is ${stored.length} other bytes`)
    }
    return found
  }

  return { send, compare }
}
