import { readFileSync } from 'node:fs'

const sampleEveryMs = 10

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // The process has ended between two checks.
    return ''
  }
}

/** Returns the peak memory in MB of a process that generates an export. The kernel tracks it. */
export const peakWhile = async <T>(work: Promise<T>): Promise<{ result: T; peak: number }> => {
  let peak = 0
  const timer = setInterval(() => {
    for (const pid of childrenOf(process.pid)) {
      if (!read(`/proc/${pid}/cmdline`).includes('generation/process.ts')) continue
      const kilobytes = Number(/VmHWM:\s+(\d+)/.exec(read(`/proc/${pid}/status`))?.[1] ?? 0)
      peak = Math.max(peak, kilobytes / 1_024)
    }
  }, sampleEveryMs)
  try {
    const result = await work
    return { result, peak }
  } finally {
    clearInterval(timer)
  }
}
