// Reads and writes the packed columns of `analytics_days`. Migration 0051 describes their layout. Pure.

import { limitedValue, stepOfValue } from '../../platform/db/rounded-values.ts'
import type { PackedRow } from './queries.ts'

/** The hour is -1 in the sums of whole days. */
export type HourSums = { group: number; hour: number; count: number; hits: number; sum: number; squares: number }

const sumsLength = 30

/** Calls back for each group and hour. Reuses one object for all calls. */
export const readHours = (hours: Buffer, take: (sums: HourSums) => void): void => {
  const view = new DataView(hours.buffer, hours.byteOffset, hours.byteLength)
  const sums = { group: 0, hour: 0, count: 0, hits: 0, sum: 0, squares: 0 }
  for (let at = 0; at < hours.byteLength; at += sumsLength) {
    sums.group = view.getInt32(at)
    sums.hour = view.getInt16(at + 4)
    sums.count = view.getInt32(at + 6)
    sums.hits = view.getInt32(at + 10)
    sums.sum = view.getFloat64(at + 14)
    sums.squares = view.getFloat64(at + 22)
    take(sums)
  }
}

/**
 * Calls `choose` for each group and hour. If it returns a function, calls that function for each rounded value and its
 * count. Otherwise, skips the values.
 */
export const readSteps = (
  steps: Buffer,
  choose: (group: number, hour: number) => ((step: number, count: number) => void) | undefined,
): void => {
  const view = new DataView(steps.buffer, steps.byteOffset, steps.byteLength)
  let at = 0
  while (at < steps.byteLength) {
    const take = choose(view.getInt32(at), view.getInt16(at + 4))
    const end = at + 10 + view.getInt32(at + 6) * 6
    if (take) for (let value = at + 10; value < end; value += 6) take(view.getInt16(value), view.getInt32(value + 2))
    at = end
  }
}

const isNear = (a: number, b: number, size: number): boolean => Math.abs(a - b) <= 1e-9 * (1 + size)

/** Returns whether two columns have the same counts, and nearly the same sums. */
export const haveSameSums = (one: Buffer, other: Buffer): boolean => {
  const listOf = (hours: Buffer) => {
    const list: HourSums[] = []
    readHours(hours, (sums) => list.push({ ...sums }))
    return list
  }
  const [ofOne, ofOther] = [listOf(one), listOf(other)]
  return (
    ofOne.length === ofOther.length &&
    ofOne.every((a, at) => {
      const b = ofOther[at]
      if (!b || a.group !== b.group || a.hour !== b.hour || a.count !== b.count || a.hits !== b.hits) return false
      // Positive and negative values can cancel out, so this compares with an upper bound for the sum of their absolute
      // values.
      return isNear(a.sum, b.sum, Math.sqrt(a.count * a.squares)) && isNear(a.squares, b.squares, a.squares)
    })
  )
}

/** The cells that values are summed in, sorted. A cell is a group and an hour with conversations. */
export type Grain = {
  grain: number
  /** The cell of each conversation, by its number. */
  cellOf: Int32Array
  /** The day, group, and hour of each cell. */
  cells: { day: number; group: number; hour: number }[]
  /** For each cell, the first cell with the same day and group. */
  firstOf: Int32Array
}

/** The grain with all columns has many groups, so it only has daily sums, without percentiles. */
const everything = 7
const grains = [0, 4, 2, 1, everything]

/** The number of bytes that `readStarted` returns for each conversation. */
const startedLength = 20

export const countStarted = (started: Buffer): number => started.byteLength / startedLength

/** Parses the bytes of `readStarted` and finds the cells of all conversations. */
export const openGrains = (started: Buffer): Grain[] => {
  const count = countStarted(started)
  return grains.map((grain, at) => {
    const isByDay = grain === everything
    const keys = new Float64Array(count)
    for (let n = 0; n < count; n++) {
      const slot = started.readInt32BE(n * startedLength)
      const group = grain === 0 ? 0 : started.readInt32BE(n * startedLength + at * 4)
      keys[n] = (Math.floor(slot / 24) * 2 ** 31 + group) * 24 + (isByDay ? 0 : slot % 24)
    }
    const sorted = [...new Set(keys)].sort((a, b) => a - b)
    const cellOfKey = new Map(sorted.map((key, cell) => [key, cell]))
    const cells = sorted.map((key) => {
      const dayAndGroup = Math.floor(key / 24)
      return { day: Math.floor(dayAndGroup / 2 ** 31), group: dayAndGroup % 2 ** 31, hour: isByDay ? -1 : key % 24 }
    })
    const firstOf = new Int32Array(cells.length)
    for (let cell = 1; cell < cells.length; cell++) {
      const [before, here] = [cells[cell - 1], cells[cell]]
      const isSame = before?.day === here?.day && before?.group === here?.group
      firstOf[cell] = isSame ? (firstOf[cell - 1] ?? 0) : cell
    }
    return { grain, cellOf: Int32Array.from(keys, (key) => cellOfKey.get(key) ?? 0), cells, firstOf }
  })
}

/**
 * The values of one subject: the numbers of the conversations, whether each is a hit, and its value. Rates have no
 * values.
 */
export type Values = { numbers: Int32Array; hits?: Uint8Array; values?: Float64Array }

/** Counts the rounded values of each cell. Returns the bytes of each day. */
const packSteps = ({ cells }: Grain, cellOfValue: (at: number) => number, steps: Int16Array, wholeDays: boolean) => {
  const keys = new Float64Array(steps.length)
  for (let at = 0; at < steps.length; at++) keys[at] = cellOfValue(at) * 65_536 + (steps[at] ?? 0) + 32_768
  keys.sort()
  const bytes = Buffer.alloc(keys.length * 16)
  const ends = new Map<number, { from: number; to: number }>()
  let [end, header, cellBefore, keyBefore, many] = [0, 0, -1, -1, 0]
  let count = 0
  const closeStep = () => {
    if (count > 0) end = bytes.writeInt32BE(count, end)
    count = 0
  }
  const closeCell = () => {
    closeStep()
    if (cellBefore >= 0) bytes.writeInt32BE(many, header + 6)
    const day = cells[cellBefore]?.day
    if (day !== undefined) ends.set(day, { from: ends.get(day)?.from ?? header, to: end })
    many = 0
  }
  for (const key of keys) {
    const cell = Math.floor(key / 65_536)
    if (cell !== cellBefore) {
      closeCell()
      const of = cells[cell]
      header = end
      bytes.writeInt32BE(of?.group ?? 0, end)
      bytes.writeInt16BE(wholeDays ? -1 : (of?.hour ?? 0), end + 4)
      end += 10
      cellBefore = cell
      keyBefore = -1
    }
    if (key !== keyBefore) {
      closeStep()
      end = bytes.writeInt16BE((key % 65_536) - 32_768, end)
      many += 1
      keyBefore = key
    }
    count += 1
  }
  closeCell()
  return new Map([...ends].map(([day, { from, to }]) => [day, Buffer.from(bytes.subarray(from, to))]))
}

/** Sums the values of each cell. Returns the bytes of each day. */
const packHours = ({ cellOf, cells }: Grain, { numbers, hits, values }: Values): Map<number, Buffer> => {
  const count = new Int32Array(cells.length)
  const hit = new Int32Array(cells.length)
  const sum = new Float64Array(cells.length)
  const squares = new Float64Array(cells.length)
  for (let at = 0; at < numbers.length; at++) {
    const cell = cellOf[numbers[at] ?? 0] ?? 0
    const value = limitedValue(values?.[at] ?? 0)
    count[cell] = (count[cell] ?? 0) + 1
    hit[cell] = (hit[cell] ?? 0) + (hits?.[at] ?? 0)
    sum[cell] = (sum[cell] ?? 0) + value
    squares[cell] = (squares[cell] ?? 0) + value * value
  }
  const ofDays = Map.groupBy(
    cells.flatMap((of, cell) => ((count[cell] ?? 0) > 0 ? [{ ...of, cell }] : [])),
    ({ day }) => day,
  )
  return new Map(
    [...ofDays].map(([day, of]) => {
      const bytes = Buffer.alloc(of.length * sumsLength)
      for (const [at, { group, hour, cell }] of of.entries()) {
        let end = bytes.writeInt32BE(group, at * sumsLength)
        end = bytes.writeInt16BE(hour, end)
        end = bytes.writeInt32BE(count[cell] ?? 0, end)
        end = bytes.writeInt32BE(hit[cell] ?? 0, end)
        end = bytes.writeDoubleBE(sum[cell] ?? 0, end)
        bytes.writeDoubleBE(squares[cell] ?? 0, end)
      }
      return [day, bytes]
    }),
  )
}

/** Sums the values of a subject at one grain. The days are the positions in the list of days that were read. */
export const packValues = (grain: Grain, given: Values): Map<number, Omit<PackedRow, 'subject' | 'grain' | 'day'>> => {
  const { numbers, values } = given
  const hours = packHours(grain, given)
  const none = { hourSteps: null, daySteps: null }
  if (!values || grain.grain === everything)
    return new Map([...hours].map(([day, bytes]) => [day, { hours: bytes, ...none }]))
  const steps = Int16Array.from(values, stepOfValue)
  const cellAt = (at: number) => grain.cellOf[numbers[at] ?? 0] ?? 0
  const hourSteps = packSteps(grain, cellAt, steps, false)
  const daySteps = packSteps(grain, (at) => grain.firstOf[cellAt(at)] ?? 0, steps, true)
  return new Map(
    [...hours].map(([day, bytes]) => [
      day,
      { hours: bytes, hourSteps: hourSteps.get(day) ?? null, daySteps: daySteps.get(day) ?? null },
    ]),
  )
}
