import { describe, expect, it } from 'vitest'
import { answer, makeJudge, makeTurns, polite, Refusal } from '../../../test/support/monitors/model-server.ts'
import { EndpointError } from './endpoint-error.ts'
import { openGate } from './gate.ts'

const turns = makeTurns('Hello')

describe('Retry-After', () => {
  it('delays every request to the endpoint', async () => {
    const { judgeOne, waits, asked } = await makeJudge((_, number) =>
      number === 1 ? new Refusal(429, { 'retry-after': '7' }) : answer(),
    )
    await judgeOne(polite, turns)
    expect(waits).toEqual([7_000])
    await judgeOne(polite, turns)
    expect([waits, asked.length]).toEqual([[7_000], 3])
  })

  it('of one request delays later ones', async () => {
    let now = 0
    const sleeping: { until: number; wake: () => void }[] = []
    const gate = openGate({
      concurrency: 2,
      attempts: 2,
      clock: { now: () => new Date(now) },
      random: () => 1,
      wait: (ms) => new Promise<void>((wake) => sleeping.push({ until: now + ms, wake })),
    })
    const passage = { signal: new AbortController().signal, deadline: 100_000, owner: '' }
    const sent: string[] = []
    const first = gate.run(async () => {
      sent.push('first')
      if (sent.length === 1) throw new EndpointError('busy', 'busy', { retryAfterMs: 20_000 })
      return 'answered'
    }, passage)
    await expect.poll(() => sleeping.length).toBe(1)
    const second = gate.run(async () => sent.push('second'), passage)
    await expect.poll(() => sleeping.length).toBe(2)
    expect([sent, sleeping.map(({ until }) => until)]).toEqual([['first'], [20_000, 20_000]])
    now = 20_000
    for (const { wake } of sleeping) wake()
    await Promise.all([first, second])
    expect(sent.toSorted()).toEqual(['first', 'first', 'second'])
  })

  it('delays those already waiting', async () => {
    const { judgeOne, asked, waits } = await makeJudge(
      (_, number) => (number === 1 ? new Refusal(429, { 'retry-after': '7' }) : answer()),
      { EARSHOT_JUDGE_LIMITS: 'concurrency=1,attempts=1' },
    )
    const results = await Promise.all([judgeOne(polite, turns), judgeOne(polite, turns)])
    expect(results.map(({ status }) => status)).toEqual(['failed', 'scored'])
    expect([asked.length, waits]).toEqual([2, [7_000]])
  })

  it('longer than the timeout of a request fails it immediately', async () => {
    const { judgeOne, waits, asked, pass } = await makeJudge((_, number) =>
      number === 1 ? new Refusal(429, { 'retry-after': '1800' }) : answer(),
    )
    const failed = { status: 'failed', retryAfterSeconds: 1_800 }
    expect(await judgeOne(polite, turns)).toMatchObject({ ...failed, reason: 'the endpoint returned status 429' })
    const later = await judgeOne(polite, turns)
    expect(later).toMatchObject({
      ...failed,
      reason: 'the endpoint asks to wait longer than the timeout of this request',
    })
    expect([asked.length, waits]).toEqual([1, []])
    pass(1_800_000)
    expect(await judgeOne(polite, turns)).toMatchObject({ status: 'scored' })
  })
})

it('background requests are sent after all others, and leave the queue when aborted', async () => {
  const gate = openGate({
    concurrency: 1,
    attempts: 1,
    random: () => 1,
    wait: async () => {},
    clock: { now: () => new Date(0) },
  })
  const sent: string[] = []
  const ended = new AbortController()
  const held = Promise.withResolvers<void>()
  const pass = (name: string, background = false, signal = new AbortController().signal) =>
    gate.run(
      async () => {
        sent.push(name)
        if (name === 'first') await held.promise
      },
      { signal, deadline: 1, owner: '', background },
    )
  const first = pass('first')
  const given = pass('given up', true, ended.signal)
  const others = [pass('backfill', true), pass('live'), pass('also live')]
  ended.abort(new Error('ended'))
  await expect(given).rejects.toThrow('ended')
  held.resolve()
  await Promise.all([first, ...others])
  expect(sent).toEqual(['first', 'live', 'also live', 'backfill'])
})

it('concurrency is limited', async () => {
  let underWay = 0
  let most = 0
  const { judgeOne, asked } = await makeJudge(
    async () => {
      most = Math.max(most, ++underWay)
      await new Promise((resolve) => setImmediate(resolve))
      underWay--
      return answer()
    },
    { EARSHOT_JUDGE_LIMITS: 'concurrency=3' },
  )
  await Promise.all(Array.from({ length: 20 }, () => judgeOne(polite, turns)))
  expect([asked.length, most <= 3]).toEqual([20, true])
})

it.each([
  ['pause', new Refusal(429, { 'retry-after': '7' }), 1],
  ['rest', new Refusal(503), 5],
])('a clock that is set back ends the %s of an endpoint', async (_, refusal, failures) => {
  let isUp = false
  const { judgeOne, waits, pass } = await makeJudge(() => (isUp ? answer() : refusal), {
    EARSHOT_JUDGE_LIMITS: 'attempts=1',
  })
  for (let number = 1; number <= failures; number++) {
    expect(await judgeOne(polite, turns)).toMatchObject({ status: 'failed' })
  }
  pass(-3_600_000)
  isUp = true
  const [first, beside] = await Promise.all([judgeOne(polite, turns), judgeOne(polite, turns)])
  expect(first).toMatchObject({ status: 'scored' })
  // The other request must not wait a whole hour while the first one tests whether the endpoint works.
  expect(beside.retryAfterSeconds ?? 0).toBeLessThanOrEqual(1)
  pass(3_600_000)
  expect(await judgeOne(polite, turns)).toMatchObject({ status: 'scored' })
  expect(waits).toEqual([])
})

describe('a failing endpoint', () => {
  it('gets no requests, then one after a pause, then a pause twice as long', async () => {
    let isUp = false
    const { judgeOne, asked, pass } = await makeJudge(() => (isUp ? answer() : new Refusal(503)))
    expect(await judgeOne(polite, turns)).toMatchObject({ reason: 'the endpoint returned status 503' })
    expect(asked).toHaveLength(5)
    const resting = { status: 'failed', reason: expect.stringMatching(/requests are paused/), retryAfterSeconds: 30 }
    expect(await judgeOne(polite, turns)).toMatchObject(resting)
    expect(asked).toHaveLength(5)

    pass(30_000)
    const both = await Promise.all([judgeOne(polite, turns), judgeOne(polite, turns)])
    expect(both.map(({ status }) => status)).toEqual(['failed', 'failed'])
    expect(asked).toHaveLength(6)
    expect(await judgeOne(polite, turns)).toMatchObject({ ...resting, retryAfterSeconds: 60 })

    pass(60_000)
    isUp = true
    expect(await judgeOne(polite, turns)).toMatchObject({ status: 'scored' })
    const all = await Promise.all([judgeOne(polite, turns), judgeOne(polite, turns)])
    expect(all.map(({ status }) => status)).toEqual(['scored', 'scored'])
  })

  it('is used again as soon as an earlier request succeeds', async () => {
    const late = Promise.withResolvers<object>()
    const { judgeOne, asked } = await makeJudge(
      (_, number) => (number === 1 ? late.promise : number <= 6 ? new Refusal(503) : answer()),
      {
        EARSHOT_JUDGE_LIMITS: 'attempts=1,concurrency=2',
      },
    )
    const slow = judgeOne(polite, turns)
    await expect.poll(() => asked.length).toBe(1)
    for (let time = 0; time < 5; time++) expect(await judgeOne(polite, turns)).toMatchObject({ status: 'failed' })
    expect(await judgeOne(polite, turns)).toMatchObject({ reason: expect.stringMatching(/requests are paused/) })
    late.resolve(answer())
    expect(await slow).toMatchObject({ status: 'scored' })
    expect(await judgeOne(polite, turns)).toMatchObject({ status: 'scored' })
  })

  it('gets no requests if it rejects the key, either', async () => {
    const { judgeOne, asked } = await makeJudge(() => new Refusal(401))
    for (let time = 0; time < 10; time++) {
      expect(await judgeOne(polite, turns)).toMatchObject({ status: 'failed', result: null })
    }
    expect(asked).toHaveLength(5)
  })

  it('is not paused if it fails only sometimes', async () => {
    const { judgeOne, asked } = await makeJudge((_, number) => (number % 2 === 0 ? answer() : new Refusal(500)))
    for (let time = 0; time < 10; time++) {
      expect(await judgeOne(polite, turns)).toMatchObject({ status: 'scored' })
    }
    expect(asked).toHaveLength(20)
  })
})
