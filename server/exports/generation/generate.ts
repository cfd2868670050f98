import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Selection, selectedStatement } from '../../filters/queries.ts'
import type { Db } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { errorOf, type GeneratorMessage, type GeneratorTask } from './messages.ts'
import { type Generated, type ObservationOrder, type Order, type Plan, TooManyCalls } from './order.ts'
import type { ReadLimits } from './read.ts'

export { type Generated, type ObservationOrder, type Order, TooManyCalls }

/** Requests take precedence over exports on the CPU. */
const niceness = 10
/** Most allocations are short-lived, so a larger young generation would only use more memory. */
const options = ['--max-semi-space-size=8', '--disable-warning=ExperimentalWarning']

const lowerPriority = ({ pid }: ChildProcess) => {
  try {
    if (pid !== undefined) setPriority(pid, niceness)
  } catch {
    // The process has already ended, or the system has no priorities. Neither prevents the export.
  }
}

type Options = {
  signal: AbortSignal
  /** Receives the number of rows written so far. */
  onProgress: (rows: number) => void
  limits?: Partial<ReadLimits>
}

/** Compiles the queries, because the generating process does not load the query builder. */
export const makePlan = (db: Db, order: Order | ObservationOrder): Plan => {
  if ('experimentId' in order) return order
  const { since: _since, until: _until, ...conditions } = order.selection
  const asking = order.monitors.filter(({ result }) => result !== 'all')
  if (asking.length === 0 && Object.keys(conditions).length === 0) return order
  const selection: Selection = {
    ...order.selection,
    ...(asking.length > 0 && { monitors: asking, match: order.match }),
  }
  return { ...order, statement: selectedStatement(db, order.org, selection, order.versionScope) }
}

/**
 * Writes the file of an export in a separate process, so that the service stays responsive and the memory is freed
 * afterwards. Throws if it is aborted, if the process dies, or if the process reports an error. No file remains then.
 */
export const generate = async (
  { config, database, db, log }: Pick<Deps, 'config' | 'database' | 'db' | 'log'>,
  order: Order | ObservationOrder,
  { signal, onProgress, limits = {} }: Options,
): Promise<Generated> => {
  signal.throwIfAborted()
  const { storage, dataDir, s3Endpoint, readDatabaseUrl } = config
  const task: GeneratorTask = {
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
  let last: Exclude<GeneratorMessage, { type: 'progress' | 'note' }> | undefined
  child.on('message', (reply: GeneratorMessage) => {
    if (reply.type === 'progress') onProgress(reply.rows)
    else if (reply.type === 'note') log.info({ key: order.key }, reply.text)
    else last = reply
  })
  // The exit code shows the same errors.
  child.on('error', (err) => log.warn({ err }, 'the process of an export failed'))
  if (child.stderr) {
    createInterface({ input: child.stderr }).on('line', (line) =>
      log.warn({ line }, 'output of the process of an export'),
    )
  }
  const kill = () => child.kill('SIGKILL')
  signal.addEventListener('abort', kill, { once: true })
  try {
    // If the message can't be sent, the process has ended.
    child.send(task, () => {})
    // The last message can arrive after the process ended, but before its channel closes.
    const [[code, killedBy]] = await Promise.all([once(child, 'close'), once(child, 'disconnect')])
    signal.throwIfAborted()
    if (last?.type === 'generated') return last.generated
    if (last) throw errorOf(last.failure)
    throw new Error(`The process of an export ended with ${killedBy ?? `code ${code}`}`)
  } finally {
    signal.removeEventListener('abort', kill)
  }
}
