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

/** The median slope between any two (Theil and Sen), which a collection of garbage here and there does not move. */
export const slopeOf = (points: { x: number; y: number }[]): number => {
  const slopes: number[] = []
  for (const [at, a] of points.entries()) {
    for (const b of points.slice(at + 1)) slopes.push((b.y - a.y) / (b.x - a.x))
  }
  return slopes.toSorted((a, b) => a - b)[slopes.length >> 1] ?? Number.NaN
}

/** Whatever is due has been worked through. */
export const untilIdle = async (origin: string): Promise<void> => {
  while (countWaiting(await readMetrics(origin)) > 0) await sleep(2_000)
}
