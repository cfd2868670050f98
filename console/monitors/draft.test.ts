import { describe, expect, it } from 'vitest'
import { definitionOf, fieldOf, readDefinition, textOf } from './draft.ts'

const judge = {
  criteria: 'The agent is rude.',
  output: { type: 'score', min: 1, max: 5, affectedWhen: { op: 'lte', value: 2 } },
  model: 'small',
}

describe('a monitor’s draft', () => {
  it('converts to a form and back', () => {
    const rule = { expression: 'signals.toolFailures > 0', score: 'signals.toolFailures' }
    expect(definitionOf('rule', readDefinition(rule))).toEqual(rule)
    expect(definitionOf('judge', readDefinition(judge))).toEqual(judge)
    const plain = { criteria: 'Rude?', output: { type: 'boolean' } }
    expect(definitionOf('judge', readDefinition(plain))).toEqual(plain)
    expect(definitionOf('external', readDefinition({}))).toEqual({})
  })

  it('omits empty fields', () => {
    expect(definitionOf('rule', readDefinition({ expression: ' true ', score: ' ' }))).toEqual({ expression: 'true' })
  })

  it('maps issues to fields', () => {
    expect(fieldOf('rule')('definition.expression')).toBe('rule.expression')
    expect(fieldOf('judge')('definition.output.affectedWhen.value')).toBe('judge.output.value')
    expect(fieldOf('judge')('definition.output.min')).toBe('judge.output.min')
    expect(fieldOf('judge')('samplePercent')).toBe('samplePercent')
  })

  it('is compared as text', () => {
    expect(textOf('judge', judge)).toBe('The agent is rude.\n\nanswer: score 1 to 5, affected when lte 2\nmodel: small')
  })
})
