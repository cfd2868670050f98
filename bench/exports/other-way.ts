// Runs one of the baselines in a separate process, like an export, and without the service's type parsers.

import pg from 'pg'
import { connect } from '../../server/exports/generation/connect.ts'
import type { Plan } from '../../server/exports/generation/order.ts'
import { openReading } from '../../server/exports/generation/read.ts'
import { type BaselineExport, callByCall, throughCursor, throughExceljs } from './baselines.ts'

export type OtherWay = {
  way: 'cursor' | 'tuned cursor' | 'call by call' | 'exceljs'
  wanted: BaselineExport
  plan: Plan
  connection: { connectionString: string }
}

const ways: Record<OtherWay['way'], (asked: OtherWay) => Promise<void>> = {
  cursor: (asked) => withClient(asked, (client, wanted) => throughCursor(client, wanted, 'lateral')),
  'tuned cursor': (asked) => withClient(asked, (client, wanted) => throughCursor(client, wanted, 'merged')),
  'call by call': (asked) => withClient(asked, callByCall),
  exceljs: async ({ connection, plan, wanted }) => {
    const snapshot = await connect({ primary: connection }, { note: () => {} })
    const { layout, slices } = await openReading(snapshot, plan)
    await throughExceljs(layout, slices({ rowsPerSlice: 2_048 }), wanted.folder)
    await snapshot.close()
  },
}

const withClient = async (
  { connection, wanted }: OtherWay,
  write: (client: pg.Client, wanted: BaselineExport) => Promise<unknown>,
) => {
  const client = new pg.Client({ ...connection, options: '-c jit=off -c TimeZone=UTC' })
  await client.connect()
  await write(client, wanted)
  await client.end()
}

process.once('message', async (asked: OtherWay) => {
  await ways[asked.way](asked)
  process.exit(0)
})
