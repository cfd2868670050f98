import { expect, it } from 'vitest'
import { makeClock } from './clock.ts'

it('tells its listeners of each new position until they unsubscribe', () => {
  const clock = makeClock(5)
  const seen: number[] = []
  const stop = clock.subscribe(() => seen.push(clock.now()))
  clock.set(6)
  clock.set(7.5)
  stop()
  clock.set(8)
  expect(seen).toEqual([6, 7.5])
  expect(clock.now()).toBe(8)
})
