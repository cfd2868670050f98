// Builds the sums of days: reads their conversations, results, and metrics, and adds them up.

import { setImmediate as pause } from 'node:timers/promises'
import { batchesOf } from '../../platform/batches.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { measuredSounds } from '../../sound-measures/names.ts'
import { signalNames } from '../../transcripts/signals/paths.ts'
import { countStarted, type Grain, openGrains, packValues, type Values } from './packed.ts'
import {
  countSounds,
  insertGroups,
  listCountedMonitors,
  listMetricKeys,
  type MetricKeys,
  omittedMetrics,
  type Packed,
  type PackedRow,
  readJudged,
  readMetrics,
  readResults,
  readSounds,
  readStarted,
  readValues,
} from './queries.ts'

const valuesOfConversations = ['duration', 'delay', ...signalNames.map((name) => `signal:${name}`)]

/** The maximum number of values that one statement reads, so that it finishes before its time limit. */
const mostValues = 1_000_000

/**
 * The maximum number of metric keys in a day. With more, for example one for each conversation, the sums would take
 * more space than the conversations.
 */
const mostKeys = 500

type Subject = Values & { subject: string }

const allNumbers = (count: number): Int32Array => Int32Array.from({ length: count }, (_, n) => n)

/** Keeps only conversations that have a value. */
const known = (subject: string, numbers: Int32Array, values: Float64Array): Subject => {
  const isKnown = (_: number, at: number) => !Number.isNaN(values[at])
  return { subject, numbers: numbers.filter(isKnown), values: values.filter((value) => !Number.isNaN(value)) }
}

/** Reads one column from the result of `readValues`. */
const columnOf = (packed: Buffer, count: number, at: number, columns: number): Float64Array =>
  Float64Array.from({ length: count }, (_, n) => packed.readDoubleBE((n * columns + at) * 8))

/** Reads the columns from the result of `readSounds`. */
const readColumns = (packed: Buffer, subjects: string[]): Subject[] => {
  const size = 4 + 8 * subjects.length
  const count = packed.byteLength / size
  const numbers = Int32Array.from({ length: count }, (_, at) => packed.readInt32BE(at * size))
  return subjects.map((subject, column) =>
    known(
      subject,
      numbers,
      Float64Array.from({ length: count }, (_, at) => packed.readDoubleBE(at * size + 4 + column * 8)),
    ),
  )
}

/** Reads records that consist of a number and a value. */
const readPairs = ({ subject, packed }: Packed): Subject => {
  const count = packed.byteLength / 12
  return {
    subject,
    numbers: Int32Array.from({ length: count }, (_, at) => packed.readInt32BE(at * 12)),
    values: Float64Array.from({ length: count }, (_, at) => packed.readDoubleBE(at * 12 + 4)),
  }
}

/** Reads records that consist of a number, a result, and a score. */
const readScored = ({ subject: monitorId, packed }: Packed): Subject[] => {
  const count = packed.byteLength / 14
  const numbers = Int32Array.from({ length: count }, (_, at) => packed.readInt32BE(at * 14))
  const results = Int16Array.from({ length: count }, (_, at) => packed.readInt16BE(at * 14 + 4))
  const scores = Float64Array.from({ length: count }, (_, at) => packed.readDoubleBE(at * 14 + 6))
  const isJudged = (_: number, at: number) => (results[at] ?? -1) >= 0
  return [
    {
      subject: `rate:${monitorId}`,
      numbers: numbers.filter(isJudged),
      hits: Uint8Array.from(results.filter((result) => result >= 0)),
    },
    known(`score:${monitorId}`, numbers, scores),
  ]
}

/** Divides keys into groups that one statement can read. */
const batchesOfKeys = (counts: Map<string, number>): string[][] => {
  const batches: string[][] = []
  let room = 0
  for (const [key, count] of counts) {
    if (room < count || batches.at(-1)?.length === mostKeys) {
      batches.push([])
      room = mostValues
    }
    batches.at(-1)?.push(key)
    room -= count
  }
  return batches
}

/** Reads all subjects, a few at a time. */
async function* readSubjects(
  db: Db,
  org: OrgId,
  days: Date[],
  { count, metrics: { counts, omitted } }: { count: number; metrics: MetricKeys },
): AsyncGenerator<Subject[]> {
  const atOnce = Math.max(1, Math.floor(mostValues / count))
  yield [{ subject: 'volume', numbers: allNumbers(count) }]
  for (const subjects of batchesOf(valuesOfConversations, atOnce)) {
    const packed = await readValues(db, org, days, subjects)
    yield subjects.map((subject, at) => known(subject, allNumbers(count), columnOf(packed, count, at, subjects.length)))
  }
  const sounds = await countSounds(db, org, days)
  for (const names of sounds === 0 ? [] : batchesOf(measuredSounds, Math.max(1, Math.floor(mostValues / sounds)))) {
    const packed = await readSounds(db, org, days, names)
    yield readColumns(
      packed,
      names.map((name) => `sound:${name}`),
    )
  }
  for (const keys of batchesOfKeys(counts)) yield (await readMetrics(db, org, days, { keys, omitted })).map(readPairs)
  for (const monitorIds of batchesOf(await listCountedMonitors(db, org), atOnce)) {
    yield (await readResults(db, org, days, monitorIds)).flatMap(readScored)
    yield (await readJudged(db, org, days, monitorIds, 'cost')).map(readPairs)
    yield (await readJudged(db, org, days, monitorIds, 'latency')).map(readPairs)
  }
}

/** Sums a subject at each grain. Other work continues in between. */
async function* sumSubject(grains: Grain[], days: Date[], { subject, ...values }: Subject): AsyncGenerator<PackedRow> {
  if (values.numbers.length === 0) return
  for (const grain of grains) {
    for (const [at, packed] of packValues(grain, values)) {
      const day = days[at]
      if (day) yield { subject, grain: grain.grain, day, ...packed }
    }
    await pause()
  }
}

/** Counts the days that have conversations, and yields the rows of a few subjects at a time. */
export async function* countDays(trx: Db, org: OrgId, days: Date[]): AsyncGenerator<PackedRow[]> {
  await insertGroups(trx, org, days)
  const started = await readStarted(trx, org, days)
  const grains = openGrains(started)
  const metrics = await listMetricKeys(trx, org, days, mostKeys)
  if (metrics.omitted.length > 0) {
    const nothing = { hours: Buffer.alloc(0), hourSteps: null, daySteps: null }
    yield metrics.omitted.map((day) => ({ subject: omittedMetrics, grain: 0, day, ...nothing }))
  }
  for await (const subjects of readSubjects(trx, org, days, { count: countStarted(started), metrics })) {
    const rows: PackedRow[] = []
    for (const subject of subjects) {
      for await (const row of sumSubject(grains, days, subject)) rows.push(row)
    }
    if (rows.length > 0) yield rows
  }
}
