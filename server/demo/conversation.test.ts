import { expect, it } from 'vitest'
import { computeSignals } from '../../test/support/signals.ts'
import { readTranscript } from '../transcripts/read-transcript.ts'
import { cast } from './cast.ts'
import { daysFor, type Maker, makeConversation, splitSince } from './conversation.ts'

const anchor = new Date('2026-11-21T12:00:00.000Z')
const maker: Maker = { seed: 1, anchor, days: 30, companies: [{ id: 'c', name: 'Acme Dental' }] }
const some = Array.from({ length: 3_000 }, (_, number) => makeConversation(maker, number))

const share = (is: (item: (typeof some)[number]) => boolean) => some.filter(is).length / some.length

it('is the same for the same seed, and differs for another seed', () => {
  expect(makeConversation(maker, 17)).toEqual(some[17])
  expect(makeConversation({ ...maker, seed: 2 }, 17)).not.toEqual(some[17])
  expect(new Set(some.map(({ externalId }) => externalId)).size).toBe(some.length)
})

it('is distributed over agents, prompts, channels, and the days before the anchor', () => {
  for (const { externalId, share: expected, prompts } of cast) {
    const isTheirs = ({ agent }: (typeof some)[number]) => 'externalId' in agent && agent.externalId === externalId
    expect(share(isTheirs)).toBeCloseTo(expected, 1)
    const used = new Set(some.filter(isTheirs).map(({ version }) => version && 'label' in version && version.label))
    expect(used).toEqual(new Set(prompts.map(({ label }) => label)))
  }
  expect(new Set(some.map(({ channel }) => channel))).toEqual(new Set(['call', 'chat', 'voicemail']))
  const times = some.map(({ startedAt }) => startedAt.getTime())
  expect(Math.max(...times)).toBeGreaterThan(anchor.getTime() - 2 * 3_600_000)
  expect(Math.max(...some.map(({ endedAt }) => endedAt?.getTime() ?? 0))).toBeLessThan(anchor.getTime())
  expect(Math.min(...times)).toBeGreaterThan(anchor.getTime() - 32 * 86_400_000)
  expect(daysFor(1_000_000)).toBe(300)
})

it('can be read, and measured if it has times', () => {
  let timed = 0
  let tools = 0
  for (const { transcript, startedAt } of some) {
    const reading = readTranscript(transcript, { startedAt })
    if (!('turns' in reading)) throw new Error(reading.unreadable)
    const signals = computeSignals(reading.turns)
    if (signals.talkRatio !== null) timed++
    tools += signals.toolCalls ?? 0
  }
  // The messages in chats have times but no durations.
  expect(timed / some.length).toBeGreaterThan(0.7)
  expect(tools).toBeGreaterThan(some.length)
})

it('a customer always gets the same one of two compared prompts', () => {
  const seen = new Map<string, Set<string>>()
  const many = Array.from({ length: 40_000 }, (_, number) => makeConversation(maker, number))
  const late = splitSince(anchor, 1_000).getTime()
  for (const { customerId, version, startedAt } of many) {
    if (!version || !('label' in version) || !version.label?.startsWith('support-')) continue
    if (startedAt.getTime() < late) continue
    const labels = seen.get(customerId ?? '') ?? new Set()
    seen.set(customerId ?? '', labels.add(version.label))
  }
  expect(seen.size).toBeGreaterThan(1_000)
  expect([...seen.values()].filter(({ size }) => size > 1)).toEqual([])
})
