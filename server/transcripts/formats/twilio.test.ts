import { describe, test } from 'vitest'
import { sample } from '../../../test/samples/ingest/sample.ts'
import { expectTurns } from '../../../test/support/turns.ts'

const bundle = sample('twilio_ci_transcript_bundle.json')

const first = {
  text: 'Thanks for calling Orbit.',
  startMs: 400,
  endMs: 2_100,
  words: [{ text: 'Thanks', startMs: 400, endMs: 700 }],
}
const second = { text: 'My card is [redacted].', startMs: 2_900, endMs: 4_600 }

describe('Twilio', () => {
  test('reads sentences with the transcript that contains the participants', () => {
    expectTurns(bundle, {}, 'twilio', [
      { role: 'agent', ...first },
      { role: 'customer', ...second },
    ])
  })

  test('reads sentences without it, with unknown speakers', () => {
    for (const content of [bundle.sentences, { sentences: bundle.sentences }]) {
      expectTurns(content, {}, 'twilio', [
        { role: 'other', ...first },
        { role: 'other', ...second },
      ])
    }
  })
})
