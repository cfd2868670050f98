import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { makeTurn, makeTurns } from '../../test/support/monitors/model-server.ts'
import type { TurnRole } from '../transcripts/turn.ts'
import { mostPassages, passagesOf } from './passages.ts'

const customer = (texts: string[]) => texts.map((text, index) => makeTurn(index, { role: 'customer', text }))

describe('the passages of a conversation', () => {
  it('start with the first request, without greetings', () => {
    const turns = makeTurns(
      'Acme Dental, hello.',
      'Hi.',
      'How can I help?',
      'I want to cancel my appointment.',
      'Sure.',
      'Thanks, bye.',
    )
    expect(passagesOf(turns)).toEqual([{ text: 'I want to cancel my appointment.', firstTurn: 3, lastTurn: 3 }])
  })

  it('join short turns, and keep the first request by itself', () => {
    const turns = makeTurns(
      'Hello?',
      'My card was stolen.',
      'When?',
      'Yesterday in Berlin.',
      'Anything else?',
      'Please send a new one.',
    )
    expect(passagesOf(turns)).toEqual([
      { text: 'My card was stolen.', firstTurn: 1, lastTurn: 1 },
      { text: 'Yesterday in Berlin. Please send a new one.', firstTurn: 3, lastTurn: 5 },
    ])
  })

  it('cut long turns', () => {
    const words = Array.from({ length: 100 }, (_, word) => `word${word}`)
    const passages = passagesOf(customer([words.join(' ')]))
    expect(passages.map(({ text }) => text.split(' ').length)).toEqual([33, 34, 33])
    expect(passages.map(({ text }) => text).join(' ')).toBe(words.join(' '))
  })

  it('are spread over long conversations, including the end', () => {
    const turns = customer(Array.from({ length: 60 }, (_, turn) => `Number ${turn} `.repeat(15)))
    const passages = passagesOf(turns)
    expect(passages).toHaveLength(mostPassages)
    expect(passages.map(({ firstTurn }) => firstTurn)).toEqual([0, 1, 16, 30, 45, 59])
  })

  it('come from others only if the customer says nothing', () => {
    const of = (role: TurnRole) => makeTurn(0, { role, text: 'Your appointment is tomorrow at ten.' })
    for (const role of ['agent', 'human_agent', 'other'] as const) {
      expect(passagesOf([of(role)])).toHaveLength(1)
      expect(passagesOf([of(role), makeTurn(1, { role: 'customer', text: 'Yes.' })])).toMatchObject([{ text: 'Yes.' }])
    }
    expect(passagesOf([of('system'), of('tool')])).toEqual([])
  })

  it('count words in scripts without spaces', () => {
    expect(passagesOf(customer(['你好', '我想取消明天的预约']))).toMatchObject([{ firstTurn: 1 }])
  })

  it('cut text without spaces', () => {
    const text = '私は明日の予約を取り消したいです'.repeat(1_700)
    const passages = passagesOf(customer([text]))
    expect(passages).toHaveLength(mostPassages)
    for (const passage of passages) expect(passage.text.length).toBeLessThanOrEqual(601)
    expect(text.startsWith(passages[0]?.text.slice(0, 200) ?? '-')).toBe(true)
  })

  it('are few, in order, and the same every time', () => {
    const roles = fc.constantFrom('agent', 'customer', 'system', 'other') as fc.Arbitrary<TurnRole>
    const anyTurns = fc.array(fc.record({ role: roles, text: fc.option(fc.lorem({ maxCount: 90 })) }), {
      maxLength: 40,
    })
    fc.assert(
      fc.property(anyTurns, (drafts) => {
        const turns = drafts.map((draft, index) => makeTurn(index, draft))
        const passages = passagesOf(turns)
        expect(passages).toEqual(passagesOf(turns))
        expect(passages.length).toBeLessThanOrEqual(mostPassages)
        for (const [at, { text, firstTurn, lastTurn }] of passages.entries()) {
          expect(text.split(' ').length).toBeLessThanOrEqual(40)
          expect(lastTurn).toBeGreaterThanOrEqual(firstTurn)
          expect(firstTurn).toBeGreaterThanOrEqual(passages[at - 1]?.lastTurn ?? 0)
        }
      }),
    )
  })
})
