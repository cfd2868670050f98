/** Splits a list into parts of this size. The last part can be smaller. */
export const batchesOf = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size))

/** Splits a list into parts. Each part ends with the item at which its size reaches the limit. */
export const batchesOfSize = <T>(items: readonly T[], most: number, sizeOf: (item: T) => number): T[][] => {
  const batches: T[][] = []
  let room = 0
  for (const item of items) {
    if (room <= 0) {
      batches.push([])
      room = most
    }
    batches.at(-1)?.push(item)
    room -= sizeOf(item)
  }
  return batches
}
