/** A property or element anywhere inside a value. */
export type SampleSlot = { holder: object; key: string }

/** Returns every slot of a value, so that a test can replace any of them. */
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
