import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { openEmbedded } from '../server/platform/db/embedded.ts'
import { openLog } from '../server/platform/log.ts'

/** Opens a separate database for a benchmark. */

export const openBenchDatabase = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-bench-'))
  const embedded = await openEmbedded({
    dataDir: join(folder, 'data'),
    log: openLog({ write: () => {} }),
    applicationName: 'bench',
  })
  const { host, user, database } = embedded.connection
  return {
    url: `postgres://${user}@localhost/${database}?host=${encodeURIComponent(String(host))}`,
    folder,
    close: async () => {
      await embedded.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export type Server = { origin: string; child: ChildProcess; stop: () => Promise<void> }

/** Starts a program that prints `ready at ADDRESS` once it serves. */
export const startServer = async (command: string, args: string[], env: NodeJS.ProcessEnv = {}): Promise<Server> => {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, ...env } })
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  for await (const line of createInterface({ input: child.stdout })) {
    const origin = /ready at (http:\S+)/.exec(line)?.[1]
    if (origin) {
      child.stdout.resume()
      return { origin, child, stop }
    }
  }
  await stop()
  throw new Error(`${command} ended before it was ready`)
}

export const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
