import { randomInt } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { testServer } from '../../../test/server.ts'
import { expectedRows, loadAll } from '../../../test/support/exports/expected-rows.ts'
import { drawing } from '../../../test/support/exports/random.ts'
import { drawOrder, makeCalls, parseCsv, start } from '../../../test/support/exports/random-calls.ts'
import { countSelected } from '../../filters/queries.ts'
import { csv } from '../formats/csv.ts'
import { columnNames } from '../layout.ts'
import { connect } from './connect.ts'
import { makePlan } from './generate.ts'
import type { Order } from './order.ts'
import { openReading } from './read.ts'

/**
 * `EXPORT_SEED=… vitest run server/exports/generation/read` repeats a run, and `EXPORT_ORGANIZATIONS=200` makes it
 * longer.
 */
const seed = Number(process.env.EXPORT_SEED ?? randomInt(2 ** 31))
const organizations = Number(process.env.EXPORT_ORGANIZATIONS ?? 8)
const ordersEach = 50

const server = await testServer()
const { db, database } = server.deps

describe('an export', () => {
  it.each(Array.from({ length: organizations }, (_, at) => seed + at))('matches the API (seed %i)', async (from) => {
    const draw = drawing(from)
    const made = await makeCalls(server, draw)
    const all = await loadAll(db, made.org)
    const snapshot = await connect({ primary: database.connection }, { note: () => {} })
    let rows = 0
    try {
      for (let at = 0; at < ordersEach; at++) {
        const order = drawOrder(draw, made)
        const expected = expectedRows(all, order)
        const { layout, slices } = await openReading(snapshot, makePlan(db, order))
        const limits = { rowsPerSlice: draw.one([1, 2, 3, 7, 100]), maxBytes: draw.one([1, 200, 5_000, 50_000]) }
        const blocks: Uint8Array[] = []
        for await (const block of csv.write(layout, slices(limits))) blocks.push(block)
        await snapshot.query('CLOSE ALL')
        const [header, ...found] = parseCsv(Buffer.concat(blocks).toString())
        expect(header).toEqual(columnNames(layout))
        expect(found, `order ${at}: ${JSON.stringify({ order, limits })}`).toEqual(expected)
        rows += found.length
        // The preview returns these monitors of the export.
        const asking = order.monitors.filter(({ result }) => result !== 'all')
        const monitors = asking.length > 0 ? asking : order.monitors
        const selection = { ...order.selection, monitors, match: order.match }
        expect(await countSelected(db, made.org, selection, order.versionScope)).toBe(expected.length)
      }
    } finally {
      await snapshot.close()
    }
    // Unless there is almost no data, the test must have compared some rows.
    if (all.results.length > 30) expect(rows).toBeGreaterThan(0)
  })

  it('is one state of the database, whatever is written in the meantime', async () => {
    const draw = drawing(seed)
    let made = await makeCalls(server, draw)
    let all = await loadAll(db, made.org)
    while (all.calls.length < 20 || all.results.length < 60) {
      made = await makeCalls(server, draw)
      all = await loadAll(db, made.org)
    }
    const { org, monitors } = made
    const order: Order = {
      ...drawOrder(draw, made),
      ...({ versionScope: 'historical', reasoning: false, match: 'all' } as const),
      monitors: monitors.map((id) => ({ id, result: 'all' })),
      selection: { since: new Date(start).toISOString(), until: new Date(start + 1e6).toISOString() },
    }
    const expected = expectedRows(all, order)
    const snapshot = await connect({ primary: database.connection }, { note: () => {} })
    const { layout, slices } = await openReading(snapshot, makePlan(db, order))
    const changed = async function* () {
      let isFirst = true
      for await (const slice of slices({ rowsPerSlice: 2 })) {
        yield slice
        if (!isFirst) continue
        isFirst = false
        await db.deleteFrom('monitor_results').where('organization_id', '=', org).execute()
        await db.updateTable('conversations').set({ customer_id: 'later' }).where('organization_id', '=', org).execute()
        await db.updateTable('monitors').set({ deleted_at: new Date() }).where('organization_id', '=', org).execute()
      }
    }
    const blocks: Uint8Array[] = []
    for await (const block of csv.write(layout, changed())) blocks.push(block)
    await snapshot.close()
    expect(parseCsv(Buffer.concat(blocks).toString()).slice(1)).toEqual(expected)
  })
})
