// Creates a judge that is too strict, and reviews of its conversations in both halves of an alignment.

import { type Half, halfOf } from '../server/alignments/split.ts'

type Created = { id: string }

/** Sends a request to the service under test. */
export type Ask = <T>(method: string, path: string, body?: object) => Promise<T>

const rude = 'Go away.'
const kind = 'Gladly.'

/**
 * Returns a score of 6 for rude agents, which is below the threshold of 7, and 2 for others. If there is no transcript,
 * returns guidelines.
 */
export const tooStrict = (user: string): string => {
  const transcript = /<transcript>\n([\s\S]*)\n<\/transcript>/.exec(user)?.[1]
  if (transcript === undefined) return '{"guidelines":["A rude word is enough."]}'
  const isRude = transcript.includes(rude)
  const evidence = [{ turn: 1, quote: isRude ? rude : kind }]
  return JSON.stringify({ evidence, reasoning: 'By its words.', score: isRude ? 6 : 2, result: 'not_affected' })
}

export const makeJudge = async (ask: Ask, name: string, model: string): Promise<string> => {
  const output = { type: 'score', min: 0, max: 10, affectedWhen: { op: 'gte', value: 7 } }
  const definition = { criteria: 'How rude is the agent?', output, model }
  return (await ask<Created>('POST', '/v1/monitors', { name, kind: 'judge', definition })).id
}

const customersIn = (org: string, half: Half, count: number): string[] => {
  const found: string[] = []
  for (let at = 0; found.length < count; at++) {
    if (halfOf(org, { id: org, customerId: `customer-${at}` }) === half) found.push(`customer-${at}`)
  }
  return found
}

type Reviewing = {
  ask: Ask
  monitorId: string
  perHalf: number
  /** Waits until the monitor has this many results. */
  waitFor: (results: number) => Promise<unknown>
}

/** Creates conversations in both halves, waits for their results, and reviews them. */
export const makeReviewed = async ({ ask, monitorId, perHalf, waitFor }: Reviewing): Promise<void> => {
  const { organization } = await ask<{ organization: Created }>('GET', '/v1/me')
  const calls = (['tuning', 'test'] as const).flatMap((half) =>
    customersIn(organization.id, half, perHalf).map((customerId, at) => ({ customerId, isRude: at % 2 === 0 })),
  )
  const conversations = calls.map(({ customerId, isRude }, at) => ({
    externalId: `aligned-${at}`,
    customerId,
    agent: { externalId: 'rude', name: 'Rude', channel: 'voice' },
    channel: 'call',
    startedAt: new Date(Date.now() - (at + 1) * 60_000).toISOString(),
    endedAt: new Date(Date.now() - at * 60_000).toISOString(),
    transcript: [
      { role: 'customer', text: 'I want my money back.' },
      { role: 'agent', text: isRude ? rude : kind },
    ],
  }))
  const { data } = await ask<{ data: Created[] }>('POST', '/v1/conversations/batch', { conversations })
  await waitFor(calls.length)
  for (const [at, { id: conversationId }] of data.entries()) {
    const correctResult = calls[at]?.isRude ? 'affected' : 'not_affected'
    const judgments = [{ monitorId, correctResult, comment: 'By its words.' }]
    await ask('POST', '/v1/reviews', { conversationId, status: 'completed', judgments })
  }
}
