import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

export type Sample = { minutes: number; megabytes: number; databaseMegabytes: number; waiting: number }

const everyMs = 5_000

const statusOf = (pid: number) => readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')

/** What a process alone holds, in MB; memory shared between those of the database is counted once, by halves. */
const ownMegabytes = async (pid: number): Promise<number | undefined> => {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')
  const kilobytes = /^Pss:\s+(\d+)/m.exec(rollup)?.[1]
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1_024
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

/** Jobs that are due and wait, as `/metrics` tells them. */
const countWaiting = async (origin: string): Promise<number> => {
  const text = await (await fetch(`${origin}/metrics`)).text()
  const lines = text.matchAll(/^earshot_jobs\{[^}]*state="waiting"[^}]*\} (\d+)/gm)
  return [...lines].reduce((sum, [, count]) => sum + Number(count), 0)
}

/** Memory and the queue, looked at every few seconds until the end. */
export const watch = async (pid: number, origin: string, until: number): Promise<Sample[]> => {
  const samples: Sample[] = []
  const startedAt = performance.now()
  while (performance.now() < until) {
    const below = await listDescendants(pid)
    const names = await Promise.all(below.map((child) => statusOf(child)))
    const database = below.filter((_, at) => names[at]?.startsWith('Name:\tpostgres'))
    const held = await Promise.all(database.map(ownMegabytes))
    samples.push({
      minutes: (performance.now() - startedAt) / 60_000,
      // Where it cannot be told, no limit holds. A connection of the database may have ended meanwhile.
      megabytes: (await ownMegabytes(pid)) ?? Number.NaN,
      databaseMegabytes: held.reduce<number>((sum, one) => sum + (one ?? 0), 0),
      waiting: await countWaiting(origin),
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
  while ((await countWaiting(origin)) > 0) await sleep(2_000)
}
