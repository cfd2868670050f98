import { expect, it } from 'vitest'
import { newId } from './ids.ts'

it('IDs are UUIDs of version 7 in strictly ascending order, however fast they are created', () => {
  const ids = Array.from({ length: 200_000 }, newId)
  for (const [index, id] of ids.entries()) {
    if (index > 0 && id <= String(ids[index - 1])) throw new Error(`${id} does not come after ${ids[index - 1]}`)
  }
  expect(ids.filter((id) => !/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id))).toEqual(
    [],
  )
  expect(new Set(ids.map((id) => id.slice(19))).size).toBe(ids.length)
})

it('an ID contains its creation time', () => {
  const before = Date.now()
  const madeAt = Number.parseInt(newId().replace('-', '').slice(0, 12), 16)
  // An earlier burst of IDs may have used up the next milliseconds.
  expect(madeAt).toBeGreaterThanOrEqual(before)
  expect(madeAt - Date.now()).toBeLessThan(1_000)
})
