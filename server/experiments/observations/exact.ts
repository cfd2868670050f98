// Calculates exactly, so that a value that is added today and removed in a year leaves no rounding error behind. Every
// JavaScript number is an integer divided by a power of two, and so are sums and products of such numbers.

/** The value is `digits / 2^scale`. */
export type Exact = { digits: bigint; scale: number }

export const nothing: Exact = { digits: 0n, scale: 0 }

const float = new Float64Array(1)
const bits = new BigUint64Array(float.buffer)

const fractionBits = 52n
/** The exponent in a float is relative to its first bit. This constant converts it to the exponent of the last bit. */
const exponentBias = 1075

const withoutZeros = (digits: bigint, scale: number): Exact => {
  if (digits === 0n) return nothing
  const zeros = Math.min(scale, (digits & -digits).toString(2).length - 1)
  return { digits: digits >> BigInt(zeros), scale: scale - zeros }
}

export const exactOf = (value: number): Exact => {
  if (Number.isSafeInteger(value)) return { digits: BigInt(value), scale: 0 }
  float[0] = Math.abs(value)
  const [word = 0n] = bits
  const exponent = Number(word >> fractionBits)
  const fraction = word & ((1n << fractionBits) - 1n)
  const magnitude = exponent === 0 ? fraction : fraction | (1n << fractionBits)
  const digits = value < 0 ? -magnitude : magnitude
  const scale = exponentBias - Math.max(1, exponent)
  return scale >= 0 ? withoutZeros(digits, scale) : { digits: digits << BigInt(-scale), scale: 0 }
}

/** The number of bits that determine how a number is rounded. The last one also represents all bits that follow. */
const decidingBits = 64

/** Returns the nearest JavaScript number. */
export const numberOf = ({ digits, scale }: Exact): number => {
  const magnitude = digits < 0n ? -digits : digits
  const beyond = magnitude.toString(16).length * 4 - decidingBits
  if (beyond <= 0) return Number(digits) * 2 ** -scale
  const rest = BigInt(beyond)
  const leading = magnitude >> rest
  const isMore = leading << rest !== magnitude
  const rounded = Number(isMore ? leading | 1n : leading) * 2 ** (beyond - scale)
  return digits < 0n ? -rounded : rounded
}

export const textOf = ({ digits, scale }: Exact): string => (scale === 0 ? String(digits) : `${digits}/2^${scale}`)

/** Reads the text that `textOf` wrote. */
export const parseExact = (text: string): Exact => {
  const [digits = '', scale = '0'] = text.split('/2^')
  return { digits: BigInt(digits), scale: Number(scale) }
}

const raised = ({ digits, scale }: Exact, to: number): bigint => digits << BigInt(to - scale)

export const plus = (one: Exact, other: Exact): Exact => {
  if (one.scale === other.scale) return { digits: one.digits + other.digits, scale: one.scale }
  const scale = Math.max(one.scale, other.scale)
  return { digits: raised(one, scale) + raised(other, scale), scale }
}

export const minus = (one: Exact, other: Exact): Exact => plus(one, { digits: -other.digits, scale: other.scale })

export const times = (one: Exact, other: Exact): Exact => ({
  digits: one.digits * other.digits,
  scale: one.scale + other.scale,
})
