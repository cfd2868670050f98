import { describe, expect, it } from 'vitest'
import { joinModel, splitModel } from './model-name.ts'

const id = '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f'

describe('a model', () => {
  it.each([
    ['', { provider: '', model: '' }],
    ['gpt-5', { provider: 'any', model: 'gpt-5' }],
    ['openai/gpt-oss:20b', { provider: 'any', model: 'openai/gpt-oss:20b' }],
    ['instance/gpt-5', { provider: 'instance', model: 'gpt-5' }],
    [`${id}/openai/gpt-oss:20b`, { provider: id, model: 'openai/gpt-oss:20b' }],
    [`${id}/`, { provider: id, model: '' }],
  ])('%s is split, and joined again', (name, split) => {
    expect(splitModel(name)).toEqual(split)
    expect(joinModel(split)).toBe(name)
  })
})
