// Declares members of re2js that are missing from its types. Its version is pinned, and the tests in
// re2-internals.test.ts fail if an update changes them.
import type { RE2JS } from 're2js'

/** Returns the instructions of a pattern's program. Each class of characters is a list of ranges: pairs of runes. */
export const instructionsOf = (engine: RE2JS): { runes: Int32Array }[] => {
  const { inst } = engine.re2().prog as unknown as { inst: { runes: Int32Array }[] }
  return inst
}
