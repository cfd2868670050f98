import { statfs } from 'node:fs/promises'
import { availableParallelism, freemem } from 'node:os'
import { parseArgs } from 'node:util'
import { loadConfig } from '../config.ts'
import type { Command } from '../main.ts'
import { serverVersion } from '../platform/db/database.ts'
import { openLog } from '../platform/log.ts'
import { type Opened, open } from './open.ts'

const usage = `Usage:
  earshot doctor   check what the service needs, while it serves or not
It ends with 0 if all is well and with 1 if something is not.
`

type Check = { name: string; run: () => Promise<string> }

const mebibytes = (bytes: number) => `${Math.round(bytes / 1024 / 1024)} MiB`

/** Tells what works and what does not, each on a line of its own, and goes on after a fault. */
const report = async (checks: Check[]): Promise<boolean> => {
  let sound = true
  for (const { name, run } of checks) {
    try {
      process.stdout.write(`ok    ${name.padEnd(14)} ${await run()}\n`)
    } catch (error) {
      sound = false
      process.stdout.write(`FAIL  ${name.padEnd(14)} ${error instanceof Error ? error.message : String(error)}\n`)
    }
  }
  return sound
}

const checksOf = ({ deps, alone }: Opened): Check[] => [
  {
    name: 'answer',
    run: async () => {
      const beganAt = performance.now()
      const version = await serverVersion(deps.db)
      const place = deps.config.databaseUrl ? 'external' : alone ? 'embedded, not in use' : 'embedded, in use'
      return `PostgreSQL ${version}, ${place}, in ${Math.round(performance.now() - beganAt)} ms`
    },
  },
  {
    name: 'secret key',
    run: async () => {
      deps.secrets.open(deps.secrets.seal('doctor', 'doctor'), 'doctor')
      return 'seals and opens'
    },
  },
  {
    name: 'storage',
    run: async () => {
      const { storage, dataDir } = deps.config
      await deps.blobs.check()
      if (storage.kind === 's3') return `s3://${storage.bucket}, writable`
      const { bavail, bsize } = await statfs(storage.folder ?? dataDir)
      return `local folder, writable, ${mebibytes(bavail * bsize)} free`
    },
  },
  {
    name: 'mail',
    run: async () => {
      const { smtp } = deps.config
      if (!smtp) return 'kept and not sent: EARSHOT_SMTP_URL is not set'
      const { check } = await import('../platform/mail/smtp.ts')
      await check(smtp)
      return `${smtp.host}, port ${smtp.port}, reached${smtp.auth ? ' and signed in to' : ''}`
    },
  },
  {
    name: 'jobs',
    run: async () => {
      const counts = await deps.jobs.counts()
      const of = (state: string) =>
        counts.filter((row) => row.state === state).reduce((sum, { count }) => sum + count, 0)
      return `${of('waiting')} waiting, ${of('active')} active, ${of('dead')} dead`
    },
  },
]

export const run: Command = async (args) => {
  const { values } = parseArgs({ args, options: { help: { type: 'boolean' } } })
  if (values.help) {
    process.stdout.write(usage)
    return 0
  }
  const opened: Opened[] = []
  const began = await report([
    {
      name: 'machine',
      run: async () => `Node ${process.version}, ${availableParallelism()} processors, ${mebibytes(freemem())} free`,
    },
    { name: 'configuration', run: async () => `data directory ${loadConfig().dataDir}` },
    {
      name: 'database',
      run: async () => {
        const silent = openLog({ write: () => {} })
        opened.push(await open({ command: 'doctor', log: silent, exclusive: 'preferred', patienceMs: 2_000 }))
        return 'reached, all migrations applied'
      },
    },
  ])
  const [service] = opened
  if (!service) return 1
  try {
    return (await report(checksOf(service))) && began ? 0 : 1
  } finally {
    await service.close()
  }
}
