import { expect, it } from 'vitest'
import { audioType } from '../conversations/recordings/audio.ts'
import { soundOf } from './recording.ts'

const say = (role: 'agent' | 'customer', startMs: number, endMs: number) => ({
  role,
  kind: 'message' as const,
  text: 'Hello there',
  startMs,
  endMs,
})

it('is a WAV as long as the call, with the agent on the left and the customer on the right, the same every time', () => {
  const turns = [say('agent', 0, 1_000), say('customer', 1_000, 2_000)]
  const sound = soundOf(turns, 2_500)
  expect(audioType(sound)?.contentType).toBe('audio/wav')
  const samples = new Int16Array(new Uint8Array(sound.subarray(44)).buffer)
  expect(samples.length).toBe(2.5 * 8_000 * 2)
  const loudest = (channel: number, from: number, to: number) =>
    Math.max(...samples.subarray(from * 16_000, to * 16_000).filter((_, at) => at % 2 === channel))
  expect(loudest(0, 0, 1)).toBeGreaterThan(2_000)
  expect(loudest(1, 0, 1)).toBe(0)
  expect(loudest(0, 1, 2)).toBe(0)
  expect(loudest(1, 1, 2)).toBeGreaterThan(2_000)
  expect(loudest(0, 2, 2.5)).toBe(0)
  expect(soundOf(turns, 2_500)).toEqual(sound)
})
