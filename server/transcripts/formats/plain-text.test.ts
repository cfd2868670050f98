import { describe, expect, test } from 'vitest'
import { sample } from '../../../test/samples/ingest/sample.ts'
import { expectTurns, expectUnreadable } from '../../../test/support/turns.ts'
import { readTranscript } from '../read-transcript.ts'

describe('plain text', () => {
  test('a name at the start of a line is the speaker; other lines continue', () => {
    const text = 'Agent: Hello.\r\nHow can I help?\nCustomer: It broke.\n\nNote: it was new.\nSystem: Transferred.'
    expectTurns(text, {}, 'text', [
      { role: 'agent', text: 'Hello.\nHow can I help?' },
      { role: 'customer', text: 'It broke.\n\nNote: it was new.' },
      { role: 'system', text: 'Transferred.' },
    ])
  })

  test('reads transcripts that providers write as text', () => {
    expectTurns(sample('vapi_end_of_call_report.json').message.artifact.transcript, {}, 'text', [
      { role: 'agent', text: 'Harbor Dental, this is Nora. How can I help?' },
      { role: 'customer', text: 'Hi, I need to move my cleaning on Tuesday.' },
    ])
    expectTurns(sample('retell_call_ended.json').call.transcript, {}, 'text', [
      { role: 'agent', text: 'Bright Energy, Leo speaking.' },
      { role: 'customer', text: 'My bill looks doubled this month.' },
    ])
  })

  test('reads times before the name or after it', () => {
    const text = '[00:12] Bot: Hi\n(00:14.5) User: Yes\n0:01:02 - AI agent: Good\nCaller (1:02:03): Still here'
    expectTurns(text, {}, 'text', [
      { role: 'agent', text: 'Hi', startMs: 12_000 },
      { role: 'customer', text: 'Yes', startMs: 14_500 },
      { role: 'agent', text: 'Good', startMs: 62_000 },
      { role: 'customer', text: 'Still here', startMs: 3_723_000 },
    ])
  })

  test('times of day are not times from the start', () => {
    expectTurns('[14:03:22] Agent: Hi\n[14:03:30] User: Yes', {}, 'text', [
      { role: 'agent', text: 'Hi' },
      { role: 'customer', text: 'Yes' },
    ])
  })

  test('recognizes different spellings of names', () => {
    const spellings = {
      agent: ['agent', 'AGENT', 'Assistant', 'Bot', 'AI', '**Agent**', 'Voice Agent', 'Agent 1'],
      customer: ['User', 'CALLER', 'Customer', 'Human', '__Client__', '  Customer', 'end-user'],
      human_agent: ['Human agent', 'LIVE_AGENT', 'Supervisor'],
      other: ['Speaker 1', 'Speaker #2', 'Unknown'],
    }
    for (const [role, names] of Object.entries(spellings)) {
      for (const name of names) {
        const reading = readTranscript(`${name}: Hello`)
        expect(reading, name).toMatchObject({ turns: [{ role, text: 'Hello' }] })
      }
    }
    expectTurns('**Agent:** Hello\nAgent： Hi', {}, 'text', [
      { role: 'agent', text: 'Hello' },
      { role: 'agent', text: 'Hi' },
    ])
  })

  test('text before the first name has no speaker, and neither has a text without names', () => {
    expectTurns('Call of Monday\nAgent: Hi', {}, 'text', [
      { role: 'other', text: 'Call of Monday' },
      { role: 'agent', text: 'Hi' },
    ])
    expectTurns('\n She said: fine.\nAnd left. ', {}, 'text', [{ role: 'other', text: 'She said: fine.\nAnd left.' }])
  })

  test('rejects a text of only spaces', () => {
    expectUnreadable('', 'no supported format')
    expectUnreadable(' \n\t', 'no supported format')
  })
})
