import { describe, expect, it } from 'vitest'
import { addPowers, integratedLufs, loudnessRangeLu, openLoudnessMeter } from './loudness.ts'

/** Levels in dBFS, each with its duration in seconds. */
type Signal = [level: number, seconds: number][]

const sineOf = (signal: Signal, sampleRate: number): Float32Array => {
  const length = signal.reduce((total, [, seconds]) => total + Math.round(seconds * sampleRate), 0)
  const samples = new Float32Array(length)
  let at = 0
  for (const [level, seconds] of signal) {
    const amplitude = 10 ** (level / 20)
    for (const end = at + Math.round(seconds * sampleRate); at < end; at++) {
      samples[at] = amplitude * Math.sin((2 * Math.PI * 1_000 * at) / sampleRate)
    }
  }
  return samples
}

/** Returns the powers of a stereo sine of 1 kHz. */
const measure = (signal: Signal, sampleRate: number): Float32Array => {
  const samples = sineOf(signal, sampleRate)
  const meters = [openLoudnessMeter(sampleRate), openLoudnessMeter(sampleRate)]
  for (let at = 0; at < samples.length; at += 4_099) {
    for (const meter of meters) meter.push(samples.subarray(at, at + 4_099))
  }
  return addPowers(meters.map((meter) => meter.powers()))
}

describe('EBU Tech 3341, integrated loudness of', () => {
  it.each<[name: string, signal: Signal, lufs: number]>([
    ['signal 1', [[-23, 20]], -23],
    ['signal 2', [[-33, 20]], -33],
    [
      'signal 3',
      [
        [-36, 10],
        [-23, 60],
        [-36, 10],
      ],
      -23,
    ],
    [
      'signal 4',
      [
        [-72, 10],
        [-36, 10],
        [-23, 60],
        [-36, 10],
        [-72, 10],
      ],
      -23,
    ],
    [
      'signal 5',
      [
        [-26, 20],
        [-20, 20.1],
        [-26, 20],
      ],
      -23,
    ],
  ])('%s', (_name, signal, lufs) => {
    expect(Math.abs((integratedLufs(measure(signal, 48_000)) ?? 0) - lufs)).toBeLessThan(0.1)
  })
})

describe('EBU Tech 3342, loudness range of', () => {
  it.each<[name: string, signal: Signal, lu: number]>([
    [
      'signal 1',
      [
        [-20, 20],
        [-30, 20],
      ],
      10,
    ],
    [
      'signal 2',
      [
        [-20, 20],
        [-15, 20],
      ],
      5,
    ],
    [
      'signal 3',
      [
        [-40, 20],
        [-20, 20],
      ],
      20,
    ],
    [
      'signal 4',
      [
        [-50, 20],
        [-35, 20],
        [-20, 20],
        [-35, 20],
        [-50, 20],
      ],
      15,
    ],
  ])('%s', (_name, signal, lu) => {
    expect(Math.abs((loudnessRangeLu(measure(signal, 48_000)) ?? 0) - lu)).toBeLessThan(1)
  })
})

it.each([8_000, 11_025, 16_000, 22_050, 44_100])('a rate of %d Hz has the same loudness', (sampleRate) => {
  expect(Math.abs((integratedLufs(measure([[-23, 5]], sampleRate)) ?? 0) + 23)).toBeLessThan(0.1)
})

it('silence and sound of less than 400 ms have no loudness', () => {
  expect(integratedLufs(measure([[-200, 5]], 48_000))).toBeNull()
  expect(integratedLufs(measure([[-23, 0.3]], 48_000))).toBeNull()
  expect(loudnessRangeLu(measure([[-23, 2]], 48_000))).toBeNull()
})
