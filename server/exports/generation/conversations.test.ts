import { expect, it } from 'vitest'
import { makeConversations, makeMonitor, makeOrganization } from '../../../test/make.ts'
import { testServer } from '../../../test/server.ts'
import { exportsOf } from '../../../test/support/exports/exports.ts'
import { readJsonl } from '../../../test/support/exports/file-readers.ts'
import { collect } from '../../../test/support/exports/slices.ts'
import { orgIdOf } from '../../platform/ids.ts'
import { parseConversations, windowOf } from '../conversations/configuration.ts'
import { makeConversationOrder } from '../conversations/make-order.ts'
import type { ConversationExportConfig } from '../conversations/schema.ts'
import { jsonl } from '../formats/jsonl.ts'
import { connect } from './connect.ts'
import { makePlan } from './generate.ts'
import { openReading, type ReadLimits } from './read.ts'

const server = await testServer()
const { call, deps } = server
const { db, database } = deps
const { store } = exportsOf(server)

const readAll = async (org: string, given: ConversationExportConfig, limits: ReadLimits) => {
  const config = parseConversations(given, 'config')
  const stored = { id: '', createdAt: new Date(), config, ...(await windowOf(db, config.filter)) }
  // The service has returned this ID.
  const order = await makeConversationOrder(deps, orgIdOf(org), stored, '')
  const snapshot = await connect({ primary: database.connection }, { note: () => {} })
  try {
    const { layout, slices } = await openReading(snapshot, makePlan(db, order))
    return readJsonl(await collect(jsonl.write(layout, slices(limits)))).rows
  } finally {
    await snapshot.close()
  }
}

it('an export contains the whole list in its order, however it is sliced', async () => {
  const { id: org, key } = await makeOrganization(server)
  const [monitor, other] = [await makeMonitor(server, key), await makeMonitor(server, key)]
  const ids = await makeConversations(
    server,
    key,
    Array.from({ length: 40 }, (_, at) => ({
      // Several start at the same time.
      startedAt: new Date(Date.UTC(2026, 10, 2) + Math.floor(at / 3) * 60_000).toISOString(),
      metadata: { parity: at % 2 === 0 ? 'even' : 'odd' },
    })),
  )
  await store(
    key,
    ids.flatMap((conversationId, at) => [
      {
        monitorId: monitor.id,
        conversationId,
        result: at % 4 === 0 ? 'affected' : 'not_affected',
        score: (at * 7) % 11,
      },
      ...(at % 3 === 0 ? [{ monitorId: other.id, conversationId, result: 'affected', reasoning: `It is ${at}.` }] : []),
    ]),
  )
  const november = { since: '2026-11-01T00:00:00Z', until: '2026-12-01T00:00:00Z' }
  const filters = [
    {},
    november,
    { ...november, metadata: [{ key: 'parity', op: 'eq' as const, value: 'even' }] },
    { ...november, exclude: { monitors: [{ id: monitor.id, result: 'affected' as const }] } },
  ]
  const sorts = ['startedAt', `score:${monitor.id}`].flatMap((by) =>
    (['asc', 'desc'] as const).map((direction) => ({ by, direction })),
  )
  const sizes = [{ rowsPerSlice: 1 }, { rowsPerSlice: 7 }, { rowsPerSlice: 100, maxBytes: 2_000 }]
  const columns = [{ key: `score:${monitor.id}` }, { key: 'affected' }]
  for (const filter of filters) {
    for (const sort of sorts) {
      const search = { filter, sort, include: ['results'], limit: 200 }
      const { data } = (await call('POST', '/v1/conversations/search', { key, body: search })).body
      const expected = data.map(({ id, results }: { id: string; results: ExportedResult[] }) => [
        id,
        results.find(({ monitorId }) => monitorId === monitor.id)?.score ?? null,
        results.some(({ result }) => result === 'affected'),
        results.find(({ monitorId }) => monitorId === other.id)?.result ?? null,
      ])
      for (const limits of sizes) {
        const rows = await readAll(org, { filter, sort, columns, results: [other.id], reasoning: true }, limits)
        const found = rows.map(([id, score, affected, result]) => [id, score, affected !== null, result])
        expect(found, JSON.stringify({ filter, sort, limits })).toEqual(expected)
      }
    }
  }
})

type ExportedResult = { monitorId: string; score: number | null; result: string | null }
