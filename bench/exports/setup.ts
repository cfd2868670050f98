import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { cellsOfColumns } from '../../server/exports/conversations/columns.ts'
import { type AnyOrder, generate, type Order } from '../../server/exports/generation/generate.ts'
import type { ConversationOrder } from '../../server/exports/generation/order.ts'
import type { Plain } from '../../server/filters/queries.ts'
import { loadConfig } from '../../server/platform/config.ts'
import { openDatabase } from '../../server/platform/db/database.ts'
import { orgIdOf } from '../../server/platform/ids.ts'
import { openLog } from '../../server/platform/log.ts'
import { median, openBenchDatabase, startServer } from '../servers.ts'
import { insertBasics, insertRange, settle, startOf } from './data.ts'
import { peakWhile } from './peak.ts'

const serviceKey = 'service-key-of-the-bench-0123456789'
export const monitorCount = 20

/** The changed properties of an order. By default, it includes all calls of the period. */
export type Change = Partial<Order> & {
  from?: number
  count?: number
  monitorsAsked?: number
  filter?: Plain
}

/** The columns of a list that have the cells of every export of monitor results, except the metadata as a whole. */
const callColumns = [
  'externalId',
  'startedAt',
  'endedAt',
  'durationSeconds',
  'channel',
  'direction',
  'agentId',
  'agentVersionId',
  'companyId',
  'customerId',
  'metadata:tier',
]

/** The changed properties of an order for a list. */
export type ListChange = Partial<ConversationOrder> & { from?: number; count?: number; columns?: string[] }

/** Opens the service on a separate database, with an organization and its monitors but no calls yet. */
export const openBench = async (calls: number, windowCalls: number) => {
  const database = await openBenchDatabase()
  const folder = join(database.folder, 'files')
  mkdirSync(folder, { recursive: true })
  // bin/earshot uses a compile cache too, so that processes start as fast here.
  process.env.NODE_COMPILE_CACHE ??= join(database.folder, 'compile-cache')
  const connection = { connectionString: database.url }
  const client = new pg.Client({ ...connection, options: '-c jit=off -c TimeZone=UTC' })
  const opened = openDatabase({ connection, applicationName: 'bench' })
  const config = loadConfig({ EARSHOT_DATA_DIR: folder })
  const deps = { config, database: { ...opened, dbOf: () => opened.db }, db: opened.db, log: openLog() }
  const server = await startServer(join(import.meta.dirname, '../../bin/earshot'), ['serve'], {
    PORT: '0',
    DATABASE_URL: database.url,
    EARSHOT_ROLES: 'http',
    EARSHOT_STORAGE_SHARED: 'true',
    EARSHOT_DATA_DIR: folder,
    EARSHOT_SERVICE_KEY: serviceKey,
    EARSHOT_SECRET_KEY: 'a-secret-key-for-the-bench-0123456789',
  })
  const close = async () => {
    await server.stop()
    await client.end()
    await opened.close()
    await database.close()
  }
  try {
    const provisioned = await fetch(new URL('/v1/organizations', server.origin), {
      method: 'POST',
      headers: { authorization: `Bearer ${serviceKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Bench', slug: 'bench', owner: { email: 'owner@example.com', name: 'Owner' } }),
    })
    // The response matches the OpenAPI document.
    const made = (await provisioned.json()) as { organization: { id: string }; apiKey: { key: string } }
    const org = orgIdOf(made.organization.id)
    await client.connect()
    const monitorIds = await insertBasics(client, org, monitorCount)
    /** The window starts near the middle of the calls, at the start of a block. */
    const windowStart = Math.floor((calls - windowCalls) / 200) * 100

    const orderOf = ({
      from = windowStart,
      count = windowCalls,
      monitorsAsked = monitorCount,
      filter,
      ...change
    }: Change) => ({
      org,
      format: 'csv' as const,
      key: `${org}/exports/bench.file`,
      monitors: monitorIds.slice(0, monitorsAsked).map((id) => ({ id, result: 'all' as const })),
      ...({ match: 'all', versionScope: 'historical', reasoning: false } as const),
      about: [],
      selection: { since: startOf(from), until: startOf(from + count), ...filter },
      ...change,
    })

    /**
     * Returns the order for the same calls as a list of conversations, with the same columns and all columns of the
     * results.
     */
    const listOf = ({ from = windowStart, count = windowCalls, columns = callColumns, ...change }: ListChange) => ({
      org,
      format: 'csv' as const,
      key: `${org}/exports/bench.file`,
      reasoning: false,
      about: [],
      selection: { since: startOf(from), until: startOf(from + count) },
      sorting: { key: { kind: 'startedAt' as const }, direction: 'desc' as const },
      cells: cellsOfColumns(
        columns.map((key) => ({ key })),
        { transcripts: false, regions: false },
      ),
      monitorIds,
      ...change,
    })

    const runOrder = async (order: AnyOrder) => {
      const startedAt = performance.now()
      const signal = new AbortController().signal
      const work = generate(deps, order, { signal, onProgress: () => {}, limits: { maxRows: calls } })
      const { result, peak } = await peakWhile(work)
      return { ms: performance.now() - startedAt, peak, ...result }
    }

    const run = (change: Change) => runOrder(orderOf(change))

    const stretch = (from: number, to: number, longReasoning: boolean) =>
      insertRange(client, org, { from, to, longReasoning })

    return {
      client,
      deps,
      org,
      monitorIds,
      folder,
      connection,
      orderOf,
      run,
      runList: (change: ListChange) => runOrder(listOf(change)),
      close,
      url: new URL(`/v1/monitors/${monitorIds[0]}`, server.origin).href,
      key: made.apiKey.key,
      /** Returns the median of some runs, after a warm-up. */
      several: async (change: Change, rounds = 3) => {
        const { rows } = await run(change)
        const times: number[] = []
        for (let round = 0; round < rounds; round++) times.push((await run(change)).ms)
        return { ms: median(times), rows }
      },
      window: { org, monitorIds, folder, since: startOf(windowStart), until: startOf(windowStart + windowCalls) },
      insertWindow: async () => {
        await stretch(windowStart, windowStart + windowCalls, true)
        await settle(client)
      },
      insertOthers: async () => {
        await stretch(0, windowStart, false)
        await stretch(windowStart + windowCalls, calls, false)
        await settle(client)
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}

export type Bench = Awaited<ReturnType<typeof openBench>>
