/**
 * Writes the XML of a sheet into blocks of bytes. Creating a string for each of ten million cells would take longer
 * than everything else, so text is escaped while it is copied from the database's bytes to the file's.
 */

import { dayMs } from '../../platform/durations.ts'
import { copy, escapedBytes, writeEscaped } from './xlsx-text.ts'

const blockBytes = 2 ** 21

/** Every cell except text needs fewer bytes than this. */
const cellBytes = 128

/** The length is in UTF-16 code units. Excel considers a file with a longer cell damaged. */
export const maxCellLength = 32_767

/** The cell styles, by their index in `xlsx-parts.ts`. */
const styles = { plain: 0, timestamp: 1, heading: 2 } as const

/** The number of days from 1899-12-30, the epoch of serial dates, to 1970. */
const epochSerial = 25_569
/**
 * The first serial date is 1900-03-01. Spreadsheets disagree about earlier dates, because Excel assumes that 1900 had a
 * February 29.
 */
const firstSerial = 61
/** The last date in Excel is 9999-12-31. */
const lastSerial = 2_958_465

const latin1 = (text: string) => new Uint8Array(Buffer.from(text, 'latin1'))

/** Returns the column name, `A` to `XFD`, for an index that starts at 0. */
export const columnLetters = (column: number): string =>
  (column >= 26 ? columnLetters(Math.floor(column / 26) - 1) : '') + String.fromCharCode(65 + (column % 26))

const tails = {
  number: latin1('"><v>'),
  timestamp: latin1(`" s="${styles.timestamp}"><v>`),
  shared: latin1('" t="s"><v>'),
  endOfValue: latin1('</v></c>'),
  text: latin1('" t="inlineStr"><is><t>'),
  spacedText: latin1('" t="inlineStr"><is><t xml:space="preserve">'),
  heading: latin1(`" s="${styles.heading}" t="inlineStr"><is><t xml:space="preserve">`),
  endOfText: latin1('</t></is></c>'),
}

const hexDigits = latin1('0123456789abcdef')

export class SheetBytes {
  /** The number of strings that were too long for a cell. */
  cutCells = 0
  /** The completed blocks. */
  full: Buffer[] = []
  #block = Buffer.allocUnsafeSlow(blockBytes)
  #at = 0
  #prefixes: Uint8Array[]
  #row = new Uint8Array(0)

  constructor(columns: number) {
    this.#prefixes = Array.from({ length: columns }, (_, column) => latin1(`<c r="${columnLetters(column)}`))
  }

  /** Returns all bytes written so far, including the incomplete block. */
  takeAll(): Buffer[] {
    this.#endBlock()
    return this.full.splice(0)
  }

  xml(text: string): void {
    const bytes = Buffer.from(text)
    this.#reserve(bytes.length)
    this.#block.set(bytes, this.#at)
    this.#at += bytes.length
  }

  /** Starts a row. Row numbers start at 1. */
  startRow(row: number): void {
    this.#row = latin1(String(row))
    this.xml(`<row r="${row}">`)
  }

  endRow(): void {
    this.xml('</row>')
  }

  integer(column: number, value: number): void {
    this.#open(column, tails.number)
    this.#digits(value)
    this.#close(tails.endOfValue)
  }

  /** Writes a string as an index into the shared strings. */
  shared(column: number, index: number): void {
    this.#open(column, tails.shared)
    this.#digits(index)
    this.#close(tails.endOfValue)
  }

  number(column: number, value: number): void {
    // XLSX can only represent finite numbers.
    if (!Number.isFinite(value)) return
    this.#open(column, tails.number)
    // Most scores have few decimals, and are written without creating a string. The condition only holds if the number
    // is exact.
    const tenThousandths = Math.round(value * 1e4)
    if (tenThousandths / 1e4 === value && Math.abs(tenThousandths) < 1e9) this.#decimal(tenThousandths)
    else this.#at += this.#block.write(String(value), this.#at, 'latin1')
    this.#close(tails.endOfValue)
  }

  /** Writes a time, given in milliseconds since 1970. Times that spreadsheets can't represent become text. */
  timestamp(column: number, ms: number): void {
    const day = Math.floor(ms / dayMs)
    const serial = day + epochSerial
    if (serial < firstSerial || serial > lastSerial) {
      const text = Buffer.from(new Date(ms).toISOString())
      this.text(column, text, 0, text.length)
      return
    }
    this.#open(column, tails.timestamp)
    this.#digits(serial)
    // Nine decimals of a day have a precision of 86 µs. They are rounded up, because some programs truncate
    // milliseconds.
    this.#block[this.#at++] = 0x2e
    this.#nineDigits(Math.ceil(((ms - day * dayMs) * 1e9) / dayMs))
    this.#close(tails.endOfValue)
  }

  /** Writes a UUID from its 16 bytes. */
  uuid(column: number, source: Uint8Array, start: number): void {
    this.#open(column, tails.text)
    const block = this.#block
    let at = this.#at
    for (let i = 0; i < 16; i++) {
      if (i === 4 || i === 6 || i === 8 || i === 10) block[at++] = 0x2d
      // A UUID has 16 bytes, so there are 16 of them to write.
      const byte = source[start + i] as number
      block[at++] = hexDigits[byte >> 4] as number
      block[at++] = hexDigits[byte & 15] as number
    }
    this.#at = at
    this.#close(tails.endOfText)
  }

  /** Writes a UTF-8 string. The type of its cell is text, so it is never a formula. */
  text(column: number, source: Buffer, start: number, length: number): void {
    // Readers would otherwise drop white space at the start and end.
    const spaced = length > 0 && ((source[start] ?? 0) <= 0x20 || (source[start + length - 1] ?? 0) <= 0x20)
    this.#open(column, spaced ? tails.spacedText : tails.text)
    this.#fitted(source, start, length)
    this.#close(tails.endOfText)
  }

  heading(column: number, value: string): void {
    const bytes = Buffer.from(value)
    this.#open(column, tails.heading)
    this.#fitted(bytes, 0, bytes.length)
    this.#close(tails.endOfText)
  }

  /** Writes an item of the shared strings. */
  sharedItem(source: Buffer): void {
    this.xml('<si><t xml:space="preserve">')
    this.#fitted(source, 0, source.length)
    this.xml('</t></si>')
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes > blockBytes) this.#endBlock()
  }

  #endBlock(): void {
    if (this.#at > 0) this.full.push(this.#block.subarray(0, this.#at))
    this.#block = Buffer.allocUnsafeSlow(blockBytes)
    this.#at = 0
  }

  #open(column: number, tail: Uint8Array): void {
    this.#reserve(cellBytes)
    const block = this.#block
    // The constructor has created a prefix for each column.
    let at = copy(block, this.#at, this.#prefixes[column] as Uint8Array)
    at = copy(block, at, this.#row)
    this.#at = copy(block, at, tail)
  }

  #close(tail: Uint8Array): void {
    this.#at = copy(this.#block, this.#at, tail)
  }

  #digits(value: number): void {
    const block = this.#block
    let rest = value
    if (rest < 0) {
      block[this.#at++] = 0x2d
      rest = -rest
    }
    let length = 1
    for (let limit = 10; rest >= limit; limit *= 10) length++
    for (let at = this.#at + length - 1; at >= this.#at; at--) {
      const upper = Math.floor(rest / 10)
      block[at] = 48 + rest - upper * 10
      rest = upper
    }
    this.#at += length
  }

  #nineDigits(value: number): void {
    const block = this.#block
    let rest = value
    for (let at = this.#at + 8; at >= this.#at; at--) {
      const upper = (rest / 10) | 0
      block[at] = 48 + rest - upper * 10
      rest = upper
    }
    this.#at += 9
  }

  #decimal(tenThousandths: number): void {
    const block = this.#block
    if (tenThousandths < 0) block[this.#at++] = 0x2d
    const value = Math.abs(tenThousandths)
    const whole = Math.floor(value / 1e4)
    this.#digits(whole)
    let rest = value - whole * 1e4
    if (rest === 0) return
    block[this.#at++] = 0x2e
    for (let unit = 1000; rest > 0; unit /= 10) {
      const digit = (rest / unit) | 0
      block[this.#at++] = 48 + digit
      rest -= digit * unit
    }
  }

  #fitted(source: Buffer, start: number, length: number): void {
    // A string never has more code units than bytes.
    if (length <= maxCellLength) {
      this.#escaped(source, start, start + length)
      return
    }
    let text = source.toString('utf8', start, start + length)
    if (text.length > maxCellLength) {
      this.cutCells++
      const splitsPair = text.charCodeAt(maxCellLength - 1) >> 10 === 0xd800 >> 10
      text = text.slice(0, splitsPair ? maxCellLength - 1 : maxCellLength)
    }
    const bytes = Buffer.from(text)
    this.#escaped(bytes, 0, bytes.length)
  }

  #escaped(source: Buffer, start: number, end: number): void {
    this.#reserve((end - start) * escapedBytes + cellBytes)
    this.#at = writeEscaped(this.#block, this.#at, source, start, end)
  }
}
