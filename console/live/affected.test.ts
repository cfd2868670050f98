import { afterAll, expect, it, vi } from 'vitest'
import { affectedBy, allAffected, awaited, matches } from './affected.ts'

vi.stubGlobal('location', { origin: 'https://earshot.example.com' })
// The client reads its origin when it is imported.
const { alignmentsOptions, estimateOptions } = await import('../monitors/alignment/queries.ts')
afterAll(() => void vi.unstubAllGlobals())

const monitorId = '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f'

it('requests alignments again when one changes, and when the stream opens, but never repeats an estimate', () => {
  const { queryKey: list } = alignmentsOptions(monitorId)
  const { queryKey: estimate } = estimateOptions(monitorId, 1)
  for (const some of [affectedBy({ resource: 'alignments' }), awaited]) {
    expect(some.some((one) => matches(list, one, undefined))).toBe(true)
  }
  expect(allAffected.filter((one) => matches(estimate, one, undefined))).toEqual([])
})
