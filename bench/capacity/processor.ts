// Reads the CPU time of the databases and services on this machine, as Linux counts it.

import { readdir, readFile, readlink } from 'node:fs/promises'

const tickMs = 10

type Stat = { pid: number; parent: number; ownMs: number; childrenMs: number }

const readStat = async (pid: string): Promise<Stat | undefined> => {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  // The name of the program is in parentheses and can contain anything.
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const of = (field: number) => fields[field - 3] ?? 0
  return { pid: Number(pid), parent: of(4), ownMs: (of(14) + of(15)) * tickMs, childrenMs: (of(16) + of(17)) * tickMs }
}

const readStats = async (): Promise<Stat[]> => {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  return (await Promise.all(pids.map(readStat))).filter((stat) => stat !== undefined)
}

/** Returns the port of a server. The postmaster's working directory is its data directory, which contains the port. */
const portOf = async (pid: number): Promise<number | undefined> => {
  const program = await readlink(`/proc/${pid}/exe`).catch(() => '')
  if (!program.endsWith('/postgres')) return undefined
  const [first, , , port] = (await readFile(`/proc/${pid}/cwd/postmaster.pid`, 'utf8').catch(() => '')).split('\n')
  return Number(first) > 0 && port !== undefined ? Number(port) : undefined
}

/** Returns the milliseconds of each PostgreSQL server so far, by its port. Includes processes that have ended. */
export const readDatabases = async (): Promise<Map<number, number>> => {
  const stats = await readStats()
  const databases = new Map<number, number>()
  const byPid = new Map(stats.map((stat) => [stat.pid, stat]))
  for (const stat of stats) {
    const port = await portOf(stat.pid)
    // A child has the working directory of its parent.
    if (port === undefined || (await portOf(stat.parent)) !== undefined) continue
    const children = stats.filter(({ parent }) => parent === stat.pid && byPid.has(parent))
    const ms = stat.ownMs + stat.childrenMs + children.reduce((sum, { ownMs }) => sum + ownMs, 0)
    databases.set(port, ms)
  }
  return databases
}

export const readProcess = async (pid: number): Promise<number> => {
  const stat = await readStat(String(pid))
  return stat === undefined ? 0 : stat.ownMs + stat.childrenMs
}

/** Returns the CPU time of a PostgreSQL server by its postmaster's process ID. Includes processes that have ended. */
export const readDatabase = async (postmaster: number): Promise<number> => {
  const stats = await readStats()
  const own = stats.find(({ pid }) => pid === postmaster)
  const children = stats.filter(({ parent }) => parent === postmaster)
  return (own ? own.ownMs + own.childrenMs : 0) + children.reduce((sum, { ownMs }) => sum + ownMs, 0)
}
