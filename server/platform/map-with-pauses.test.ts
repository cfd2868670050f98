import { expect, it } from 'vitest'
import { mapWithPauses } from './map-with-pauses.ts'

it('changes all items in order, and yields to others in between', async () => {
  let turns = 0
  const timer = setInterval(() => turns++, 1)
  const slowly = (item: number) => {
    for (const until = performance.now() + 5; performance.now() < until; );
    return item * 2
  }
  const items = Array.from({ length: 60 }, (_, at) => at)
  const changed = await mapWithPauses(items, slowly)
  clearInterval(timer)
  expect(changed).toEqual(items.map((item) => item * 2))
  expect(turns).toBeGreaterThan(3)
})
