import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Deps } from '../../platform/deps.ts'
import { errorOf, type Reply, type Task } from './messages.ts'
import { type Generated, type ObservationOrder, type Order, TooManyCalls } from './order.ts'
import { makePlan } from './plan.ts'
import type { ReadLimits } from './read.ts'

export { type Generated, type ObservationOrder, type Order, TooManyCalls }

/** Requests go first where both want the processor. */
const niceness = 10
/** Much is allocated and dropped at once; a larger young generation would only hold more memory. */
const options = ['--max-semi-space-size=8', '--disable-warning=ExperimentalWarning']

const lowerPriority = ({ pid }: ChildProcess) => {
  try {
    if (pid !== undefined) setPriority(pid, niceness)
  } catch {
    // It has ended already, or the system has no priorities: neither is a reason not to export.
  }
}

type Options = {
  signal: AbortSignal
  /** Told how many rows were written so far. */
  onProgress: (rows: number) => void
  limits?: Partial<ReadLimits>
}

/**
 * Writes the file of an export in a process of its own, so that requests are answered meanwhile and its memory is
 * given back. Throws when it is aborted, when that process dies, and what it fails with; then there is no file.
 */
export const generate = async (
  { config, database, db, log }: Pick<Deps, 'config' | 'database' | 'db' | 'log'>,
  order: Order | ObservationOrder,
  { signal, onProgress, limits = {} }: Options,
): Promise<Generated> => {
  signal.throwIfAborted()
  const { storage, dataDir, s3Endpoint, readDatabaseUrl } = config
  const task: Task = {
    plan: makePlan(db, order),
    connections: {
      primary: database.connection,
      ...(readDatabaseUrl !== undefined && { replica: { connectionString: readDatabaseUrl } }),
    },
    storage: { storage, dataDir, s3Endpoint },
    limits,
  }
  const child = fork(join(import.meta.dirname, 'process.ts'), {
    execArgv: options,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  lowerPriority(child)
  let last: Exclude<Reply, { type: 'progress' | 'note' }> | undefined
  child.on('message', (reply: Reply) => {
    if (reply.type === 'progress') onProgress(reply.rows)
    else if (reply.type === 'note') log.info({ key: order.key }, reply.text)
    else last = reply
  })
  // What goes wrong with it shows in how it ends.
  child.on('error', (err) => log.warn({ err }, 'the process of an export failed'))
  if (child.stderr) {
    createInterface({ input: child.stderr }).on('line', (line) =>
      log.warn({ line }, 'output of the process of an export'),
    )
  }
  const kill = () => child.kill('SIGKILL')
  signal.addEventListener('abort', kill, { once: true })
  try {
    // When it cannot be told, it has ended.
    child.send(task, () => {})
    // What it told last may arrive after its end, but before the channel closes.
    const [[code, killedBy]] = await Promise.all([once(child, 'close'), once(child, 'disconnect')])
    signal.throwIfAborted()
    if (last?.type === 'generated') return last.generated
    if (last) throw errorOf(last.failure)
    throw new Error(`The process of an export ended with ${killedBy ?? `code ${code}`}`)
  } finally {
    signal.removeEventListener('abort', kill)
  }
}
