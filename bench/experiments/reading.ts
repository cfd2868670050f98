// Measures the cost of reading an experiment with twenty outcomes compared with computing it from all rows, and how
// fast conversations are counted.

import { countAll } from '../../server/experiments/observations/counter-loop.ts'
import { judge, millisecondsOf, print } from '../report.ts'
import { median } from '../servers.ts'
import { answerFromRows, differences } from './from-rows.ts'
import type { Stored } from './stored.ts'

const reads = 20

/** Stores conversations with their results, and counts them. */
const storeAndCount = async (stored: Stored, range: { from: number; to: number; of: number }) => {
  const storing = await millisecondsOf(() => stored.insert(range))
  print(`${range.to - range.from} conversations are stored with their results in ${(storing / 1_000).toFixed(0)} s`)
  const before = process.cpuUsage()
  const ms = await millisecondsOf(() => countAll(stored.deps))
  const { user, system } = process.cpuUsage(before)
  const rate = (range.to - range.from) / (ms / 1_000)
  const share = ((user + system) / 1_000 / ms) * 100
  print(`${rate.toFixed(0)} of them are counted in a second; for ${share.toFixed(0)} % of that time JavaScript worked`)
}

const measure = async (stored: Stored, conversations: number): Promise<number> => {
  await stored.read()
  const times: number[] = []
  for (let round = 0; round < reads; round++) times.push(await millisecondsOf(stored.read))
  const get = median(times)
  let fromRows: Awaited<ReturnType<typeof answerFromRows>> | undefined
  const all = await millisecondsOf(async () => {
    fromRows = await answerFromRows(stored)
  })
  const shown = await stored.read()
  const units = shown.health.routing.units
  print(
    `${conversations} conversations of ${units} units: GET ${get.toFixed(1)} ms, from all rows ${all.toFixed(0)} ms`,
  )
  judge('GET is faster', all / get, { atLeast: 20 })
  const differing = differences(shown, fromRows)
  for (const line of differing.slice(0, 10)) print(`  ${line}`)
  judge('figures that differ by more than 1e-9', differing.length, { atMost: 0 }, '')
  return get
}

/** Measures reading and counting. All conversations are counted afterwards. */
export const measureReading = async (stored: Stored, conversations: number): Promise<void> => {
  const tenth = Math.ceil(conversations / 10)
  await storeAndCount(stored, { from: 0, to: tenth, of: conversations })
  const before = await measure(stored, tenth)
  await storeAndCount(stored, { from: tenth, to: conversations, of: conversations })
  const after = await measure(stored, conversations)
  judge('GET of ten times as many', after / before, { atMost: 2 })
}

/** Stores and counts all conversations without measuring. */
export const storeAll = (stored: Stored, conversations: number): Promise<void> =>
  storeAndCount(stored, { from: 0, to: conversations, of: conversations })
