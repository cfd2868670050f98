// Measures the cost of a conversation and of a request, on the service and all databases of this machine.

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { Earshot } from '../../client/src/earshot.ts'
import { type Maker, makeConversation } from '../../server/demo/conversation.ts'
import { evaluateConversations } from '../../server/evaluations/lifecycle.ts'
import { rules } from '../rules.ts'
import { startServer } from '../servers.ts'
import { readDatabases, readProcess } from './processor.ts'
import type { Cost, Costs } from './simulate.ts'

const batches = 60
const batchSize = 50
const requests = 1_500
const callers = 8
const serviceKey = 'service-key-of-the-bench-0123456789'

type Figures = { node: number; coordinator: number; earshot: number }

type Measured = { url: string; folder: string }

/** Runs a function `count` times with a concurrency of `callers`. */
const repeat = async (count: number, run: (at: number) => Promise<unknown>): Promise<void> => {
  let next = 0
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (next < count) await run(next++)
    }),
  )
}

export const measure = async ({ url, folder }: Measured): Promise<Costs & { isCluster: boolean }> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const server = await startServer(join(import.meta.dirname, '../../bin/earshot'), ['serve'], {
    PORT: '0',
    DATABASE_URL: url,
    EARSHOT_STORAGE_SHARED: 'true',
    EARSHOT_DATA_DIR: join(folder, 'files'),
    EARSHOT_SERVICE_KEY: serviceKey,
    EARSHOT_SECRET_KEY: 'a-secret-key-for-the-bench-0123456789',
  })
  try {
    const earshot = new Earshot({ url: server.origin, key: serviceKey })
    const owner = { email: 'owner@example.com', name: 'Owner' }
    const slug = `bench-${crypto.randomUUID()}`
    const { apiKey, organization } = await earshot.organizations.create({ name: 'Bench', slug, owner })
    const key = apiKey.key
    const ours = new Earshot({ url: server.origin, key })
    const expressions = Object.values(rules).flat()
    for (const [at, expression] of expressions.entries())
      await ours.monitors.create({ name: `Rule ${at + 1}`, kind: 'rule', definition: { expression } })

    const { rows: settings } = await client.query<{ port: number; citus: boolean }>(
      `SELECT current_setting('port')::int AS port,
              EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') AS citus`,
    )
    const { port = 5432, citus = false } = settings[0] ?? {}
    const read = async (): Promise<Figures> => {
      const databases = await readDatabases()
      const all = [...databases.values()].reduce((sum, ms) => sum + ms, 0)
      const coordinator = databases.get(port) ?? 0
      return {
        ...(citus ? { node: all - coordinator, coordinator } : { node: coordinator, coordinator: 0 }),
        earshot: await readProcess(server.child.pid ?? 0),
      }
    }
    const costOf = async (count: number, work: () => Promise<unknown>): Promise<Cost> => {
      const before = await read()
      await work()
      const after = await read()
      return {
        nodeMs: (after.node - before.node) / count,
        coordinatorMs: (after.coordinator - before.coordinator) / count,
        earshotMs: (after.earshot - before.earshot) / count,
      }
    }
    const get = async (path: string) => {
      const response = await fetch(server.origin + path, { headers: { authorization: `Bearer ${key}` } })
      const body = await response.json()
      if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(body)}`)
      return body as { data: { id: string }[] }
    }

    const maker: Maker = { seed: 7, anchor: new Date(), days: 30, companies: [] }
    const item = (number: number) => {
      const { agent, version: _, metrics: __, provider: ___, ...rest } = makeConversation(maker, number)
      const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null))
      return { ...given, agent: { ...('externalId' in agent && { externalId: agent.externalId, ...agent.make }) } }
    }
    const sendBatch = async (batch: number) => {
      const response = await fetch(`${server.origin}/v1/conversations/batch`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          conversations: Array.from({ length: batchSize }, (_, at) => item(batch * batchSize + at)),
        }),
      })
      const text = await response.text()
      if (!response.ok || /"status":"(?:rejected|invalid|error)"/.test(text))
        throw new Error(`${response.status} ${text.slice(0, 500)}`)
    }
    const untilEvaluated = async () => {
      for (;;) {
        const { rowCount } = await client.query(
          `SELECT FROM jobs WHERE organization_id = $1 AND name = $2 AND state IN ('delayed', 'waiting', 'active') LIMIT 1`,
          [organization.id, evaluateConversations.name],
        )
        if (rowCount === 0) return
        await sleep(100)
      }
    }
    const sizeOf = async (): Promise<{ bytes: number; wal: number }> => {
      const { rows } = await client.query<{ bytes: string; wal: string }>(
        citus
          ? `SELECT (SELECT sum(shard_size) FROM citus_shards) AS bytes,
               (SELECT sum(result::numeric) FROM run_command_on_workers('SELECT pg_current_wal_lsn() - ''0/0''')) AS wal`
          : `SELECT pg_database_size(current_database()) AS bytes, pg_current_wal_lsn() - '0/0' AS wal`,
      )
      return { bytes: Number(rows[0]?.bytes), wal: Number(rows[0]?.wal) }
    }

    // The first uses are not measured.
    await sendBatch(batches)
    await untilEvaluated()
    const sizeBefore = await sizeOf()
    const ingest = await costOf(batches * batchSize, async () => {
      await repeat(batches, sendBatch)
      await untilEvaluated()
    })
    const sizeAfter = await sizeOf()
    const { data } = await get('/v1/conversations?limit=200')
    const list = await costOf(requests, () => repeat(requests, () => get('/v1/conversations?limit=20')))
    const open = await costOf(requests, () =>
      repeat(requests, (at) => get(`/v1/conversations/${data[at % data.length]?.id}`)),
    )
    return {
      ingest,
      list,
      open,
      isCluster: citus,
      bytesPerConversation: (sizeAfter.bytes - sizeBefore.bytes) / (batches * batchSize),
      walBytesPerConversation: (sizeAfter.wal - sizeBefore.wal) / (batches * batchSize),
    }
  } finally {
    await server.stop()
    await client.end()
  }
}
