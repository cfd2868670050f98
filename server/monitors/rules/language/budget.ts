/**
 * What one evaluation may put together, counted as it does. A thread that runs out of memory can take the whole process
 * with it, so that none may come near: no limit of the engine is relied on.
 */

/** In entries of lists; a text counts as a quarter of its characters, and bytes do. Each is at most some fifty bytes. */
const mostMade = 3_000_000

export class Overspent extends Error {}

let left = mostMade
/** Above 0 while something is evaluated whose values are all kept, as those of `map` are. */
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
 * A text may be compared at each place of another with nearly all of it. This is one call of the engine, which nothing
 * can end: it takes some 0.3 s at most.
 */
const mostCompared = 1_000_000_000

export const checkSearch = (length: number, soughtLength: number): void => {
  if (length * soughtLength > mostCompared) throw new Overspent('this searches for too long a text in too long a text')
}

/** Lists that are made and let go again cost nothing but time. */
export const spendIfKept = <T>(list: T[]): T[] => {
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
