import { statfs } from 'node:fs/promises'
import { availableParallelism, freemem } from 'node:os'
import { loadConfig } from '../config.ts'
import { serverVersion } from '../platform/db/database.ts'
import { openLog } from '../platform/log.ts'
import type { Called, Run } from './call.ts'
import { plainLines, printJson } from './columns.ts'
import { connect } from './connect.ts'
import { type Opened, open } from './open.ts'

type Check = { name: string; run: () => Promise<string> }

const mebibytes = (bytes: number) => `${Math.round(bytes / 1024 / 1024)} MiB`

type Finding = { name: string; ok: boolean; told: string }

/** Tells what works and what does not, each on a line of its own, and goes on after a fault. */
const openReport = (json: boolean) => {
  const findings: Finding[] = []
  const tell = (finding: Finding) => {
    findings.push(finding)
    const { name, ok, told } = finding
    if (!json) process.stdout.write(`${ok ? 'ok   ' : 'FAIL '} ${name.padEnd(14)} ${plainLines(told)}\n`)
  }
  return {
    check: async (checks: Check[]): Promise<void> => {
      for (const { name, run } of checks) {
        try {
          tell({ name, ok: true, told: await run() })
        } catch (error) {
          tell({ name, ok: false, told: error instanceof Error ? error.message : String(error) })
        }
      }
    },
    end: (): number => {
      const ok = findings.every((finding) => finding.ok)
      if (json) printJson({ ok, checks: findings })
      return ok ? 0 : 1
    },
  }
}

/** Of a service elsewhere, what a key of an organization can see. */
const checksFrom = (called: Called): Check[] => {
  const { earshot } = connect(called)
  const once = { retries: 0, timeoutMs: 10_000 }
  return [
    {
      name: 'answer',
      run: async () => {
        const beganAt = performance.now()
        await earshot.request('GET', '/healthz', {}, once)
        return `in ${Math.round(performance.now() - beganAt)} ms`
      },
    },
    {
      name: 'ready',
      run: async () => {
        await earshot.request('GET', '/readyz', {}, once)
        return 'database, migrations and storage'
      },
    },
    {
      name: 'key',
      run: async () => {
        const { organization, role, entitlements } = await earshot.me.get(once)
        const lacking = Object.entries(entitlements).flatMap(([name, has]) => (has ? [] : [name]))
        return `${role} of ${organization.name}${lacking.length > 0 ? `, without ${lacking.join(', ')}` : ''}`
      },
    },
  ]
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

const checkHere = async ({ check }: ReturnType<typeof openReport>): Promise<void> => {
  const opened: Opened[] = []
  await check([
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
  if (!service) return
  try {
    await check(checksOf(service))
  } finally {
    await service.close()
  }
}

export const run: Run = async (called) => {
  const report = openReport(called.flag('json'))
  if (called.text('url') === undefined) await checkHere(report)
  else await report.check(checksFrom(called))
  return report.end()
}
