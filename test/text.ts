import fc from 'fast-check'

const halves = { first: 0xd800, count: 0x800 }

// fast-check's own unit `binary` first makes a map of all million characters, once for each process.
const character = fc.integer({ min: 0, max: 0x10ffff - halves.count }).map(
  (number) => String.fromCodePoint(number < halves.first ? number : number + halves.count),
  (text) => {
    const code = String(text).codePointAt(0) ?? Number.NaN
    return code < halves.first ? code : code - halves.count
  },
)

/** Of any characters but halves of them. */
export const anyText = (bounds: { minLength?: number; maxLength?: number } = {}) =>
  fc.string({ unit: character, ...bounds })
