// Decimal numbers that are added and multiplied without rounding: what is added today and taken away in a year leaves
// nothing behind.

/** digits / 10^scale. */
export type Exact = { digits: bigint; scale: number }

export const nothing: Exact = { digits: 0n, scale: 0 }

/** As JavaScript prints the number. */
export const exactOf = (value: number): Exact =>
  Number.isSafeInteger(value) ? { digits: BigInt(value), scale: 0 } : parseExact(String(value))

export const parseExact = (text: string): Exact => {
  const [, sign, whole = '', fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(text) ?? []
  if (whole === '') throw new TypeError('Not a decimal number')
  const digits = BigInt(`${sign}${whole}${fraction}`)
  const scale = fraction.length - Number(exponent)
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 }
}

/** The nearest number that JavaScript has. */
export const numberOf = ({ digits, scale }: Exact): number =>
  scale === 0 ? Number(digits) : Number(`${digits}e-${scale}`)

/** Shorter where zeros end it. */
export const textOf = ({ digits, scale }: Exact): string => {
  if (scale === 0) return String(digits)
  const text = String(digits)
  const zeros = Math.min(scale, text.length - text.replace(/0+$/, '').length)
  if (digits === 0n || zeros === scale) return String(digits / 10n ** BigInt(scale))
  return `${text.slice(0, text.length - zeros)}e-${scale - zeros}`
}

const raised = ({ digits, scale }: Exact, to: number): bigint =>
  to === scale ? digits : digits * 10n ** BigInt(to - scale)

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
