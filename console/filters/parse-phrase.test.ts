import { describe, expect, it } from 'vitest'
import { soundOptions } from '../conversations/sound-names.ts'
import { localIn } from '../lib/zones.ts'
import { conditionsOf, filterOf, withCondition } from './conditions.ts'
import type { Filter } from './filter.ts'
import { parsePhrase } from './parse-phrase.ts'
import { joinParts, type Part, sayPart, splitPart, typedValue, type Vocabulary } from './say-phrase.ts'
import { suggest } from './suggest-phrases.ts'

const words: Vocabulary = {
  agents: [
    { value: 'a1', label: 'Leo' },
    { value: 'a2', label: 'Mia, the second' },
  ],
  agentGroups: [],
  companies: [{ value: 'c1', label: 'Acme Dental' }],
  topics: [
    { value: 't1', label: 'refund, money back' },
    { value: 't2', label: 'Lost cards' },
  ],
  buckets: [{ value: 'b1', label: 'Refunds' }],
  monitors: [
    { value: 'm1', label: 'Asks for a person' },
    { value: 'm2', label: 'Topics by call' },
  ],
  categories: [
    {
      monitorId: 'm2',
      options: [
        { value: 'refund', label: 'Asks for a refund' },
        { value: 'late', label: 'Late, or lost' },
        { value: 'car', label: 'Goes by car' },
        { value: 'other', label: 'No category fits' },
      ],
    },
  ],
  fields: [
    { monitorId: 'm1', key: 'amount', type: 'number' },
    { monitorId: 'm1', key: 'reason', type: 'enum', options: ['lost', 'damaged, or wet'] },
    { monitorId: 'm1', key: 'isPaid', type: 'boolean' },
    { monitorId: 'm1', key: 'until', type: 'date' },
    { monitorId: 'm2', key: 'amount' },
  ],
  sounds: soundOptions,
  timezone: 'Europe/Berlin',
}

const conversationId = '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f'

const phrases: [string, Part][] = [
  ['agent: Leo', { agentIds: ['a1'] }],
  ['agent: Mia, the second', { agentIds: ['a2'] }],
  ['company: Acme Dental', { companyIds: ['c1'] }],
  ['topic: refund, money back', { topicIds: ['t1'] }],
  ['topic: Lost cards', { topicIds: ['t2'] }],
  ['channel: calls, chats', { channels: ['call', 'chat'] }],
  ['direction: inbound', { directions: ['inbound'] }],
  ['status: in progress', { statuses: ['in_progress'] }],
  ['review: awaiting', { reviewStatus: 'pending' }],
  ['bucket: Refunds', { bucketId: 'b1' }],
  ['customer: c-4711', { customerId: 'c-4711' }],
  ['affected: Asks for a person', { monitors: [{ id: 'm1', result: 'affected' }] }],
  ['not affected: Asks for a person', { monitors: [{ id: 'm1', result: 'not_affected' }] }],
  ['result: Asks for a person', { monitors: [{ id: 'm1', result: 'all' }] }],
  [
    'category: billing, not applicable by Asks for a person',
    { categories: { monitorId: 'm1', any: ['billing', 'not_applicable'] } },
  ],
  ['category: Asks for a refund by Topics by call', { categories: { monitorId: 'm2', any: ['refund'] } }],
  [
    'category: late, Goes by car, billing by Topics by call',
    { categories: { monitorId: 'm2', any: ['late', 'car', 'billing'] } },
  ],
  ['duration ≥ 2 min', { minDurationSeconds: 120 }],
  ['duration ≤ 90 s', { maxDurationSeconds: 90 }],
  ['started: last 7 days', { period: { last: '7d', timezone: 'Europe/Berlin' } }],
  ['started: from 2026-11-01 00:00', { since: '2026-10-31T23:00:00.000Z' }],
  [
    'started: from 2026-11-01 00:00 before 2026-11-02 08:30',
    { since: '2026-10-31T23:00:00.000Z', until: '2026-11-02T07:30:00.000Z' },
  ],
  ['plan is gold', { metadata: [{ key: 'plan', op: 'eq', value: 'gold' }] }],
  ['plan is not gold', { metadata: [{ key: 'plan', op: 'neq', value: 'gold' }] }],
  ['seats is greater than 3', { metadata: [{ key: 'seats', op: 'gt', value: '3' }] }],
  ['plan doesn’t exist', { metadata: [{ key: 'plan', op: 'is_not_set' }] }],
  ['metric csat is less than 3', { metrics: [{ key: 'csat', op: 'lt', value: '3' }] }],
  ['signal Longest silence is greater than 8 s', { signals: [{ name: 'longestSilenceMs', op: 'gt', value: 8_000 }] }],
  [
    'sound Agent response time, p95 is greater than 2 s',
    { sound: [{ name: 'responseMs.agent.p95', op: 'gt', value: 2_000 }] },
  ],
  ['sound Talk ratio in the recording is less than 0.5', { sound: [{ name: 'talkRatio', op: 'lt', value: 0.5 }] }],
  [
    'field amount is at least 100 by Topics by call',
    { fields: [{ monitorId: 'm2', field: 'amount', op: 'gte', value: '100' }] },
  ],
  [
    'field reason is any of lost, "damaged, or wet" by Asks for a person',
    { fields: [{ monitorId: 'm1', field: 'reason', op: 'in', values: ['lost', 'damaged, or wet'] }] },
  ],
  ['field isPaid is true by Asks for a person', { fields: [{ monitorId: 'm1', field: 'isPaid', op: 'is_true' }] }],
  [
    'field until is unsupported by Asks for a person',
    { fields: [{ monitorId: 'm1', field: 'until', op: 'is_unsupported' }] },
  ],
  [
    'field until is less than 2026-11-21 by Asks for a person',
    { fields: [{ monitorId: 'm1', field: 'until', op: 'lt', value: '2026-11-21' }] },
  ],
  ['mentions late fee', { text: 'late fee' }],
  ['meaning: refund not received', { similarTo: { text: 'refund not received' } }],
  [
    'meaning: late, and rude: very, at least 0.7',
    { similarTo: { text: 'late, and rude: very', minimumSimilarity: 0.7 } },
  ],
  [`meaning: conversation ${conversationId}`, { similarTo: { conversationId } }],
  [
    `meaning: turn 3 of ${conversationId}, at least 0.5`,
    { similarTo: { conversationId, turn: 2, minimumSimilarity: 0.5 } },
  ],
]

describe('a phrase', () => {
  it.each(phrases)('%s is parsed and written', (phrase, part) => {
    expect(parsePhrase(phrase, words)).toEqual(part)
    expect(sayPart(part, words)).toBe(phrase)
  })

  it.each([
    ['duration > 2 min', { minDurationSeconds: 120 }],
    ['means the fee is too high', { similarTo: { text: 'the fee is too high' } }],
    ['Like a broken promise at least .5', { similarTo: { text: 'a broken promise', minimumSimilarity: 0.5 } }],
    ['DURATION<1.5h', { maxDurationSeconds: 5_400 }],
    ['Affected: asks for a person', { monitors: [{ id: 'm1', result: 'affected' }] }],
    ['category: refund, goes BY car by topics by call', { categories: { monitorId: 'm2', any: ['refund', 'car'] } }],
    [
      'Field until < 16:15 by asks for a person',
      { fields: [{ monitorId: 'm1', field: 'until', op: 'lt', value: '16:15' }] },
    ],
    ['field reason is lost', { fields: [{ monitorId: 'm1', field: 'reason', op: 'eq', value: 'lost' }] }],
    ['seats >= 3', { metadata: [{ key: 'seats', op: 'gte', value: '3' }] }],
    ['plan = gold', { metadata: [{ key: 'plan', op: 'eq', value: 'gold' }] }],
    ['signal talkRatio < 0.5', { signals: [{ name: 'talkRatio', op: 'lt', value: 0.5 }] }],
    ['sound responseMs.agent.p95 > 1.5 s', { sound: [{ name: 'responseMs.agent.p95', op: 'gt', value: 1_500 }] }],
  ])('%s is parsed too', (phrase, part) => {
    expect(parsePhrase(phrase, words)).toEqual(part)
  })

  it.each([
    '',
    'refund',
    'agent: Nobody',
    'plan is',
    'plan exists gold',
    'signal mood > 1',
    'sound talkRatio > 2 s',
    'started: someday',
    'field amount is 3',
    'field amount is at least some by Asks for a person',
    'field the amount is 3 by Asks for a person',
    'field amount is 3 by nobody',
  ])('%j is not a phrase', (phrase) => {
    expect(parsePhrase(phrase, words)).toBeUndefined()
  })
})

describe('conditions', () => {
  it('are split and joined without a loss', () => {
    const parts = phrases
      .map(([, part]) => part)
      .filter((part) => !part.since && !part.agentIds && part.monitors?.[0]?.result !== 'all')
    const whole = joinParts(parts.filter((part) => part.metadata === undefined || part.metadata[0]?.op === 'eq'))
    expect(joinParts(splitPart(whole))).toEqual(whole)
  })

  it('replace another time', () => {
    expect(joinParts([{ since: '2026-11-01T00:00:00Z' }, { period: { last: '7d' } }])).toEqual({
      period: { last: '7d' },
    })
  })

  it.each<Filter>([
    {},
    { text: 'a', channels: ['call'] },
    { exclude: { text: 'a' }, anyOf: [{ text: 'b' }, { text: 'c', channels: ['call'] }] },
    { exclude: { anyOf: [{ text: 'a' }, { channels: ['chat'] }] } },
    { exclude: { customerId: 'c', anyOf: [{ text: 'a' }, { text: 'b' }] } },
  ])('of %j make the same filter', (filter) => {
    expect(filterOf(conditionsOf(filter))).toEqual(filter)
  })

  it('are added as alternatives and exclusions', () => {
    const one = withCondition(conditionsOf({ text: 'a' }), 'or', { channels: ['chat'] })
    expect(filterOf(one)).toEqual({ anyOf: [{ text: 'a' }, { channels: ['chat'] }] })
    const two = withCondition(withCondition(one, 'not', { customerId: 'c' }), 'not', { customerId: 'd' })
    expect(filterOf(two).exclude).toEqual({ anyOf: [{ customerId: 'c' }, { customerId: 'd' }] })
  })
})

describe('suggestions', () => {
  const known = {
    tags: [{ text: 'escalated', count: 3 }],
    keys: [{ text: 'plan', count: 9 }],
    values: [{ text: 'gold', count: 4 }],
  }
  const texts = (typed: string, without: string[] = []) => suggest(typed, words, known, without).map(({ text }) => text)

  it('contain the typed words', () => {
    expect(texts('person')[0]).toBe('affected: Asks for a person')
    expect(texts('leo')).toEqual(['agent: Leo', 'mentions leo'])
    expect(texts('money never came back').slice(-2)).toEqual([
      'mentions money never came back',
      'meaning: money never came back',
    ])
    expect(texts('category: other by nobody yet')).toEqual(['mentions category: other by nobody yet'])
    expect(texts('refund')).toContain('category: Asks for a refund by Topics by call')
    expect(texts('category')).toContain('category: No category fits by Topics by call')
    expect(texts('pl')).toContain('plan is ')
    expect(texts('plan is ')).toContain('plan is gold')
    expect(texts('duration > 2 min')[0]).toBe('duration ≥ 2 min')
    expect(texts('')).toContain('agent: ')
    expect(texts('reason')).toEqual(expect.arrayContaining(['field reason is lost by Asks for a person']))
    expect(texts('amount')[0]).toBe('field amount is at least ')
    expect(texts('field amount is at least 100')).toEqual([
      'field amount is at least 100 by Asks for a person',
      'field amount is at least 100 by Topics by call',
    ])
    expect(texts('field until is less than')).toContain(
      `field until is less than ${localIn(new Date().toISOString(), words.timezone).slice(0, 10)} by Asks for a person`,
    )
    expect(texts('field amount is').filter((text) => text.includes(' by '))).not.toContain(
      'field amount is by Topics by call',
    )
    expect(texts('paid', ['fields']).filter((text) => text.startsWith('field'))).toEqual([])
  })

  it('leave out what the filter cannot have', () => {
    expect(texts('leo', ['agentIds', 'text'])).toEqual([])
    expect(texts('', ['monitors', 'text'])).not.toContain('affected: ')
  })

  it('complete a value of metadata', () => {
    expect(typedValue('plan is go')).toEqual({ key: 'plan', start: 'go', begun: 'plan is' })
    expect(typedValue('agent: is Leo')).toBeUndefined()
  })
})

it('reads several phrases joined by “and”, unless that is part of a value', () => {
  const typed = 'started: last week and agent: Leo and affected: Asks for a person and plan is gold'
  expect(parsePhrase(typed, words)).toEqual({
    period: { previous: 'week', timezone: 'Europe/Berlin' },
    agentIds: ['a1'],
    monitors: [{ id: 'm1', result: 'affected' }],
    metadata: [{ key: 'plan', op: 'eq', value: 'gold' }],
  })
  expect(parsePhrase('plan is rock and roll', words)).toEqual({
    metadata: [{ key: 'plan', op: 'eq', value: 'rock and roll' }],
  })
})
