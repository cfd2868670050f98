import { expect, it } from 'vitest'
import { withField } from './filter.ts'

it('sets a field, and removes it if it is empty', () => {
  const filter = { text: 'refund', agentIds: ['a'] }
  expect(withField(filter, 'text', 'late fee')).toEqual({ text: 'late fee', agentIds: ['a'] })
  expect(withField(filter, 'text', '')).toEqual({ agentIds: ['a'] })
  expect(withField(filter, 'agentIds', [])).toEqual({ text: 'refund' })
  expect(withField(filter, 'agentIds', undefined)).toEqual({ text: 'refund' })
})

it('keeps zero, which is a condition', () => {
  expect(withField({}, 'minDurationSeconds', 0)).toEqual({ minDurationSeconds: 0 })
})
