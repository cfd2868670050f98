import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { lanesPerEndpoint, takeLane } from './lanes.ts'

let endpoint: string
beforeEach(() => {
  endpoint = randomUUID()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const enter = async () => {
  const lane = await takeLane(endpoint)
  if ('pauseMs' in lane) throw new Error('there was no lane')
  return lane
}
const fill = () => Promise.all(Array.from({ length: lanesPerEndpoint }, enter))

/** Returns the state of the lanes. `waits` represents deliveries that wait in the process. */
const stateOf = async (taken: ReturnType<typeof takeLane>[]) => {
  await vi.advanceTimersByTimeAsync(0)
  const now = taken.map((each) => Promise.race([each, Promise.resolve('waits' as const)]))
  return (await Promise.all(now)).map((each) => {
    if (each === 'waits') return each
    return 'leave' in each ? 'goes' : 'comes again'
  })
}

test('waits a moment for a lane, in turn, and a released lane is used once', async () => {
  const [first, second, ...others] = await fill()
  const taken = [takeLane(endpoint), takeLane(endpoint), takeLane(endpoint)]
  expect(await stateOf(taken)).toEqual(['waits', 'waits', 'waits'])
  first?.leave()
  expect(await stateOf(taken)).toEqual(['goes', 'waits', 'waits'])
  second?.leave()
  expect(await stateOf(taken)).toEqual(['goes', 'goes', 'waits'])
  await vi.advanceTimersByTimeAsync(500)
  expect(await stateOf(taken)).toEqual(['goes', 'goes', 'comes again'])
  // Nobody is waiting, so these lanes are free.
  for (const lane of others) lane.leave()
  for (const _lane of others) await enter()
  expect(await stateOf([takeLane(endpoint)])).toEqual(['waits'])
})

test('only as many wait as will be served within the moment', async () => {
  const [first] = await fill()
  await vi.advanceTimersByTimeAsync(200)
  first?.leave()
  await enter()
  const states = await stateOf(Array.from({ length: 20 }, () => takeLane(endpoint)))
  expect(states).toEqual([...Array(9).fill('waits'), ...Array(11).fill('comes again')])
})

test('an endpoint that took longer than five seconds has a single lane until it is fast again', async () => {
  const lanes = await fill()
  await vi.advanceTimersByTimeAsync(5_001)
  for (const lane of lanes) lane.leave()
  const only = await enter()
  expect(await stateOf([takeLane(endpoint)])).toEqual(['comes again'])
  only.leave()
  expect(await stateOf([1, 2, 3, 4, 5].map(() => takeLane(endpoint)))).toEqual([...Array(4).fill('goes'), 'waits'])
})

test.each([
  [2_000, 20_000, 60_000],
  [15_000, 30_000, 90_000],
])(
  'nobody waits for an endpoint without a response for %i ms: they retry in %i to %i ms',
  async (silentMs, least, most) => {
    await fill()
    await vi.advanceTimersByTimeAsync(silentMs)
    const lane = await takeLane(endpoint)
    if (!('pauseMs' in lane)) throw new Error('there was a lane')
    expect(lane.pauseMs).toBeGreaterThanOrEqual(least)
    expect(lane.pauseMs).toBeLessThanOrEqual(most)
  },
)
