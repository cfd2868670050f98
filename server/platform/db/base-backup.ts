// Copies the files of the embedded database while it runs. Files in the copy can be inconsistent, but PostgreSQL
// recovers from that, because the copy includes the write-ahead log from before the first byte until after the last
// one.
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { errorCode } from './process-control.ts'

/** Copies one file between the two folders. Fails with ENOENT if it does not exist. */
export type CopyFile = (path: string) => Promise<void>

/** The contents of these folders belong to the running server, and recovery creates them again. */
const emptied = [
  'pg_dynshmem',
  'pg_notify',
  'pg_replslot',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
  'pg_wal',
]
const leftOut =
  /^(postmaster\.(pid|opts)|\.s\.PGSQL\..*|pgsql_tmp.*|pg_internal\.init.*|backup_label.*|tablespace_map.*)$/
/** This file is read last, because it records where recovery starts. */
const controlFile = 'global/pg_control'
const logSegment = /^[0-9A-F]{24}$/

/**
 * Copies a file unless it has disappeared. The database creates and deletes files while it runs, and its log contains
 * all data about them.
 */
const copyIfThere = async (copy: CopyFile, path: string): Promise<void> => {
  try {
    await copy(path)
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
  }
}

const copyFolder = async (source: string, target: string, path: string, copy: CopyFile): Promise<void> => {
  await mkdir(join(target, path), { recursive: true, mode: 0o700 })
  for (const entry of await readdir(join(source, path), { withFileTypes: true })) {
    const name = path === '' ? entry.name : `${path}/${entry.name}`
    if (leftOut.test(entry.name) || name === controlFile) continue
    if (entry.isFile()) await copyIfThere(copy, name)
    if (!entry.isDirectory()) continue
    if (emptied.includes(name)) await mkdir(join(target, name), { mode: 0o700 })
    else await copyFolder(source, target, name, copy)
  }
}

/** Copies a cluster. `folder` is the folder of the connected cluster. `target` must not exist. */
export const copyCluster = async (
  connection: pg.PoolConfig,
  { folder, target, copy }: { folder: string; target: string; copy: CopyFile },
): Promise<void> => {
  const client = new pg.Client(connection)
  client.on('error', () => {})
  await client.connect()
  try {
    // The slot keeps the log from being recycled during the backup. It disappears when this session ends.
    await client.query(`SELECT pg_create_physical_replication_slot('backup_${process.pid}', true, true)`)
    await client.query(`SELECT pg_backup_start('earshot backup', true)`)
    await copyFolder(folder, target, '', copy)
    await copy(controlFile)
    const { rows } = await client.query<{ label: string; segment: string }>(
      'SELECT labelfile AS label, pg_walfile_name(lsn) AS segment FROM pg_backup_stop(false)',
    )
    const { label = '', segment = '' } = rows[0] ?? {}
    await writeFile(join(target, 'backup_label'), label, { mode: 0o600 })
    const segments = (await readdir(join(folder, 'pg_wal'))).filter((name) => logSegment.test(name) && name <= segment)
    for (const name of segments) await copyIfThere(copy, `pg_wal/${name}`)
  } finally {
    await client.end()
  }
}
