import { expect, it } from 'vitest'
import { columnLevels, spectrogramBins } from './spectrogram-levels.ts'

const rate = 8_000

const sine = (frequency: number, amplitude: number): Float32Array =>
  Float32Array.from({ length: rate }, (_, at) => amplitude * Math.sin((2 * Math.PI * frequency * at) / rate))

it.each([500, 1_000, 3_000])('shows a sine of %d Hz at its frequency', (frequency) => {
  const levels = columnLevels(sine(frequency, 0.02), 5, 10)
  const loudest = levels.indexOf(Math.max(...levels))
  expect(loudest).toBe(Math.round((frequency / rate) * 2 * spectrogramBins))
  expect(levels[loudest]).toBeGreaterThan(190)
  expect(levels[(loudest + spectrogramBins / 2) % spectrogramBins]).toBeLessThan(20)
})

it('shows quiet sound less, and silence not at all', () => {
  const loudestOf = (samples: Float32Array) => Math.max(...columnLevels(samples, 0, 10))
  expect(loudestOf(sine(1_000, 0.001))).toBeGreaterThan(50)
  expect(loudestOf(sine(1_000, 0.001))).toBeLessThan(200)
  expect(loudestOf(new Float32Array(rate))).toBe(0)
})

it('shows where a sound begins', () => {
  const samples = sine(1_000, 0.5).fill(0, 0, rate / 2)
  const heard = Array.from({ length: 10 }, (_, column) => Math.max(...columnLevels(samples, column, 10)))
  expect(heard.map((level) => level > 200)).toEqual([...Array(5).fill(false), ...Array(5).fill(true)])
})
