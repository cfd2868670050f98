/**
 * Limits the memory of one evaluation by counting. A thread that runs out of memory can kill the whole process, so none
 * may come close; no limit of the engine is relied on.
 */

/**
 * In list entries; a text counts as a quarter of its characters, and so do bytes. Each is at most about fifty bytes.
 */
const mostMade = 3_000_000

export class Overspent extends Error {}

let left = mostMade
/** Above 0 while all evaluated values are kept, as in `map`. */
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
 * A text can be compared at each position of another with nearly all of it. This is one call of the engine, which
 * nothing can stop: it takes about 0.3 s at most.
 */
const mostCompared = 1_000_000_000

export const checkSearch = (length: number, soughtLength: number): void => {
  if (length * soughtLength > mostCompared) throw new Overspent('this searches for too long a text in too long a text')
}

/** Temporary lists only cost time. */
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
