import { describe, expect, it } from 'vitest'
import { readTranscript } from './read-transcript.ts'
import { redactedSpans } from './redacted-spans.ts'
import { redact } from './redaction.ts'

type Word = [text: string, startMs: number, endMs: number]

const wordsOf = (words: Word[]) => words.map(([text, startMs, endMs]) => ({ text, startMs, endMs }))

const spansOf = (turns: object[]) => {
  const spans = (content: unknown) => {
    const reading = readTranscript(content)
    if (!('turns' in reading)) throw new Error(reading.unreadable)
    return redactedSpans(reading.turns)
  }
  const found = spans({ turns })
  // It makes no difference whether the text was redacted before storage.
  expect(spans(redact({ turns }))).toEqual(found)
  return found
}

const phone = '555 010 0199'

describe('redacted words with times', () => {
  it('are redacted without the words around them', () => {
    const words = wordsOf([
      ['Call', 1_000, 1_200],
      ['555', 1_300, 1_700],
      ['010', 1_800, 2_200],
      ['0199,', 2_300, 2_900],
      ['please.', 4_000, 4_400],
    ])
    expect(spansOf([{ role: 'customer', text: `Call ${phone}, please.`, startMs: 900, endMs: 4_500, words }])).toEqual({
      spans: [{ startMs: 1_050, endMs: 3_150 }],
    })
  })

  it('include other words with digits, because nobody knows which of them belong to the number', () => {
    const words = wordsOf([
      ['At', 0, 200],
      ['5', 300, 500],
      ['mail', 3_000, 3_200],
      ['ada@example.com', 4_000, 5_000],
    ])
    const text = 'At 5 mail ada@example.com'
    expect(spansOf([{ role: 'customer', text, startMs: 0, endMs: 5_000, words }])).toEqual({
      spans: [
        { startMs: 50, endMs: 750 },
        { startMs: 3_750, endMs: 5_250 },
      ],
    })
  })

  it('are found without a text', () => {
    const words = wordsOf([
      ['My', 1_000, 1_100],
      [phone, 1_500, 3_000],
    ])
    expect(spansOf([{ role: 'customer', text: null, startMs: 0, endMs: 3_000, words }])).toEqual({
      spans: [{ startMs: 1_250, endMs: 3_250 }],
    })
  })
})

describe('the whole turn is redacted', () => {
  const turn = { role: 'customer', text: `It is ${phone}.`, startMs: 2_000, endMs: 5_000 }
  const whole = { spans: [{ startMs: 1_500, endMs: 5_500 }] }

  it('if its words have no times', () => {
    expect(spansOf([turn])).toEqual(whole)
    expect(spansOf([{ ...turn, words: [{ text: 'It' }, { text: 'is' }, { text: phone }] }])).toEqual(whole)
  })

  it('if a redacted word has no length', () => {
    const words = wordsOf([
      ['It', 2_000, 2_100],
      ['is', 2_100, 2_200],
      [phone, 2_300, 2_300],
    ])
    expect(spansOf([{ ...turn, words }])).toEqual(whole)
  })

  it('if the words spell the number', () => {
    const spelled = ['It', 'is', 'five', 'five', 'five', 'oh', 'one', 'oh', 'oh', 'one', 'nine', 'nine']
    const words = wordsOf(spelled.map((word, index): Word => [word, 2_000 + 200 * index, 2_150 + 200 * index]))
    expect(spansOf([{ ...turn, words }])).toEqual(whole)
    const partly = wordsOf([
      ['It', 2_000, 2_100],
      ['is', 2_100, 2_200],
      ['five-five-five', 2_300, 3_000],
      ['0199', 3_200, 4_000],
    ])
    expect(spansOf([{ ...turn, words: partly }])).toEqual(whole)
  })

  it('if it has no text, because nobody knows what was said', () => {
    expect(spansOf([{ ...turn, text: null }])).toEqual(whole)
    expect(spansOf([{ ...turn, text: ' ' }])).toEqual(whole)
    expect(spansOf([{ ...turn, text: null, words: [{ text: '', startMs: 2_000, endMs: 3_000 }] }])).toEqual(whole)
  })

  it('until its speaker’s next turn, if it has no end', () => {
    const { endMs: _, ...open } = turn
    const others = [
      { role: 'agent', text: 'Thanks.', startMs: 4_000, endMs: 4_500 },
      { role: 'customer', text: 'Bye.', startMs: 7_000, endMs: 7_500 },
    ]
    expect(spansOf([open, ...others])).toEqual({ spans: [{ startMs: 1_500, endMs: 7_500 }] })
    expect(spansOf([others[0] ?? {}, open])).toEqual({ spans: [{ startMs: 1_500, endMs: Number.POSITIVE_INFINITY }] })
  })
})

describe('a transcript', () => {
  it('without anything to redact has no spans', () => {
    expect(spansOf([{ role: 'agent', text: 'Hello. It is 5 pm.' }])).toEqual({ spans: [] })
  })

  it('names the first turn that has redacted words but no times', () => {
    const turns = [
      { role: 'agent', text: 'Hello.' },
      { role: 'customer', text: `It is ${phone}.` },
    ]
    expect(spansOf(turns)).toEqual({ untimed: 1 })
  })

  it('names the first turn that has neither text nor times', () => {
    const content = [
      { role: 'assistant', content: 'Hello.', timestamp: '2026-11-20T09:00:00Z' },
      { role: 'user', content: null, timestamp: 'unknown' },
    ]
    const reading = readTranscript(content, { provider: 'pipecat' })
    expect('turns' in reading && redactedSpans(reading.turns)).toEqual({ untimed: 1, isUnwritten: true })
  })

  it('ignores tools and events, which nobody hears', () => {
    const turns = [
      { role: 'agent', text: 'One moment.', startMs: 0, endMs: 900 },
      { role: 'agent', kind: 'tool_call', text: null, tool: { name: 'call_back', arguments: { phone } } },
      { role: 'system', kind: 'event', text: `called ${phone}` },
    ]
    expect(spansOf(turns)).toEqual({ spans: [] })
  })

  it('joins spans that overlap', () => {
    const turns = [
      { role: 'customer', text: `It is ${phone}.`, startMs: 2_000, endMs: 5_000 },
      { role: 'agent', text: `So ${phone}?`, startMs: 4_800, endMs: 7_000 },
    ]
    expect(spansOf(turns)).toEqual({ spans: [{ startMs: 1_500, endMs: 7_500 }] })
  })
})
