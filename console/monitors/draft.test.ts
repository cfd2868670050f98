import { describe, expect, it } from 'vitest'
import { outputWords, textOf } from './definition-text.ts'
import { definitionOf, fieldOf, keyOf, readDefinition } from './draft.ts'

const category = {
  type: 'category',
  categories: [
    { key: 'billing', label: 'A bill', description: 'Or a charge' },
    { key: 'complaint', label: 'A complaint', affected: true },
  ],
  multiple: true,
  allowOther: true,
}

const extract = {
  type: 'extract',
  fields: [
    { key: 'amount', type: 'number', required: true },
    { key: 'reason', type: 'enum', options: ['late', 'damaged'] },
  ],
  affectedWhen: 'fields.amount > 20',
}

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

  it('keeps what a judge hears', () => {
    const listener = { criteria: 'Upset?', output: { type: 'boolean' }, input: 'sound' }
    expect(definitionOf('judge', readDefinition(listener))).toEqual(listener)
    const soundExcerpt = { expression: "turns.mentions('refund')", beforeMs: 1_500, afterMs: 0 }
    const excerpt = { ...listener, soundExcerpt }
    expect(definitionOf('judge', readDefinition(excerpt))).toEqual(excerpt)
  })

  it('keeps categories and fields', () => {
    const rule = { expression: 'true', categories: "{'a': true}", fields: "{'b': 1}" }
    expect(definitionOf('rule', readDefinition(rule))).toEqual(rule)
    for (const output of [category, extract]) {
      const stored = { criteria: 'Why?', output }
      expect(definitionOf('judge', readDefinition(stored))).toEqual(stored)
    }
  })

  it('keeps what an alignment has learned, and its decision as long as the score means the same', () => {
    const decision = {
      threshold: 0.5,
      calibration: [
        [1, 1],
        [4, 0.2],
      ],
    }
    const learned = {
      guidelines: [{ text: 'One rude word is enough.', alignmentId: 'a' }],
      examples: [
        { conversationId: 'c', reviewId: 'r', correctResult: 'affected', excerpt: 'agent: Go away.', isDisputed: true },
        { conversationId: 'd', reviewId: 's' },
      ],
    }
    const stored = { ...judge, output: { ...judge.output, decision }, ...learned }
    const draft = readDefinition(stored)
    expect(definitionOf('judge', draft)).toEqual(stored)
    expect(textOf('judge', stored)).toContain('Guideline: One rude word is enough.')
    expect(textOf('judge', stored)).toContain('Example (affected): agent: Go away.')
    expect(textOf('judge', stored)).toContain('Example (hidden until you have judged it)')
    expect(outputWords(draft.judge.output)).toContain('Aligned: affected if the score’s probability is at least 50%')
    draft.judge.output.value = 3
    const output = { ...judge.output, affectedWhen: { op: 'lte', value: 3 } }
    expect(definitionOf('judge', draft)).toEqual({ ...judge, output, ...learned })
  })

  it('keeps guidelines of an alignment unless they are edited, and leaves out empty ones', () => {
    const stored = {
      ...judge,
      guidelines: [{ text: 'One rude word is enough.', alignmentId: 'a' }, { text: 'Be strict.' }],
    }
    const draft = readDefinition(stored)
    expect(definitionOf('judge', draft)).toEqual(stored)
    draft.judge.guidelines.push({ text: '  ' }, { text: ' Irony is not rude. ' })
    expect(definitionOf('judge', draft).guidelines).toEqual([...stored.guidelines, { text: 'Irony is not rude.' }])
    const [first] = draft.judge.guidelines
    if (first) first.text = 'Two rude words are enough.'
    expect(definitionOf('judge', draft).guidelines).toEqual([
      { text: 'Two rude words are enough.' },
      { text: 'Be strict.' },
      { text: 'Irony is not rude.' },
    ])
    draft.judge.guidelines = []
    expect(definitionOf('judge', draft)).toEqual(judge)
  })

  it('omits empty fields', () => {
    expect(definitionOf('rule', readDefinition({ expression: ' true ', score: ' ' }))).toEqual({ expression: 'true' })
  })

  it('derives keys from labels', () => {
    const draft = readDefinition({
      criteria: 'x',
      output: { type: 'category', categories: [{ label: 'Réservation (2)' }] },
    })
    expect(definitionOf('judge', draft)).toMatchObject({ output: { categories: [{ key: 'reservation_2' }] } })
    expect(keyOf('2 late')).toBe('late')
    expect(keyOf('…')).toBe('')
  })

  it('maps issues to fields', () => {
    expect(fieldOf('rule')('definition.expression')).toBe('rule.expression')
    expect(fieldOf('judge')('definition.output.affectedWhen.value')).toBe('judge.output.value')
    expect(fieldOf('judge')('definition.output.min')).toBe('judge.output.min')
    expect(fieldOf('judge')('definition.output.affectedWhen')).toBe('judge.output.condition')
    expect(fieldOf('judge')('definition.output.categories[1].key')).toBe('judge.output.categories.1.key')
    expect(fieldOf('judge')('samplePercent')).toBe('samplePercent')
  })

  it('is compared as text', () => {
    expect(textOf('judge', judge)).toBe(
      'The agent is rude.\n\nScores from 1 to 5\nAffected if the score is at most 2\nModel: small',
    )
    expect(textOf('rule', { expression: 'true', fields: "{'b': 1}" })).toBe("true\n\nfields: {'b': 1}")
    expect(textOf('judge', { criteria: 'Why?', output: extract })).toContain('"affectedWhen": "fields.amount > 20"')
  })

  it('is described in words', () => {
    const wordsOf = (output: object) => outputWords(readDefinition({ criteria: 'x', output }).judge.output)
    expect(wordsOf(category)).toEqual([
      'Chooses any of these categories: A bill, A complaint',
      'Affected: A complaint',
      'May answer that no category fits',
    ])
    expect(wordsOf(extract)).toEqual([
      'Extracts amount (number, required), reason (enum)',
      'Affected when: fields.amount > 20',
    ])
  })
})
