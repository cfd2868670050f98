import { describe, expect, it } from 'vitest'
import { makeConversation } from '../demo/conversation.ts'
import { readTranscript } from '../transcripts/read-transcript.ts'
import type { Turn } from '../transcripts/turn.ts'
import { facetsOf } from './facets.ts'

type Said = { role: string; text?: string; tool?: object; kind?: string }

const read = (transcript: unknown): Turn[] => {
  const reading = readTranscript(transcript, { startedAt: new Date('2026-11-21T12:00:00.000Z') })
  if (!('turns' in reading)) throw new Error(reading.unreadable)
  return reading.turns
}
const facets = (...transcript: Said[]) => facetsOf(read(transcript))
const customer = (text: string): Said => ({ role: 'customer', text })
const agent = (text: string): Said => ({ role: 'agent', text })

describe('facets', () => {
  it('say what the customer asks for first', () => {
    const { request } = facets(
      agent('Hello, how can I help?'),
      customer('Hi.'),
      customer('I want a refund for my order.'),
    )
    expect(request).toEqual({ turn: 2, text: 'I want a refund for my order.' })
  })

  it('find questions without a reply, with a refusal, or asked again', () => {
    expect(facets(agent('Hello'), customer('Is anybody there?')).unanswered).toEqual([
      { turn: 1, text: 'Is anybody there?' },
    ])
    expect(facets(customer('Good day. Can you ship it to Norway?'), agent('I don’t know.')).unanswered).toEqual([
      { turn: 0, text: 'Can you ship it to Norway?' },
    ])
    const { unanswered } = facets(
      customer('When does my replacement router arrive?'),
      agent('Would you like to hear about our new plans?'),
      customer('No, when does my replacement router arrive?'),
      agent('Tomorrow at noon.'),
    )
    expect(unanswered).toEqual([{ turn: 0, text: 'When does my replacement router arrive?' }])
  })

  it('find complaints and apologies with their sentence', () => {
    const { complaints, apologies } = facets(
      customer('Hello. This is the third time I call! Fix it.'),
      agent('Let me look. I am sorry about that. One moment.'),
      customer('Thanks.'),
    )
    expect(complaints).toEqual([{ turn: 0, text: 'This is the third time I call!' }])
    expect(apologies).toEqual([{ turn: 1, text: 'I am sorry about that.' }])
  })

  it('find failures of tools, with the apology and whether they are retried', () => {
    const turns = read([customer('Where is my order?'), agent('Unfortunately, our system is down.')])
    const tool = { callId: 'a', name: 'find_order', arguments: null, result: null, isError: null }
    const [first, last] = turns as [Turn, Turn]
    const call: Turn = { ...last, index: 1, role: 'agent', kind: 'tool_call', text: null, tool }
    const result: Turn = {
      ...call,
      index: 2,
      role: 'tool',
      kind: 'tool_result',
      tool: { ...tool, name: null, isError: true },
    }
    const apology = { ...last, index: 3 }
    expect(facetsOf([first, call, result, apology]).toolFailures).toEqual([
      {
        turn: 2,
        tool: 'find_order',
        apology: { turn: 3, text: 'Unfortunately, our system is down.' },
        isRetried: false,
      },
    ])
    const [retried] = facetsOf([
      first,
      call,
      result,
      { ...call, index: 3 },
      { ...last, index: 4, text: 'Here it is.' },
    ]).toolFailures
    expect(retried).toMatchObject({ apology: null, isRetried: true })
    expect(facetsOf([first, call, { ...result, tool: { ...tool, isError: false } }]).toolFailures).toEqual([])
  })

  it.each([
    ['thanked', [customer('Where is it?'), agent('At the depot.'), customer('Thank you, bye.')]],
    ['gave_up', [agent('One moment.'), customer('Forget it, I will call another time.')]],
    ['waiting', [agent('Hello.'), customer('Can you help me?')]],
    ['transferred', [customer('A person please.'), { role: 'human_agent', text: 'Hello, this is Ada.' }]],
    ['other', [customer('I am calling about the invoice.'), agent('I have noted it.')]],
  ] as const)('say how it ends: %s', (ending, transcript) => {
    expect(facets(...(transcript as unknown as Said[])).ending).toBe(ending)
  })

  it('are empty without messages', () => {
    expect(facetsOf([])).toEqual({
      request: null,
      unanswered: [],
      complaints: [],
      apologies: [],
      toolFailures: [],
      ending: null,
    })
  })

  it('only quote what was said, in all conversations of the demo', () => {
    const anchor = new Date('2026-11-21T12:00:00.000Z')
    const maker = { seed: 1, anchor, days: 30, companies: [{ id: 'c', name: 'Acme' }] }
    const squeezed = (text: string | null | undefined) => text?.replaceAll(/\s+/g, ' ')
    const seen = Array.from({ length: 1_000 }, (_, number) => {
      const turns = read(makeConversation(maker, number).transcript)
      const found = facetsOf(turns)
      const { request, unanswered, complaints, apologies, toolFailures } = found
      const failed = toolFailures.flatMap(({ apology }) => apology ?? [])
      for (const { turn, text } of [request ?? [], unanswered, complaints, apologies, failed].flat()) {
        expect(squeezed(turns[turn]?.text)).toContain(squeezed(text))
        expect(text).not.toBe('')
      }
      return found
    })
    const count = (has: (found: (typeof seen)[number]) => boolean) => seen.filter(has).length
    expect(count(({ request }) => request !== null)).toBeGreaterThan(900)
    expect(count(({ complaints }) => complaints.length > 0)).toBeGreaterThan(20)
    expect(count(({ apologies }) => apologies.length > 0)).toBeGreaterThan(100)
    expect(count(({ ending }) => ending === 'thanked')).toBeGreaterThan(400)
    expect(count(({ ending }) => ending === 'gave_up')).toBeGreaterThan(20)
  })
})
