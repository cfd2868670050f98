/** Writes text into the XML of a workbook: UTF-8 with escapes for characters that XML and Excel reserve. */

const latin1 = (text: string) => new Uint8Array(Buffer.from(text, 'latin1'))

/** Copies a few bytes, which is faster than `set`. */
export const copy = (target: Uint8Array, at: number, source: Uint8Array, length = source.length): number => {
  // There is a byte at every position below `length`.
  for (let i = 0; i < length; i++) target[at + i] = source[i] as number
  return at + length
}

const copyRun = (target: Uint8Array, at: number, source: Buffer, start: number, end: number): number => {
  if (end - start > 32) return at + source.copy(target, at, start, end)
  // There is a byte at every position before the end.
  for (let i = start; i < end; i++) target[at++] = source[i] as number
  return at
}

/** The longest escape for a byte: `_x0001_`. */
export const escapedBytes = 7

/** The bytes that XML forbids or reserves, or that can start an escape. */
const special = new Uint8Array(256)
special.fill(1, 0, 0x20)
special[0x09] = 0
special[0x0a] = 0
for (const byte of Buffer.from('&<>_')) special[byte] = 1
special[0xef] = 1 // U+FFFE and U+FFFF, which XML forbids, start with this byte.

const isHex = (byte = 0) => (byte >= 48 && byte <= 57) || (byte >= 65 && byte <= 70) || (byte >= 97 && byte <= 102)

/** Returns whether the `_` starts text like `_xHHHH`, which readers would interpret as an escape. */
const looksEscaped = (text: Uint8Array, at: number, end: number) =>
  end - at >= 6 && text[at + 1] === 0x78 && [2, 3, 4, 5].every((place) => isHex(text[at + place]))

const entities = new Map([
  [0x26, latin1('&amp;')],
  [0x3c, latin1('&lt;')],
  [0x3e, latin1('&gt;')],
  [0x0d, latin1('&#13;')],
])
const literal = latin1('_')
const escapeOf = (unit: number) => latin1(`_x${unit.toString(16).toUpperCase().padStart(4, '0')}_`)
const controls = Array.from({ length: 0x20 }, (_, unit) => escapeOf(unit))
const escapes = { underscore: escapeOf(0x5f), fffe: escapeOf(0xfffe), ffff: escapeOf(0xffff) }

const firstOfThree = new Uint8Array([0xef])

/** Returns the escape for U+FFFE or U+FFFF. Other characters can start with the same byte. */
const nonCharacterAt = (source: Buffer, at: number): Uint8Array => {
  const last = source[at + 1] === 0xbf ? source[at + 2] : undefined
  if (last === 0xbe) return escapes.fffe
  return last === 0xbf ? escapes.ffff : firstOfThree
}

/**
 * Returns the escape for the special byte at `at`, which must be before the end. Other special bytes are control
 * characters.
 */
const replacementAt = (source: Buffer, at: number, end: number): Uint8Array => {
  const byte = source[at] as number
  if (byte === 0xef) return nonCharacterAt(source, at)
  if (byte === 0x5f) return looksEscaped(source, at, end) ? escapes.underscore : literal
  return entities.get(byte) ?? (controls[byte] as Uint8Array)
}

/**
 * Copies `source` from `start` to `end` into `target`, which must have enough space. Returns the position after the
 * copy.
 */
export const writeEscaped = (target: Uint8Array, from: number, source: Buffer, start: number, end: number): number => {
  let at = from
  let i = start
  while (i < end) {
    const run = i
    // `i` is before the end, and the table has an entry for each byte.
    while (i < end && (special[source[i] as number] as number) === 0) i++
    at = copyRun(target, at, source, run, i)
    if (i === end) break
    const replacement = replacementAt(source, i, end)
    at = copy(target, at, replacement)
    i += replacement === escapes.fffe || replacement === escapes.ffff ? 3 : 1
  }
  return at
}
