import { setTimeout as pause } from 'node:timers/promises'
import { expect, inject, it } from 'vitest'
import { ask, makeDataDir, provision, startEarshot, takeFreePort } from '../../test/earshot.ts'
import { seededRandom } from '../../test/malformed.ts'
import { serveTranscription } from '../../test/support/model-providers/transcription-stand-in.ts'
import { speak, toWav } from '../../test/support/recordings.ts'

/** Kills processes in the middle of transcriptions. */

const seed = inject('seeds')[0] ?? 1
const recordings = 6
const kills = Math.min(8, inject('rounds'))

const { channels } = speak([
  { channel: 0, text: 'Hello, this is the clinic.', startMs: 300 },
  { channel: 1, text: 'I would like to move my appointment.', startMs: 3_600 },
  { channel: 0, text: 'I can offer you ten thirty.', startMs: 7_000 },
])

it('lose no transcript, and pay for at most one request twice per kill and slot', { timeout: 300_000 }, async () => {
  process.stdout.write(`kills while transcribing: seed ${seed}\n`)
  const random = seededRandom(seed)
  // Replies take long enough for a kill.
  const standIn = await serveTranscription('openai-compatible', async () => pause(400))
  const port = await takeFreePort()
  const origin = `http://127.0.0.1:${port}`
  const switches = {
    PORT: String(port),
    EARSHOT_DATA_DIR: await makeDataDir(),
    EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.0/8',
  }
  let earshot = await startEarshot(switches)
  const { key } = await provision(origin)
  const ids: string[] = []
  for (let number = 0; number < recordings; number++) {
    const agent = { externalId: 'leo', name: 'Leo', channel: 'voice' }
    const call = { externalId: `call-${number}`, agent, channel: 'call', startedAt: '2026-11-20T09:00:00Z' }
    const { id } = (await ask(origin, 'POST', '/v1/conversations', key, call)).body
    const answer = await fetch(`${origin}/v1/conversations/${id}/recording`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'audio/wav' },
      body: new Uint8Array(toWav(channels)),
    })
    expect(answer.status).toBe(200)
    ids.push(id)
  }
  const soundOf = async (id: string) => (await ask(origin, 'GET', `/v1/conversations/${id}/sound`, key)).body.status
  for (const id of ids) await expect.poll(() => soundOf(id), { timeout: 60_000 }).toBe('measured')

  const provider = { name: 'Speech', kind: 'openai-compatible', settings: standIn.settings }
  const { id: providerId } = (await ask(origin, 'POST', '/v1/model-providers', key, provider)).body
  // A model without times gets one request for each turn.
  const settings = { transcriptionModel: `${providerId}/gpt-4o-transcribe` }
  expect((await ask(origin, 'PATCH', '/v1/organization', key, settings)).status).toBe(200)
  expect((await ask(origin, 'POST', '/v1/sound-runs', key, { transcribe: true })).status).toBe(202)
  for (let kill = 0; kill < kills; kill++) {
    await pause(random.below(2_500))
    earshot.child.kill('SIGKILL')
    await earshot.ended
    earshot = await startEarshot(switches)
  }
  const transcriptOf = async (id: string) => (await ask(origin, 'GET', `/v1/conversations/${id}/transcript`, key)).body
  for (const id of ids) {
    await expect
      .poll(async () => (await transcriptOf(id)).transcription?.status, { timeout: 120_000 })
      .toBe('completed')
    expect((await transcriptOf(id)).turns).toHaveLength(3)
  }
  const slots = 4
  const needed = 3 * recordings
  process.stdout.write(`requests: ${standIn.asked.length} for ${needed} turns and ${kills} kills\n`)
  expect(standIn.asked.length).toBeGreaterThanOrEqual(needed)
  expect(standIn.asked.length).toBeLessThanOrEqual(needed + kills * slots)
})
