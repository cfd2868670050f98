import { describe, expect, it } from 'vitest'
import { makeOrganization } from '../../../test/make.ts'
import { testServer } from '../../../test/server.ts'
import { batchesOf, call, say, statuses } from '../../../test/support/conversation-batches.ts'

const server = await testServer()

const { json, stream, countIn } = batchesOf(() => server)

describe('a hostile transcript', () => {
  const bidirectional = 'abc \u202e\u2066 שלום \u200f مرحبا \u202c'
  const contents: [string, unknown, number][] = [
    ['of one turn with a million characters', say('x'.repeat(1_000_000)), 1],
    ['of a hundred thousand turns', say(...Array.from({ length: 100_000 }, (_, index) => `turn ${index}`)), 100_000],
    ['of bidirectional text', say(bidirectional), 1],
    ['of emoji, in pairs and joined', say('👩‍👩‍👧 🏳️‍🌈 \u{1F600}'), 1],
    [
      'of many different short words',
      say(Array.from({ length: 200_000 }, (_, index) => index.toString(36)).join(' ')),
      1,
    ],
    [
      'of many short addresses',
      say(Array.from({ length: 60_000 }, (_, at) => `${at.toString(36)}.co/${at}`).join(' ')),
      1,
    ],
    ['of hyphens', say(Array.from({ length: 60_000 }, (_, at) => `${at.toString(36)}-${at}`).join(' ')), 1],
    [
      'of wide characters',
      say('語'.repeat(300_000), Array.from({ length: 90_000 }, (_, at) => `語${at}`).join(' ')),
      2,
    ],
  ]

  it.each(contents)('%s is stored and returned unchanged', async (_name, transcript, turns) => {
    const { key } = await makeOrganization(server)
    const answer = await json(key, [call('h', { transcript })])
    expect(statuses(answer)).toEqual(['created'])
    const shown = await server.call('GET', `/v1/conversations/${answer.body.data[0].id}/transcript`, { key })
    expect(shown.body.content).toEqual(transcript)
    expect(shown.body.turns).toHaveLength(turns)
  })

  it.each([
    ['with NUL', '{"role":"agent","text":"a\\u0000b"}'],
    ['with half a pair', '{"role":"agent","text":"a\\ud800b"}'],
    ['that is too deep', `${'['.repeat(200)}${']'.repeat(200)}`],
  ])('%s is rejected with its path, in a single request and in a batch', async (_name, turn) => {
    const { key, id } = await makeOrganization(server)
    const text = JSON.stringify(call('h', { transcript: ['PLACE'] })).replace('"PLACE"', turn)
    const headers = { 'content-type': 'application/json' }
    const single = await server.call('POST', '/v1/conversations', { key, raw: text, headers })
    expect(single.status).toBe(400)
    expect(single.body.details.issues.length).toBeGreaterThan(0)
    const streamed = await stream(key, `${text}\n${JSON.stringify(call('fine'))}\n`)
    expect(statuses(streamed)).toEqual(['rejected', 'created'])
    expect(await countIn('conversations', id)).toBe(1)
  })
})

it('with too many faults gets a short response quickly', async () => {
  const { key } = await makeOrganization(server)
  const faulty = [
    `{"metrics":[${'1,'.repeat(2_000_000)}1]}`,
    `{${Array.from({ length: 500_000 }, (_, at) => `"k${at}":1`).join()}}`,
    `{"metadata":[${'"\\u0000",'.repeat(1_000_000)}1]}`,
  ]
  for (const text of faulty) {
    const answer = await stream(key, text)
    expect(statuses(answer)).toEqual(['rejected'])
    expect(answer.text.length).toBeLessThan(20_000)
  }
})
