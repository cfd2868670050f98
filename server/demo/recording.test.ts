import { mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { audioType } from '../conversations/recordings/audio.ts'
import { measureFile } from '../sound/measure-file.ts'
import { type CallSound, soundOf } from './recording.ts'

const say = (role: 'agent' | 'customer', startMs: number, endMs: number, text: string) => ({
  role,
  kind: 'message' as const,
  text,
  startMs,
  endMs,
})

const turns = [
  say('agent', 500, 3_200, 'Good morning, how can I help you today?'),
  say('customer', 4_000, 6_600, 'I would like to move my appointment.'),
  say('agent', 7_400, 9_900, 'Of course. When would you like to come?'),
]
const call: CallSound = { turns, durationMs: 12_000, voices: { agent: 'rms', customer: 'slt' } }

const measure = async (sound: Buffer) => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-demo-sound-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'call.wav'), sound)
  const file = await open(join(folder, 'call.wav'))
  onTestFinished(() => file.close())
  return measureFile(file.fd, { onBlock: () => {} })
}

/** Matches a span if its edges differ by at most 50 ms. */
const spanNear = (startMs: number, endMs: number) => ({
  startMs: expect.closeTo(startMs, -2),
  endMs: expect.closeTo(endMs, -2),
})

it('speaks each turn at its time, with the agent on the left and the customer on the right', async () => {
  const sound = await soundOf(call)
  expect(audioType(sound)?.contentType).toBe('audio/wav')
  expect(sound.length).toBe(44 + 12 * 8_000 * 4)
  expect(await soundOf(call)).toEqual(sound)
  const { channels } = await measure(sound)
  expect(channels.map(({ segments }) => segments)).toEqual([
    [spanNear(500, 3_200), spanNear(7_400, 9_900)],
    [spanNear(4_000, 6_600)],
  ])
  expect(channels).toMatchObject(Array(2).fill({ clippedSamples: 0, counts: { dropout: 0 } }))
})

it('contains the requested fault', async () => {
  const [clipped] = (await measure(await soundOf({ ...call, fault: 'clipping' }))).channels
  expect(clipped?.clippedSamples).toBeGreaterThan(100)
  const dropped = (await measure(await soundOf({ ...call, fault: 'dropouts' }))).channels
  expect(dropped[0]?.counts.dropout).toBeGreaterThan(0)
  const late = (await measure(await soundOf({ ...call, fault: 'late answers' }))).channels
  expect(late[0]?.segments).toEqual([spanNear(500, 3_200), spanNear(8_100, 10_600)])
})
