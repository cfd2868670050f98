// Writes the cells of CSV and JSON Lines files directly as bytes. An export can have ten million cells, and creating a
// string for each would be slow.

import { dayMs } from '../../platform/durations.ts'

const [tab, lineFeed, carriageReturn, space, quote, apostrophe, backslash] = [9, 10, 13, 32, 34, 39, 92]
const [plus, comma, minus, point, zero, equals, at] = [43, 44, 45, 46, 48, 61, 64]

/** The two hexadecimal digits of each byte. */
const hexPairs = new Uint16Array(256).map((_, byte) => Buffer.from(byte.toString(16).padStart(2, '0')).readUInt16BE())

/** Returns four bytes of text as one number, so that they can be written at once. */
const word = (text: string): number => Buffer.from(text, 'latin1').readUInt32BE()
const pad = (value: number, length: number) => String(value).padStart(length, '0')
const table = (length: number, text: (index: number) => string) =>
  Uint32Array.from({ length }, (_, index) => word(text(index)))

/** The text of `2026-11-21T09:14:05.007Z` starting with the hour, in pieces of four bytes. */
const hourAndTen = table(24 * 6, (tens) => `${pad(Math.floor(tens / 6), 2)}:${tens % 6}`)
const minuteAndSecond = table(10 * 60, (seconds) => `${Math.floor(seconds / 60)}:${pad(seconds % 60, 2)}`)
const milliseconds = table(1_000, (ms) => `.${pad(ms, 3)}`)

const blockBytes = 256 * 1024
/** Every cell except text needs fewer bytes than this, including its comma. */
const roomOfCell = 64

/**
 * Returns whether spreadsheets could treat a string as a formula, according to OWASP's list of characters. Full-width
 * signs have three bytes.
 */
const beginsFormula = (bytes: Uint8Array, start: number, end: number): boolean => {
  let first = start
  while (first < end && bytes[first] === space) first++
  const byte = bytes[first] ?? 0
  if (byte === equals || byte === plus || byte === minus || byte === at) return first < end
  if (byte === tab || byte === carriageReturn || byte === lineFeed) return first < end
  if (byte !== 0xef || first + 3 > end || bytes[first + 1] !== 0xbc) return false
  const third = bytes[first + 2]
  return third === 0x9d || third === 0x8b || third === 0x8d || third === 0xa0
}

/** Returns whether one of four bytes is a quote. */
const hasQuote = (four: number): boolean => {
  const zeroWhereQuote = four ^ 0x22222222
  return ((zeroWhereQuote - 0x01010101) & ~zeroWhereQuote & 0x80808080) !== 0
}

/** The length of the longest JSON escape for a byte, such as `\u001f`. */
const escapedBytes = 6

/** Returns the JSON escape for a quote, a backslash, or a control character. */
const escapeOf = (byte: number): string => JSON.stringify(String.fromCharCode(byte)).slice(1, -1)

export type TextSource = { bytes: Buffer; view: DataView }

/** Wraps a buffer. All strings in the buffer can share the result. */
export const textSource = (bytes: Buffer): TextSource => ({
  bytes,
  view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength),
})

/** ASCII text of at most twelve bytes that needs no quotes. */
export type ShortWord = { words: [number, number, number]; bytes: number }

export const shortWord = (text: string): ShortWord => {
  const padded = text.padEnd(12)
  return { words: [word(padded.slice(0, 4)), word(padded.slice(4, 8)), word(padded.slice(8))], bytes: text.length }
}

export type TextBytes = ReturnType<typeof textBytes>

export const textBytes = () => {
  let bytes = Buffer.allocUnsafeSlow(blockBytes)
  let view = new DataView(bytes.buffer)
  let length = 0
  let day = Number.NaN
  let [year, month, date] = [0, 0, 0]

  const makeRoom = (room: number) => {
    if (length + room <= bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(bytes.length * 2, length + room))
    bytes.copy(larger, 0, 0, length)
    bytes = larger
    view = new DataView(bytes.buffer)
  }

  /** Writes an integer below 2^31. */
  const digits = (value: number) => {
    length++
    for (let limit = 10; value >= limit; limit *= 10) length++
    let at = length
    let rest = value
    do {
      const next = (rest / 10) | 0
      bytes[--at] = zero + rest - next * 10
      rest = next
    } while (rest > 0)
  }

  const ascii = (text: string) => {
    length += bytes.write(text, length, 'latin1')
  }

  const doubleQuotes = ({ bytes: from }: TextSource, start: number, end: number) => {
    for (let at = start; at < end; at++) {
      const byte = from[at] ?? 0
      bytes[length++] = byte
      if (byte === quote) bytes[length++] = quote
    }
  }

  /** Copies a string and doubles its quotes. Copies four bytes at once if they don't include a quote. */
  const quoted = (source: TextSource, start: number, end: number) => {
    let at = start
    for (; end - at >= 4; at += 4) {
      const four = source.view.getInt32(at)
      if (hasQuote(four)) {
        doubleQuotes(source, at, at + 4)
      } else {
        view.setInt32(length, four)
        length += 4
      }
    }
    doubleQuotes(source, at, end)
  }

  return {
    /** Returns the number of bytes since the last `take`. */
    size: () => length,
    /** Returns the bytes written so far. The writer does not change them afterwards. */
    take: (): Uint8Array => {
      const taken = bytes.subarray(0, length)
      bytes = Buffer.allocUnsafeSlow(blockBytes)
      view = new DataView(bytes.buffer)
      length = 0
      return taken
    },
    comma: () => {
      makeRoom(roomOfCell)
      bytes[length++] = comma
    },
    commas: (count: number) => {
      makeRoom(roomOfCell)
      for (let left = count; left > 0; left--) bytes[length++] = comma
    },
    /** Ends a row by replacing its last comma. */
    endRow: () => {
      makeRoom(roomOfCell)
      bytes[length - 1] = carriageReturn
      bytes[length++] = lineFeed
    },
    /** Writes the key of a JSON object, or other bytes that are complete. */
    raw: (from: Uint8Array, start = 0, end = from.length) => {
      makeRoom(end - start + roomOfCell)
      bytes.set(start === 0 && end === from.length ? from : from.subarray(start, end), length)
      length += end - start
    },
    /** Writes UTF-8 text as a JSON string. */
    jsonText: ({ bytes: from }: TextSource, start: number, end: number) => {
      makeRoom(escapedBytes * (end - start) + roomOfCell)
      bytes[length++] = quote
      for (let place = start; place < end; place++) {
        const byte = from[place] ?? 0
        if (byte >= space && byte !== quote && byte !== backslash) bytes[length++] = byte
        else length += bytes.write(escapeOf(byte), length, 'latin1')
      }
      bytes[length++] = quote
    },
    /** Writes a string that needs no quotes. */
    plain: (text: string) => {
      makeRoom(Buffer.byteLength(text) + roomOfCell)
      length += bytes.write(text, length)
    },
    shortWord: ({ words, bytes: count }: ShortWord) => {
      makeRoom(roomOfCell)
      view.setUint32(length, words[0])
      view.setUint32(length + 4, words[1])
      view.setUint32(length + 8, words[2])
      length += count
    },
    uuid: (from: Uint8Array, start: number) => {
      makeRoom(roomOfCell)
      for (let index = 0; index < 16; index++) {
        if (index === 4 || index === 6 || index === 8 || index === 10) bytes[length++] = minus
        view.setUint16(length, hexPairs[from[start + index] ?? 0] ?? 0)
        length += 2
      }
    },
    integer: (value: number) => {
      makeRoom(roomOfCell)
      if (value < 0) bytes[length++] = minus
      digits(Math.abs(value))
    },
    /** Writes a number as JavaScript prints it. */
    number: (value: number) => {
      makeRoom(roomOfCell)
      const millionths = Math.round(Math.abs(value) * 1e6)
      // A decimal number with up to 15 digits is the shortest text for a value if parsing the text returns the same
      // value.
      if (!(millionths < 1e15) || millionths / 1e6 !== Math.abs(value)) return ascii(String(value))
      if (value < 0) bytes[length++] = minus
      const whole = Math.floor(millionths / 1e6)
      digits(whole)
      let fraction = millionths - whole * 1e6
      if (fraction === 0) return
      bytes[length++] = point
      for (let unit = 1e5; fraction > 0; unit /= 10) {
        const digit = Math.floor(fraction / unit)
        bytes[length++] = zero + digit
        fraction -= digit * unit
      }
    },
    /** Writes a time, given in milliseconds since 1970. Its year must have four digits. */
    timestamp: (ms: number) => {
      makeRoom(roomOfCell)
      const today = Math.floor(ms / dayMs)
      if (today !== day) {
        const text = new Date(today * dayMs).toISOString()
        if (text.length > 24) return ascii(new Date(ms).toISOString())
        day = today
        year = word(text.slice(0, 4))
        month = word(text.slice(4, 8))
        date = word(text.slice(8, 12))
      }
      const inDay = ms - today * dayMs
      const seconds = Math.floor(inDay / 1_000)
      const tens = Math.floor(seconds / 600)
      view.setUint32(length, year)
      view.setUint32(length + 4, month)
      view.setUint32(length + 8, date)
      view.setUint32(length + 11, hourAndTen[tens] ?? 0)
      view.setUint32(length + 15, minuteAndSecond[seconds - tens * 600] ?? 0)
      view.setUint32(length + 19, milliseconds[inDay - seconds * 1_000] ?? 0)
      bytes[length + 23] = 0x5a
      length += 24
    },
    /**
     * Writes a UTF-8 string. Strings that a spreadsheet would run as a formula get a leading apostrophe. Empty strings
     * are quoted.
     */
    text: (source: TextSource, start: number, end: number) => {
      makeRoom(2 * (end - start) + roomOfCell)
      const begin = length
      const isFormula = beginsFormula(source.bytes, start, end)
      if (isFormula) bytes[length++] = apostrophe
      let done = start
      for (; done < end; done++) {
        const byte = source.bytes[done] ?? 0
        if (byte === comma || byte === quote || byte === lineFeed || byte === carriageReturn) break
        bytes[length++] = byte
      }
      if (done === end && end > start) return
      // The text needs quotes, so writing starts again.
      length = begin
      bytes[length++] = quote
      if (isFormula) bytes[length++] = apostrophe
      quoted(source, start, end)
      bytes[length++] = quote
    },
  }
}
