/** A property or element somewhere within a value. */
export type SampleSlot = { holder: object; key: string }

/** All of them, so that a test can put something else there. */
export const placesIn = (value: unknown): SampleSlot[] => {
  const places: SampleSlot[] = []
  const waiting = [value]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next !== 'object' || next === null) continue
    for (const [key, child] of Object.entries(next)) {
      places.push({ holder: next, key })
      if (child !== null) waiting.push(child)
    }
  }
  return places
}
