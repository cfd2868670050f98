import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

export type Sample = {
  minutes: number
  megabytes: number
  heapMegabytes: number
  databaseMegabytes: number
  /** Of the largest process that writes an export. */
  exportMegabytes: number
  waiting: number
}

const everyMs = 5_000

const statusOf = (pid: number) => readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')

/** A line of the status in MB; where it cannot be told, no limit holds. */
const megabytesOf = (status: string, name: 'VmRSS' | 'RssAnon' | 'RssShmem'): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1_024

/** One that has ended meanwhile has no memory. */
const isOfDatabase = (status: string) => status.startsWith('Name:\tpostgres') && status.includes('RssAnon')

/** What its processes hold alone, and what they share, of which each has touched a part. */
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

/** Jobs that are due and wait. */
const countWaiting = (metrics: string): number => {
  const lines = metrics.matchAll(/^earshot_jobs\{[^}]*state="waiting"[^}]*\} (\d+)/gm)
  return [...lines].reduce((sum, [, count]) => sum + Number(count), 0)
}

/** Memory and the queue, looked at every few seconds until the end. */
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
 * By which the least that is held grows in a minute, from the second third of the time to the last; the first is for
 * caches to fill. What is never given back raises the least; what a collection of garbage takes and gives back, or a
 * generation that was made larger for a while, does not.
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

/** Whatever is due has been worked through. */
export const untilIdle = async (origin: string): Promise<void> => {
  while (countWaiting(await readMetrics(origin)) > 0) await sleep(2_000)
}
