import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

export type Sample = {
  minutes: number
  megabytes: number
  heapMegabytes: number
  databaseMegabytes: number
  /** The memory of the largest process that is writing an export. */
  exportMegabytes: number
  waiting: number
}

const everyMs = 5_000

const statusOf = (pid: number) => readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')

/** Returns a line of the status in MB, or NaN if it is missing, which exceeds every limit. */
const megabytesOf = (status: string, name: 'VmRSS' | 'RssAnon' | 'RssShmem'): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1_024

/** Returns whether the status is that of a database process. A process that has ended has no memory. */
const isOfDatabase = (status: string) => status.startsWith('Name:\tpostgres') && status.includes('RssAnon')

/** Returns the memory of the database's processes, and the part of their shared memory that is in use. */
const databaseMegabytes = (statuses: string[]): number => {
  const shared = Math.max(...statuses.map((status) => megabytesOf(status, 'RssShmem')))
  return statuses.reduce((sum, status) => sum + megabytesOf(status, 'RssAnon'), shared)
}

const listDescendants = async (root: number): Promise<number[]> => {
  const parents = new Map<number, number>()
  for (const name of await readdir('/proc')) {
    const parent = /^PPid:\s+(\d+)/m.exec(/^\d+$/.test(name) ? await statusOf(Number(name)) : '')?.[1]
    if (parent) parents.set(Number(name), Number(parent))
  }
  const isBelow = (pid: number | undefined): boolean => pid === root || (pid !== undefined && isBelow(parents.get(pid)))
  return [...parents.keys()].filter((pid) => pid !== root && isBelow(pid))
}

const readMetrics = async (origin: string): Promise<string> => (await fetch(`${origin}/metrics`)).text()

/** Returns how many jobs are due and waiting. */
const countWaiting = (metrics: string): number => {
  const lines = metrics.matchAll(/^earshot_jobs\{[^}]*state="waiting"[^}]*\} (\d+)/gm)
  return [...lines].reduce((sum, [, count]) => sum + Number(count), 0)
}

/** Records memory and the queue every few seconds until the end. */
export const watch = async (pid: number, origin: string, until: number): Promise<Sample[]> => {
  const samples: Sample[] = []
  const startedAt = performance.now()
  while (performance.now() < until) {
    const statuses = await Promise.all((await listDescendants(pid)).map(statusOf))
    const metrics = await readMetrics(origin)
    const exporting = statuses.filter((status) => !isOfDatabase(status) && status.includes('VmRSS'))
    samples.push({
      minutes: (performance.now() - startedAt) / 60_000,
      megabytes: megabytesOf(await statusOf(pid), 'VmRSS'),
      heapMegabytes: Number(/^nodejs_heap_size_used_bytes (\d+)/m.exec(metrics)?.[1]) / 1_048_576,
      databaseMegabytes: databaseMegabytes(statuses.filter(isOfDatabase)),
      exportMegabytes: Math.max(0, ...exporting.map((status) => megabytesOf(status, 'VmRSS'))),
      waiting: countWaiting(metrics),
    })
    await sleep(everyMs)
  }
  return samples
}

/**
 * Returns how much the minimum of the memory grows each minute from the second to the last third of the time. The first
 * third fills caches. A leak raises the minimum, but garbage collection and a temporarily larger generation don't.
 */
export const growthOf = (samples: Sample[]): number => {
  const [from, to] = [samples.at(0)?.minutes ?? Number.NaN, samples.at(-1)?.minutes ?? Number.NaN]
  const third = (to - from) / 3
  const leastOf = (number: number) =>
    Math.min(
      ...samples
        .filter(({ minutes }) => minutes - from >= (number - 1) * third && minutes - from <= number * third)
        .map(({ megabytes }) => megabytes),
    )
  return (leastOf(3) - leastOf(2)) / third
}

/** Waits until everything that is due is done. */
export const untilIdle = async (origin: string): Promise<void> => {
  while (countWaiting(await readMetrics(origin)) > 0) await sleep(2_000)
}
