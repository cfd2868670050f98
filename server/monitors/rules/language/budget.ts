/**
 * Limits the memory of one evaluation by counting the values that it creates. A thread that runs out of memory can end
 * the whole process, so no limit of the engine is reliable enough.
 */

/**
 * The limit in list entries, which have at most about fifty bytes each. Texts and bytes count as a quarter of their
 * length.
 */
const mostMade = 3_000_000

export class Overspent extends Error {}

let left = mostMade
/** Above 0 if all evaluated values stay in memory, as in `map`. */
let keeping = 0

export const refill = (): void => {
  left = mostMade
  keeping = 0
}

export const spend = (amount: number): void => {
  left -= amount
  if (left < 0) throw new Overspent('this builds a value that is too large')
}

/**
 * The maximum number of comparisons in a search. In the worst case, a search compares nearly all of a string at each
 * position of another. It is one call to the engine, which nothing can interrupt, and takes at most about 0.3 s.
 */
const mostCompared = 1_000_000_000

export const checkSearch = (length: number, soughtLength: number): void => {
  if (length * soughtLength > mostCompared) throw new Overspent('this searches for too long a text in too long a text')
}

/** Counts a list if it stays in memory. Temporary lists only cost time. */
export const spendIfStored = <T>(list: T[]): T[] => {
  if (keeping > 0) spend(list.length)
  return list
}

export const keep = <T>(evaluate: () => T): T => {
  keeping++
  try {
    return evaluate()
  } finally {
    keeping--
  }
}

export const spendOn = (made: unknown): void => {
  if (typeof made === 'string' || made instanceof Uint8Array) spend(made.length / 4)
  if (Array.isArray(made)) spend(made.length)
}
