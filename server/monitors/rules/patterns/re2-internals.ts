// Declares members of re2js that its types don't declare. Its version is pinned, and re2-internals.test.ts shows what
// an update breaks.
import type { RE2JS } from 're2js'

/** Returns the instructions of a pattern's program. Each class of characters is a list of ranges: pairs of runes. */
export const instructionsOf = (engine: RE2JS): { runes: Int32Array }[] => {
  const { inst } = engine.re2().prog as unknown as { inst: { runes: Int32Array }[] }
  return inst
}
