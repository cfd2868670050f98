const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

const [none, space, padding] = [255, 254, 253]

/** The value of each byte in both Base64 alphabets. */
const values = new Uint8Array(256).fill(none)
for (const [value, digit] of [...digits].entries()) values[digit.charCodeAt(0)] = value
values['-'.charCodeAt(0)] = 62
values['_'.charCodeAt(0)] = 63
values['='.charCodeAt(0)] = padding
for (const blank of ' \t\r\n') values[blank.charCodeAt(0)] = space

/** Decodes Base64 that arrives in chunks, which can end at any position. Ignores line breaks and missing padding. */
export const openBase64 = () => {
  let bits = 0
  let bitCount = 0
  let isPadded = false
  let isSound = true

  return {
    /** Writes at most one byte to `target` at `at`, and returns the next position. */
    add: (byte: number, target: Uint8Array, at: number): number => {
      const value = values[byte] ?? none
      if (value === space) return at
      if (value === padding) {
        isPadded = true
        return at
      }
      if (value === none || isPadded) {
        isSound = false
        return at
      }
      bits = ((bits << 6) | value) & 0xffff
      bitCount += 6
      if (bitCount < 8) return at
      bitCount -= 8
      target[at] = (bits >> bitCount) & 0xff
      return at + 1
    },
    /** Returns whether all input so far was valid Base64. A single digit at the end would be less than a byte. */
    isSound: () => isSound && bitCount < 6,
  }
}
