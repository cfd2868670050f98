import { sql } from 'kysely'
import type { TestServer } from '../server.ts'

export const leo = { externalId: 'leo', name: 'Leo', channel: 'voice' }

export const call = (externalId: string | null, fields: object = {}) => ({
  externalId,
  agent: leo,
  channel: 'call',
  startedAt: '2026-11-20T09:00:00.000Z',
  ...fields,
})

export const say = (...texts: string[]) => texts.map((text) => ({ role: 'agent', text }))

export const lines = (items: unknown[]) => items.map((item) => `${JSON.stringify(item)}\n`).join('')

export const statuses = (answer: { body: { data: { status: string }[] } }) =>
  answer.body.data.map(({ status }) => status)

/** Sends batches to a server, and counts what it stored. */
export const batchesOf = (server: () => TestServer) => ({
  json: (key: string, conversations: unknown[]) =>
    server().call('POST', '/v1/conversations/batch', { key, body: { conversations } }),
  stream: (key: string, raw: string | Uint8Array<ArrayBuffer>) =>
    server().call('POST', '/v1/conversations/batch', { key, raw, headers: { 'content-type': 'application/x-ndjson' } }),
  countIn: async (table: string, org: string): Promise<number> => {
    const { rows } = await sql<{ count: number }>`
      SELECT count(*)::int AS count FROM ${sql.table(table)} WHERE organization_id = ${org}`.execute(server().deps.db)
    return rows[0]?.count ?? -1
  },
})
