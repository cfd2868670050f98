import { statfs } from 'node:fs/promises'
import { availableParallelism, freemem } from 'node:os'
import { listOtherOwners } from '../../platform/blobs/owner.ts'
import { checkOwnStore } from '../../platform/blobs/sweep.ts'
import { loadConfig } from '../../platform/config.ts'
import { serverVersion } from '../../platform/db/database.ts'
import { readInstanceId } from '../../platform/db/instance.ts'
import { openLog } from '../../platform/log.ts'
import { checkSecretKey } from '../../platform/secrets/key-check.ts'
import { type Opened, openUnchecked } from '../open.ts'
import { listStoredSecrets } from '../stored-secrets.ts'
import type { DoctorCheck, Report } from './report.ts'

const mebibytes = (bytes: number) => `${Math.round(bytes / 1024 / 1024)} MiB`

const checksOf = ({ deps, alone }: Opened): DoctorCheck[] => [
  {
    name: 'answer',
    run: async () => {
      const beganAt = performance.now()
      const version = await serverVersion(deps.db)
      const databaseKind = deps.config.databaseUrl ? 'external' : alone ? 'embedded, not in use' : 'embedded, in use'
      return `PostgreSQL ${version}, ${databaseKind}, in ${Math.round(performance.now() - beganAt)} ms`
    },
  },
  {
    name: 'secret key',
    run: async () => {
      await checkSecretKey({ ...deps, listStored: listStoredSecrets })
      return 'decrypts the stored secrets'
    },
  },
  {
    name: 'storage',
    run: async () => {
      const { storage, dataDir } = deps.config
      await deps.blobs.check()
      await checkOwnStore(deps)
      const [other] = await listOtherOwners(deps.blobs, await readInstanceId(deps.db))
      if (other) throw new Error(`belongs to another database (see ${other}), so unreferenced files are not deleted`)
      if (storage.kind === 's3') return `s3://${storage.bucket}, writable`
      const { bavail, bsize } = await statfs(storage.folder ?? dataDir)
      return `local folder, writable, ${mebibytes(bavail * bsize)} free`
    },
  },
  {
    name: 'clock',
    run: async () => {
      await deps.sweeps.time()
      const warning = deps.sweeps.warning()
      if (warning) throw new Error(warning)
      return 'in sync with the database'
    },
  },
  {
    name: 'mail',
    run: async () => {
      const { smtp } = deps.config
      if (!smtp) return 'not configured: emails are stored but not sent because EARSHOT_SMTP_URL is not set'
      const { check } = await import('../../platform/mail/smtp.ts')
      await check(smtp)
      return `${smtp.host}, port ${smtp.port}, reached${smtp.auth ? ' and signed in' : ''}`
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

/** Checks this machine and its configuration. */
export const checkHere = async ({ check }: Report): Promise<void> => {
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
        opened.push(await openUnchecked({ command: 'doctor', log: silent, patienceMs: 2_000 }))
        return 'reachable, all migrations applied'
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
