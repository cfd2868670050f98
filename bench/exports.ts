// Measures exports of 100,000 calls and 20 monitors out of a million calls, from the order to the stored file, in a
// separate process as in the service. Each measurement alternates with its baseline, so that changes in the
// machine's speed affect both. Exits with 1 if a limit is exceeded.
// npm run bench -- exports [CALLS] [CALLS OF THE WINDOW] [PARTS]

import { fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makePlan } from '../server/exports/generation/generate.ts'
import { copyToNowhere } from './exports/baselines.ts'
import type { OtherWay } from './exports/other-way.ts'
import { type Bench, type Change, monitorCount, openBench } from './exports/setup.ts'
import { failedCount, judge, millisecondsOf, print } from './report.ts'
import { median } from './servers.ts'

const sizes = process.argv.slice(2).filter((text) => /^\d+$/.test(text))
const selected = process.argv.slice(2 + sizes.length)
const [calls = 1_000_000, windowCalls = 100_000] = sizes.map(Number)
const rounds = 5
const slowRounds = 3

const formats = {
  csv: { ratio: 2.4, megabytes: 200, withReasoning: 320 },
  parquet: { ratio: 3.4, megabytes: 400, withReasoning: 500 },
  xlsx: { ratio: 4.2, megabytes: 400, withReasoning: 500 },
} as const
const formatNames = Object.keys(formats) as (keyof typeof formats)[]

/** Measures each format, alternating with plain PostgreSQL. */
const measureFormats = async ({ client, window, run }: Bench, reasoning: boolean) => {
  for (const format of formatNames) {
    const bounds = formats[format]
    const name = `${format}${reasoning ? ' with reasoning' : ''}`
    const all: { floor: number; ms: number; peak: number }[] = []
    await run({ format, reasoning })
    for (let round = 0; round < (reasoning ? slowRounds : rounds); round++) {
      const floor = await millisecondsOf(() => copyToNowhere(client, window, reasoning))
      const { ms, peak, rows } = await run({ format, reasoning })
      if (rows !== windowCalls) throw new Error(`${rows} rows came`)
      all.push({ floor, ms, peak })
    }
    const [floor, ms] = [median(all.map((one) => one.floor)), median(all.map((one) => one.ms))]
    const ratio = median(all.map((one) => one.ms / one.floor))
    print(`${name}: ${ms.toFixed(0)} ms, COPY to /dev/null ${floor.toFixed(0)} ms, ${ratio.toFixed(2)} times`)
    if (!reasoning) judge('to COPY', ratio, { atMost: bounds.ratio })
    const peak = Math.max(...all.map((one) => one.peak))
    judge('memory', peak, { atMost: reasoning ? bounds.withReasoning : bounds.megabytes }, ' MB')
  }
}

/**
 * Measures lists of the same calls, newest first. With the same cells, they have the same bounds. With six columns of
 * monitors, as people choose them, results are only cells.
 */
const measureLists = async ({ client, window, monitorIds, runList }: Bench) => {
  const lists = { ...formats, jsonl: { ratio: 3, megabytes: 250 } }
  for (const format of Object.keys(lists) as (keyof typeof lists)[]) {
    const { ratio: atMost, megabytes } = lists[format]
    const all: { floor: number; ms: number; peak: number }[] = []
    await runList({ format })
    for (let round = 0; round < rounds; round++) {
      const floor = await millisecondsOf(() => copyToNowhere(client, window, false))
      const { ms, peak, rows } = await runList({ format })
      if (rows !== windowCalls) throw new Error(`${rows} rows came`)
      all.push({ floor, ms, peak })
    }
    const ratio = median(all.map((one) => one.ms / one.floor))
    print(
      `conversations as ${format}: ${median(all.map((one) => one.ms)).toFixed(0)} ms, ${ratio.toFixed(2)} times COPY`,
    )
    judge('to COPY', ratio, { atMost })
    judge('memory', Math.max(...all.map((one) => one.peak)), { atMost: megabytes }, ' MB')
  }
  const chosen: Record<string, string[]> = {
    'the default columns': [
      'channel',
      'startedAt',
      'agentId',
      'affected',
      'customerId',
      'companyId',
      'durationSeconds',
    ],
    'six columns of monitors': ['startedAt', 'agentId', ...monitorIds.slice(0, 6).map((id) => `result:${id}`)],
    costs: ['startedAt', 'cost'],
  }
  for (const [name, columns] of Object.entries(chosen)) {
    const { ms, peak } = await runList({ columns, monitorIds: [] })
    print(`conversations with ${name}: ${ms.toFixed(0)} ms, ${peak.toFixed(0)} MB`)
  }
}

const measureOtherWays = async ({ connection, deps, window: wanted, orderOf, run }: Bench) => {
  const compare = async (way: OtherWay['way'], format: 'csv' | 'xlsx', bound: { atLeast: number } | undefined) => {
    const all: { other: number; ms: number }[] = []
    for (let round = 0; round < slowRounds; round++) {
      const { ms } = await run({ format })
      const other = await millisecondsOf(async () => {
        const child = fork(join(import.meta.dirname, 'exports/other-way.ts'), { execArgv: [] })
        child.send({ way, wanted, connection, plan: makePlan(deps.db, orderOf({ format })) } satisfies OtherWay)
        const [code] = await once(child, 'exit')
        if (code !== 0) throw new Error(`${way} failed`)
      })
      all.push({ other, ms })
    }
    const [other, ms] = [median(all.map((one) => one.other)), median(all.map((one) => one.ms))]
    const faster = median(all.map((one) => one.other / one.ms))
    print(`${way}: ${other.toFixed(0)} ms; ${format}: ${ms.toFixed(0)} ms, ${faster.toFixed(2)} times faster`)
    if (bound) judge('faster', faster, bound)
  }
  const { sha256 } = await run({ format: 'csv' })
  const checkFile = async () => {
    const other = createHash('sha256').update(await readFile(join(wanted.folder, 'baseline.csv')))
    if (other.digest('base64') !== sha256) throw new Error('The cursor wrote another file')
  }
  // The baseline is one query that joins each monitor's newest results as columns. It has two forms.
  await compare('cursor', 'csv', { atLeast: 5 })
  await checkFile()
  await compare('tuned cursor', 'csv', undefined)
  await checkFile()
  // The baselines are a query for each call, and exceljs's streaming writer.
  await compare('call by call', 'csv', { atLeast: 9 })
  await compare('exceljs', 'xlsx', { atLeast: 6 })
}

const measureFilters = async ({ monitorIds, several }: Bench) => {
  const everything = await several({}, rounds)
  const monitors = monitorIds.map((id, at) => ({ id, result: at < 2 ? ('affected' as const) : ('all' as const) }))
  const changes: Record<string, Change> = {
    'a key of the metadata': { filter: { metadata: [{ key: 'tier', op: 'eq', value: 'gold' }] } },
    'two monitors affected': { monitors },
  }
  for (const [name, change] of Object.entries(changes)) {
    const { ms, rows } = await several(change, rounds)
    print(`${name} keeps ${rows} calls: ${ms.toFixed(0)} ms; all: ${everything.ms.toFixed(0)} ms`)
    judge('faster than everything', everything.ms / ms, { atLeast: 4 })
  }
}

/**
 * Checks that the time does not grow faster than the number of calls, by comparing the cost of each call between sizes.
 */
const judgeGrowth = (name: string, sizes: number[], times: number[]) => {
  print(`${name} ${sizes.join(', ')}: ${times.map((ms) => `${ms.toFixed(0)} ms`).join(', ')}`)
  const [before = 0, last = 0] = times.map((ms, at) => ms / (sizes[at] ?? 0)).slice(-2)
  judge('each of the last, to each of those before', last / before, { atMost: 1.1 })
}

const measureGrowth = async ({ several }: Bench) => {
  const counts = [windowCalls / 10, (windowCalls * 3) / 10, windowCalls]
  const byCalls: number[] = []
  for (const count of counts) byCalls.push((await several({ count }, rounds)).ms)
  judgeGrowth('calls', counts, byCalls)
  const monitors = [1, 5, monitorCount]
  const byMonitors: number[] = []
  for (const monitorsAsked of monitors) byMonitors.push((await several({ monitorsAsked }, rounds)).ms)
  judgeGrowth('monitors', monitors, byMonitors)
  const places: number[] = []
  const count = windowCalls / 10
  for (const from of [0, calls / 2, calls - count]) places.push((await several({ from, count }, rounds)).ms)
  print(
    `${count} calls at the beginning, in the middle, at the end: ${places.map((ms) => `${ms.toFixed(0)} ms`).join(', ')}`,
  )
  judge('the slowest to the fastest', Math.max(...places) / Math.min(...places), { atMost: 1.5 })
}

/** Measures the latency of requests, one every five milliseconds, while something runs. */
const requestsWhile = async ({ url, key }: Bench, work: () => Promise<unknown>): Promise<number[]> => {
  const child = fork(join(import.meta.dirname, 'exports/requests.ts'), { execArgv: [] })
  child.send({ url, key })
  await sleep(1_000)
  await work()
  child.send('end')
  const [latencies] = (await once(child, 'message')) as [number[]]
  // The requests of the first second only warm up the service.
  return latencies.slice(200).sort((a, b) => a - b)
}

const measureRequests = async (bench: Bench) => {
  const p99 = (latencies: number[]) => latencies[Math.floor(latencies.length * 0.99)] ?? 0
  const idle = p99(await requestsWhile(bench, () => sleep(8_000)))
  for (const format of formatNames) {
    const busy = await requestsWhile(bench, async () => {
      for (const endsAt = performance.now() + 8_000; performance.now() < endsAt; ) await bench.run({ format })
    })
    print(`p99 of a GET while ${format} is exported: ${p99(busy).toFixed(2)} ms, idle ${idle.toFixed(2)} ms`)
    judge('to idle', p99(busy) / idle, { atMost: 6 })
  }
}

const measureTenfold = async ({ run }: Bench) => {
  for (const format of formatNames) {
    const { ms, peak, rows } = await run({ format, from: 0, count: calls })
    print(`${rows} calls as ${format}: ${ms.toFixed(0)} ms`)
    judge('memory', peak, { atMost: formats[format].megabytes }, ' MB')
  }
}

const parts: Record<string, (bench: Bench) => Promise<void>> = {
  formats: (bench) => measureFormats(bench, false),
  reasoning: (bench) => measureFormats(bench, true),
  lists: measureLists,
  filters: measureFilters,
  growth: measureGrowth,
  requests: measureRequests,
  tenfold: measureTenfold,
  others: measureOtherWays,
}
const unknown = selected.filter((name) => !Object.hasOwn(parts, name))
if (unknown.length > 0) {
  print(`There is no part ${unknown.join(', ')}; there are ${Object.keys(parts).join(', ')}.`)
  process.exit(2)
}

const bench = await openBench(calls, windowCalls)
try {
  await bench.insertWindow()
  const alone = await bench.several({}, rounds)
  await bench.insertOthers()
  const among = await bench.several({}, rounds)
  print(`${windowCalls} calls and ${monitorCount} monitors, nothing else stored: ${alone.ms.toFixed(0)} ms as csv`)
  print(`the same among ${calls} calls and ${calls * monitorCount} results: ${among.ms.toFixed(0)} ms`)
  judge('to nothing else stored', among.ms / alone.ms, { atMost: 1.25 })
  for (const [name, measure] of Object.entries(parts)) {
    if (selected.length === 0 || selected.includes(name)) await measure(bench)
  }
  print(failedCount() === 0 ? 'All bounds hold.' : `${failedCount()} bounds do not hold.`)
} finally {
  await bench.close()
}
process.exitCode = failedCount() > 0 ? 1 : 0
