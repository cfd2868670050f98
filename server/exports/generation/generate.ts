import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Resolved, selectedStatement } from '../../filters/queries.ts'
import { sortedStatement } from '../../filters/sorted/queries.ts'
import { endOf, forkInBackground } from '../../platform/background-process.ts'
import type { Db } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { errorOf, type GeneratorMessage, type GeneratorTask } from './messages.ts'
import {
  type AnyOrder,
  type ConversationOrder,
  type Generated,
  maxCalls,
  type Order,
  type Plan,
  TooManyCalls,
} from './order.ts'
import type { ReadLimits } from './read.ts'

export { type AnyOrder, type Generated, type Order, TooManyCalls }

/** Most allocations are short-lived, so a larger young generation would only use more memory. */
const options = ['--max-semi-space-size=8', '--disable-warning=ExperimentalWarning']

type Options = {
  signal: AbortSignal
  /** Receives the number of rows written so far. */
  onProgress: (rows: number) => void
  limits?: Partial<ReadLimits>
}

const planConversations = (db: Db, order: ConversationOrder): Plan => {
  const { org, selection, sorting } = order
  const { since: _since, until: _until, ...conditions } = selection
  if (sorting.key.kind === 'startedAt' && Object.keys(conditions).length === 0) return order
  return { ...order, statement: sortedStatement(db, org, selection, sorting, maxCalls + 1) }
}

/** Compiles the queries, because the generating process does not load the query builder. */
export const makePlan = (db: Db, order: AnyOrder): Plan => {
  if ('experimentId' in order) return order
  if ('cells' in order) return planConversations(db, order)
  const { since: _since, until: _until, ...conditions } = order.selection
  const asking = order.monitors.filter(({ result }) => result !== 'all')
  if (asking.length === 0 && Object.keys(conditions).length === 0) return order
  const selection: Resolved = {
    ...order.selection,
    ...(asking.length > 0 && { monitors: asking, match: order.match }),
  }
  return { ...order, statement: selectedStatement(db, order.org, selection, order.versionScope) }
}

/**
 * Writes the file of an export in a separate process, so that the service stays responsive and the memory is freed
 * afterwards. Throws if it is aborted, if the process dies, or if the process reports an error. In that case, no file
 * remains.
 */
export const generate = async (
  { config, database, db, log }: Pick<Deps, 'config' | 'database' | 'db' | 'log'>,
  order: AnyOrder,
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
  const child = forkInBackground(join(import.meta.dirname, 'process.ts'), {
    execArgv: options,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  let last: Exclude<GeneratorMessage, { type: 'progress' | 'note' }> | undefined
  child.on('message', (reply: GeneratorMessage) => {
    if (reply.type === 'progress') onProgress(reply.rows)
    else if (reply.type === 'note') log.info({ key: order.key }, reply.text)
    else last = reply
  })
  // The exit handler reports the same errors.
  child.on('error', (err) => log.warn({ err }, 'the export process failed'))
  if (child.stderr) {
    createInterface({ input: child.stderr }).on('line', (line) => log.warn({ line }, 'output of the export process'))
  }
  // If the message can't be sent, the process has ended.
  child.send(task, () => {})
  const ending = await endOf(child, signal)
  if (last?.type === 'generated') return last.generated
  if (last) throw errorOf(last.failure)
  throw new Error(`The export process ended with ${ending}`)
}
