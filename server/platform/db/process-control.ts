// Returns information about a process that may not be a child of this process.

import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const isLinux = process.platform === 'linux'

export const errorCode = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined

/** Returns whether a process is running. A zombie counts as dead, because in a container, it may never be reaped. */
export const isAlive = async (pid: number): Promise<boolean> => {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return errorCode(error) === 'EPERM'
  }
  if (!isLinux) return true
  const status = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '')
  return !/^\d+ \(.*\) [ZX] /s.test(status)
}

const commandLine = async (pid: number): Promise<string> => {
  if (isLinux) return (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' ')
  const listed = await promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).catch(() => undefined)
  return listed?.stdout ?? ''
}

/**
 * Returns whether a process is the server of a folder. Process IDs are reused, so this also compares the command line.
 */
export const isPostmasterOf = async (pid: number, folder: string): Promise<boolean> =>
  (await isAlive(pid)) && (await commandLine(pid)).includes(`postgres -D ${folder} `)

export const waitForEnd = async (pid: number, timeoutMs: number): Promise<boolean> => {
  const deadline = Date.now() + timeoutMs
  while (await isAlive(pid)) {
    if (Date.now() > deadline) return false
    await pause(10)
  }
  return true
}

export const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name)
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error
  }
}

export const pause = (durationMs: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, durationMs))
