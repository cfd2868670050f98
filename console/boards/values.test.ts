import { expect, it } from 'vitest'
import { dimensionName, formatOf, nameOf } from './values.ts'

it('writes each measure in its unit', () => {
  expect(formatOf({ kind: 'rate', monitorId: '' })(0.125)).toBe('12.5%')
  expect(formatOf({ kind: 'duration', statistic: 'p50' })(92)).toBe('1 m 32 s')
  expect(formatOf({ kind: 'signal', signal: 'responseLatencyMs.p95', statistic: 'p95' })(840)).toBe('840 ms')
  expect(formatOf({ kind: 'signal', signal: 'talkRatio', statistic: 'mean' })(0.4)).toBe('0.4')
  expect(formatOf({ kind: 'sound', name: 'responseMs.agent.p95', statistic: 'p95' })(840)).toBe('840 ms')
  expect(nameOf({ kind: 'duration', statistic: 'p50' })).toBe('Median')
})

it('names dimensions', () => {
  expect(['agent', 'endReason', 'metadata:plan'].map(dimensionName)).toEqual(['agent', 'end reason', 'plan'])
})
