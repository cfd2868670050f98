import { expect, it } from 'vitest'
import { excerptOf, mostRead } from './excerpt.ts'

const says = (role: string, text: string) => ({ role, text })
const cut = (content: unknown, at = mostRead) => excerptOf(JSON.stringify(content).slice(0, at), true, {})

it('is the customer’s first message, or else the first message', () => {
  const turns = [
    says('agent', 'Hello, how can I help?'),
    says('customer', '  I want\na refund. '),
    says('agent', 'Sure'),
  ]
  expect(excerptOf(JSON.stringify(turns), false, {})).toBe('I want a refund.')
  expect(excerptOf(JSON.stringify(turns.slice(0, 1)), false, {})).toBe('Hello, how can I help?')
})

it('is shortened at a word', () => {
  const text = excerptOf(JSON.stringify([says('customer', 'word '.repeat(100))]), false, {})
  expect(text).toMatch(/^(word )+word…$/)
  expect(text?.length).toBeLessThanOrEqual(201)
})

it('is read from the start of a long transcript', () => {
  const turns = [says('agent', 'Hello, "you" \\ ['), says('customer', 'A refund')]
  const long = [...turns, ...Array.from({ length: 2_000 }, (_, index) => says('agent', `Turn ${index}`))]
  expect(cut(long)).toBe('A refund')
  expect(
    cut({
      tags: ['a', 'b'],
      messages: long.map(({ role, text }) => ({ role: role === 'agent' ? 'assistant' : 'user', content: text })),
    }),
  ).toBe('A refund')
  expect(cut(`Agent: Hello\nCustomer: A refund\n${'Agent: And more\n'.repeat(2_000)}`)).toBe('A refund')
})

it('never fails, wherever the transcript is cut', () => {
  const content = JSON.stringify([says('agent', 'Hé "\\ \u0001 llo'), says('customer', 'A refund, [please] {now}')])
  for (let at = 0; at < content.length; at++) {
    expect([null, 'Hé "\\ \u0001 llo'.trim()]).toContain(excerptOf(content.slice(0, at), true, {}))
  }
})

it('is missing without a message', () => {
  for (const content of ['', 'null', '[]', '{"a":1}', '[{"role":"agent"}]', 'nonsense']) {
    expect(excerptOf(content, false, {}), content).toBeNull()
    expect(excerptOf(content, true, {}), content).toBeNull()
  }
})
