import { recordingKind } from '../conversations/recordings/jobs.ts'
import { findRecording, lockRecordedConversation, storeUploaded } from '../conversations/recordings/queries.ts'
import type { ServiceDeps } from '../deps.ts'
import type { OrgId } from '../platform/db/database.ts'
import { newId } from '../platform/ids.ts'
import type { DemoTurn } from './conversation.ts'

/**
 * Generates recordings for some of the demo's calls: a soft tone for each syllable, with the agent on the left and the
 * customer on the right.
 */

const rate = 8_000
const bytesPerFrame = 4
const headerBytes = 44
/** The number of syllables per second, and the pitch of each voice. */
const pace = 4.5
const pitches = { agent: 196, customer: 131 }

const header = (dataBytes: number): Buffer => {
  const head = Buffer.alloc(headerBytes)
  head.write('RIFF', 0)
  head.writeUInt32LE(headerBytes - 8 + dataBytes, 4)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(2, 22)
  head.writeUInt32LE(rate, 24)
  head.writeUInt32LE(rate * bytesPerFrame, 28)
  head.writeUInt16LE(bytesPerFrame, 32)
  head.writeUInt16LE(16, 34)
  head.write('data', 36)
  head.writeUInt32LE(dataBytes, 40)
  return head
}

/** Returns the volume of a syllable. It depends on the letters of the text, so that turns look different. */
const loudnessOf = (text: string, syllable: number): number => {
  const code = text.charCodeAt((syllable * 3) % text.length) || 32
  return code === 32 ? 0.05 : 0.1 + ((code * 31 + syllable * 17) % 23) / 110
}

/** Returns a 16-bit WAV file with two channels. */
export const soundOf = (turns: readonly DemoTurn[], durationMs: number): Buffer => {
  const frames = Math.ceil((durationMs / 1_000) * rate)
  const samples = new Int16Array(frames * 2)
  for (const { role, text, startMs, endMs } of turns) {
    if (role === 'tool' || !text || startMs === undefined || endMs === undefined) continue
    const from = Math.round((startMs / 1_000) * rate)
    const count = Math.min(frames, Math.round((endMs / 1_000) * rate)) - from
    const step = rate / pace
    for (let at = 0; at < count; at++) {
      const syllable = Math.floor(at / step)
      const swell = Math.sin((Math.PI * (at % step)) / step)
      const tone = Math.sin((2 * Math.PI * pitches[role] * (1 + (syllable % 3) / 12) * at) / rate)
      samples[(from + at) * 2 + (role === 'agent' ? 0 : 1)] = loudnessOf(text, syllable) * swell * tone * 32_767
    }
  }
  return Buffer.concat([header(samples.byteLength), Buffer.from(samples.buffer)])
}

export type Sounding = { conversationId: string; turns: readonly DemoTurn[]; durationMs: number }

/** Stores the recording like an upload, unless there already is one. */
export const storeSound = async (
  deps: Pick<ServiceDeps, 'db' | 'blobs' | 'reactions'>,
  org: OrgId,
  call: Sounding,
): Promise<void> => {
  const { db, blobs, reactions } = deps
  const { conversationId, turns, durationMs } = call
  if (await findRecording(db, org, conversationId)) return
  const blobKey = `${org}/${recordingKind}/${newId()}`
  const contentType = 'audio/wav'
  const { bytes } = await blobs.put(blobKey, [soundOf(turns, durationMs)], { contentType })
  await db.transaction().execute(async (trx) => {
    await lockRecordedConversation(trx, org, conversationId)
    await storeUploaded(trx, org, conversationId, { blobKey, contentType, bytes })
    await reactions.recordingStored(trx, org, { conversationId })
  })
}
