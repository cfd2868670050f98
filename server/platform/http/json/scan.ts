/**
 * Scans the bytes of JSON before they are parsed, to find their size, their depth, and the positions of values that are
 * read separately. Does not check the syntax, because the parser rejects malformed text and the scan's result is then
 * not used.
 */

const codes = {
  quote: 0x22,
  plus: 0x2b,
  comma: 0x2c,
  minus: 0x2d,
  dot: 0x2e,
  zero: 0x30,
  nine: 0x39,
  colon: 0x3a,
  openList: 0x5b,
  backslash: 0x5c,
  closeList: 0x5d,
  e: 0x65,
  E: 0x45,
  f: 0x66,
  n: 0x6e,
  t: 0x74,
  u: 0x75,
  openObject: 0x7b,
  closeObject: 0x7d,
} as const

type Span = { start: number; end: number }

export type JsonCounts = {
  /** The number of names and values. */
  parts: number
  /** The number of names. It equals the number of properties unless names are repeated. */
  names: number
  /** Whether an escape may represent NUL or a lone surrogate, or a number may be out of range. */
  isSuspicious: boolean
  /** Whether an integer may exceed 2^53, judging by its number of digits. */
  hasLongInteger: boolean
}

/** The value of a property that is read separately. */
export type Apart = Span & JsonCounts

export type ScanResult = JsonCounts & {
  deepest: number
  apart: Apart | undefined
  /** The list with items that are read one by one, without brackets. */
  list: (Span & { items: Span[] }) | undefined
  /** Whether a property that is read separately occurs twice. */
  isRepeated: boolean
}

export type ScanOptions = {
  /** The top-level property with a value that is read separately. */
  apart?: string | undefined
  /** The top-level property that contains a list with items that are read one by one. */
  list?: string | undefined
  /** The maximum number of returned positions of list items. */
  mostItems?: number | undefined
}

const noCounts = (): JsonCounts => ({ parts: 0, names: 0, isSuspicious: false, hasLongInteger: false })

const isHighHex = (code: number | undefined): boolean =>
  code !== undefined &&
  (code === 0x38 || code === 0x39 || (code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66))

/** Returns whether the escape `\u` at this position represents NUL or a lone surrogate. */
const isSuspiciousEscape = (bytes: Buffer, at: number): boolean => {
  const first = bytes[at + 2]
  if (first === 0x64 || first === 0x44) return isHighHex(bytes[at + 3])
  return first === codes.zero && bytes.readUInt16BE(at + 3) === 0x3030 && bytes[at + 5] === codes.zero
}

/** A number with at most this many digits is always in range. */
const mostDigits = 308
/** A number with at most this many digits is always below 2^53. */
const safeDigits = 15

export const openScan = (bytes: Buffer, { apart, list, mostItems = 0 }: ScanOptions = {}) => {
  const end = bytes.length
  const isSplit = apart !== undefined || list !== undefined
  const rest = noCounts()
  let counts = rest
  let at = 0
  let depth = 0
  let name: Span = { start: 0, end: 0 }
  let begunItem = 0
  let inList = false
  const found: Pick<ScanResult, 'deepest' | 'apart' | 'list' | 'isRepeated'> = {
    deepest: 0,
    apart: undefined,
    list: undefined,
    isRepeated: false,
  }

  let stringStart = -1

  /** Reads a string up to its end, or up to `until`. */
  const readString = (until: number): void => {
    for (let code = bytes[at]; at < until && code !== codes.quote; code = bytes[++at]) {
      if (code !== codes.backslash) continue
      if (bytes[at + 1] === codes.u && at + 6 <= end && isSuspiciousEscape(bytes, at)) counts.isSuspicious = true
      at++
    }
    if (at >= until) return
    if (depth === 1) name = { start: stringStart, end: at }
    stringStart = -1
    at++
  }

  /** Replaces -0 with 0 from here on, because -0 would look like a change when it is sent again. */
  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: a loop over every byte needs many cases
  const readNumber = (): void => {
    const start = at
    let digits = 0
    let exponentAt = -1
    let isWhole = true
    let isZero = true
    for (let code = bytes[at]; at < end; code = bytes[++at]) {
      if (code === undefined) break
      if (code >= codes.zero && code <= codes.nine) {
        digits++
        if (code !== codes.zero && exponentAt < 0) isZero = false
      } else if (code === codes.e || code === codes.E) {
        exponentAt = at
        isWhole = false
      } else if (code === codes.dot) isWhole = false
      else if (code !== codes.minus && code !== codes.plus) break
    }
    if (isZero && digits > 0 && bytes[start] === codes.minus) bytes[start] = 0x20
    if (isWhole && digits > safeDigits) counts.hasLongInteger = true
    if (digits > mostDigits || (exponentAt >= 0 && at - exponentAt > 3)) counts.isSuspicious = true
  }

  const begin = (): void => {
    // Lengths are compared first, because the same long name may be checked before many colons.
    const isNamed = (wanted: string | undefined): boolean =>
      wanted?.length === name.end - name.start && bytes.toString('latin1', name.start, name.end) === wanted
    if (isNamed(apart)) {
      if (found.apart) found.isRepeated = true
      counts = noCounts()
      found.apart = Object.assign(counts, { start: at + 1, end })
    } else if (isNamed(list)) {
      if (found.list) found.isRepeated = true
      found.list = { start: end, end, items: [] }
      inList = true
    }
  }

  const endItem = (): void => {
    const items = found.list?.items
    const isBlank =
      items?.length === 0 && bytes[at] === codes.closeList && bytes.toString('latin1', begunItem, at).trim() === ''
    if (!isBlank && items && items.length < mostItems) items.push({ start: begunItem, end: at })
    begunItem = at + 1
  }

  const endValue = (): void => {
    inList = false
    if (counts !== rest && found.apart) {
      found.apart.end = at
      counts = rest
    }
  }

  const open = (code: number): void => {
    counts.parts++
    depth++
    if (depth > found.deepest) found.deepest = depth
    if (inList && depth === 2 && found.list) {
      if (code === codes.openList) {
        begunItem = at + 1
        found.list.start = begunItem
      } else inList = false
    }
  }

  const close = (): void => {
    if (inList && depth === 2 && found.list) {
      endItem()
      found.list.end = at
      inList = false
    }
    if (depth === 1) endValue()
    depth--
  }

  /** Scans a number of bytes, or up to the end of the text. Returns whether the end was reached. */
  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: function calls would cost a fifth of the speed
  const run = (length: number): boolean => {
    const until = Math.min(end, at + length)
    while (at < until) {
      if (stringStart >= 0) {
        readString(until)
        continue
      }
      const code = bytes[at] as number
      if (code === codes.quote) {
        counts.parts++
        at++
        stringStart = at
        continue
      }
      if (code === codes.minus || (code >= codes.zero && code <= codes.nine)) {
        counts.parts++
        readNumber()
        continue
      }
      if (code === codes.comma) {
        if (depth === 1) endValue()
        else if (inList && depth === 2) endItem()
      } else if (code === codes.colon) {
        counts.names++
        if (depth === 1 && isSplit) begin()
      } else if (code === codes.openObject || code === codes.openList) open(code)
      else if (code === codes.closeObject || code === codes.closeList) close()
      else if (code === codes.t || code === codes.f || code === codes.n) counts.parts++
      at++
    }
    return at >= end
  }

  return { run, parts: () => rest.parts + (found.apart?.parts ?? 0), found: (): ScanResult => ({ ...rest, ...found }) }
}
