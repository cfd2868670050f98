/** Returns random numbers that are the same for the same seed. */
export const drawing = (seed: number) => {
  let state = seed >>> 0
  const below = (limit: number): number => {
    state = (state + 0x9e3779b9) >>> 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) % limit
  }
  return {
    below,
    chance: (share: number) => below(1_000) < share * 1_000,
    one: <T>(list: readonly T[]): T => list[below(list.length)] as T,
    some: <T>(list: readonly T[], count: number): T[] =>
      list
        .map((item) => ({ item, at: below(2 ** 30) }))
        .sort((a, b) => a.at - b.at)
        .slice(0, count)
        .map(({ item }) => item),
  }
}

export type Draw = ReturnType<typeof drawing>
