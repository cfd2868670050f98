import fc from 'fast-check'

const halves = { first: 0xd800, count: 0x800 }

// fast-check's `binary` unit first builds a map of all million characters, once per process.
const character = fc.integer({ min: 0, max: 0x10ffff - halves.count }).map(
  (number) => String.fromCodePoint(number < halves.first ? number : number + halves.count),
  (text) => {
    const code = String(text).codePointAt(0) ?? Number.NaN
    return code < halves.first ? code : code - halves.count
  },
)

/** Returns strings with any characters except lone surrogates. */
export const anyText = (bounds: { minLength?: number; maxLength?: number } = {}) =>
  fc.string({ unit: character, ...bounds })
