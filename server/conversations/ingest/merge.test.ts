import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { begin, type ConversationPart, type ConversationState, contradiction, isSame, merge } from './merge.ts'
import { giveTranscript } from './transcript.ts'

const startedAt = new Date('2026-11-21T09:00:00.000Z')
const endedAt = new Date('2026-11-21T09:03:04.400Z')

const say = (...texts: string[]) =>
  giveTranscript(
    texts.map((text) => ({ role: 'agent', text })),
    { startedAt },
  )

const part = (told: Partial<ConversationPart> = {}): ConversationPart => ({
  externalId: 'call-1',
  agentId: 'a',
  agentVersionId: null,
  agentCompanyId: null,
  companyId: null,
  channel: 'call',
  direction: null,
  status: null,
  startedAt,
  endedAt: null,
  durationSeconds: null,
  endReason: null,
  customerId: null,
  metadata: {},
  transcript: null,
  ...told,
})

const join = (...parts: ConversationPart[]): ConversationState => {
  const [first = part(), ...more] = parts
  return more.reduce(merge, begin('id', first))
}

const permutations = <T>(list: T[]): T[][] =>
  list.length < 2
    ? [list]
    : list.flatMap((one, at) => permutations(list.toSpliced(at, 1)).map((rest) => [one, ...rest]))

/** Omits intermediate values, which are not part of the state. */
const settled = ({ transcript, ...state }: ConversationState) => ({
  ...state,
  hash: transcript?.hash,
  turns: transcript?.turnCount,
})

describe('a first part', () => {
  it('is completed by default, with the company of its agent and a duration from its times', () => {
    expect(begin('id', part({ agentCompanyId: 'c', endedAt }))).toMatchObject({
      status: 'completed',
      companyId: 'c',
      durationSeconds: 184,
    })
    expect(
      begin('id', part({ agentCompanyId: 'c', companyId: 'd', status: 'failed', durationSeconds: 7 })),
    ).toMatchObject({ status: 'failed', companyId: 'd', durationSeconds: 7 })
  })
})

describe('a later part', () => {
  const first = part({
    direction: 'inbound',
    endReason: 'hangup',
    customerId: 'x',
    metadata: { plan: 'gold' },
    endedAt,
  })

  it('completes, and erases nothing that it does not contain', () => {
    const joined = join(first, part({ agentVersionId: 'v', metadata: { plan: null, attempt: 2 } }))
    expect(joined).toMatchObject({
      agentVersionId: 'v',
      direction: 'inbound',
      endReason: 'hangup',
      customerId: 'x',
      metadata: { plan: 'gold', attempt: 2 },
      durationSeconds: 184,
    })
  })

  it('changes nothing if it is equal', () => {
    const state = join(first)
    expect(isSame(state, merge(state, first))).toBe(true)
    expect(isSame(state, merge(state, part({ endReason: 'error' })))).toBe(false)
    expect(isSame(join(part({ metadata: { a: 1, b: 2 } })), join(part({ metadata: { b: 2, a: 1 } })))).toBe(true)
  })

  it('ends a conversation in progress, and never restarts one', () => {
    expect(join(part({ status: 'in_progress' }), part()).status).toBe('completed')
    expect(join(part({ status: 'in_progress' }), part({ status: 'failed' })).status).toBe('failed')
    expect(join(part({ status: 'failed' }), part()).status).toBe('failed')
    expect(join(part({ status: 'completed' }), part({ status: 'in_progress' })).status).toBe('completed')
  })

  it('turns a call into a voicemail, but not the other way round', () => {
    expect(join(part(), part({ channel: 'voicemail' })).channel).toBe('voicemail')
    expect(join(part({ channel: 'voicemail' }), part()).channel).toBe('voicemail')
  })

  it('replaces the transcript if it has more turns', () => {
    expect(join(part({ transcript: say('a', 'b') }), part({ transcript: say('c') })).transcript?.turnCount).toBe(2)
    expect(join(part({ transcript: say('c') }), part({ transcript: say('a', 'b') })).transcript?.turnCount).toBe(2)
    const unreadable = giveTranscript({ shape: 'unknown' }, { startedAt })
    expect(join(part({ transcript: say('c') }), part({ transcript: unreadable })).transcript?.unreadable).toBeNull()
    expect(join(part({ transcript: unreadable }), part({ transcript: say('c') })).transcript?.turnCount).toBe(1)
  })

  it('keeps an explicit duration', () => {
    expect(join(part({ durationSeconds: 10 }), part({ endedAt })).durationSeconds).toBe(10)
    expect(join(part({ endedAt }), part({ durationSeconds: 10 })).durationSeconds).toBe(10)
    const later = new Date(endedAt.getTime() + 60_000)
    expect(join(part({ endedAt }), part({ endedAt: later })).durationSeconds).toBe(244)
  })

  it('cannot change the agent or the start', () => {
    const state = join(first)
    expect(contradiction(state, first)).toBeUndefined()
    const other = part({ agentId: 'b', startedAt: new Date(0) })
    expect(contradiction(state, other)).toMatchObject({
      kind: 'conflict',
      message: expect.stringMatching(/different agent and startedAt/),
    })
  })
})

it('parts that do not contradict each other result in the same row in any order', () => {
  const told = {
    agentVersionId: 'v',
    companyId: 'c',
    direction: 'outbound' as const,
    status: 'completed' as const,
    endedAt,
    durationSeconds: 185,
    endReason: 'hangup',
    customerId: 'x',
  }
  const transcripts = [say('a'), say('a', 'b'), say('a', 'c'), say('a', 'bb'), null]
  const somePart = fc.record({
    keys: fc.subarray(Object.keys(told) as (keyof typeof told)[]),
    channel: fc.constantFrom('call' as const, 'voicemail' as const),
    metadata: fc.subarray(['m', 'n', 'o']).map((keys) => Object.fromEntries(keys.map((key) => [key, key]))),
    transcript: fc.constantFrom(...transcripts),
  })
  fc.assert(
    fc.property(fc.array(somePart, { minLength: 2, maxLength: 4 }), (chosen) => {
      const parts = chosen.map(({ keys, channel, metadata, transcript }) =>
        part({ ...Object.fromEntries(keys.map((key) => [key, told[key]])), channel, metadata, transcript }),
      )
      const rows = permutations(parts).map((order) => settled(join(...order)))
      for (const row of rows) expect(row).toEqual(rows[0])
    }),
    { numRuns: 300 },
  )
})
