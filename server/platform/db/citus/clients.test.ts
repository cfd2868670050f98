import type pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../../test/database.ts'
import type { OrgId } from '../database.ts'
import { notifyText } from '../notify.ts'
import { CoordinatorClient, NodeClient, type Notice } from './clients.ts'

const org = '01a214f8-d236-7000-8753-522ee5388f1c' as OrgId
const other = '01a214f8-d236-7000-8753-522ee5388f1d' as OrgId

let database: TestDatabase
let client: NodeClient
const sent: Notice[][] = []

beforeAll(async () => {
  database = await testDatabase({ empty: true })
  client = new NodeClient({ ...database.connection, onCommitted: (notices) => sent.push(notices) })
  await client.connect()
  await client.query('CREATE TABLE calls (organization_id uuid, id integer, note text)')
  client.organization = org
})

afterAll(async () => {
  await client.end()
  await database.drop()
})

/** Lists the named statements that the server has stored. */
const listNamed = async (on: pg.Client): Promise<string[]> => {
  const { rows } = await on.query('SELECT statement FROM pg_prepared_statements ORDER BY name')
  return rows.map(({ statement }) => statement)
}

it('replaces the organization in a statement, and names the statement', async () => {
  await client.query('INSERT INTO calls VALUES ($1, $2, $3), ($4, 2, $3)', [org, 1, 'a', other])
  const find = 'SELECT id FROM calls WHERE note = $2 AND organization_id = $1 AND id = ANY($3) AND organization_id = $4'
  const { rows } = await client.query(find, [org, 'a', [1, 2], org])
  expect(rows).toEqual([{ id: 1 }])
  expect(await listNamed(client)).toEqual([
    `SELECT id FROM calls WHERE note = $1 AND organization_id = '${org}' AND id = ANY($2) AND organization_id = '${org}'`,
  ])
})

it('keeps the parameters if a place has another value', async () => {
  const both = 'SELECT id FROM calls WHERE organization_id = $1 OR note = $2 ORDER BY id'
  expect((await client.query(both, [org, org])).rows).toEqual([{ id: 1 }])
  expect((await client.query(both, [org, 'a'])).rows).toEqual([{ id: 1 }, { id: 2 }])
  client.organization = other
  expect((await client.query(both, [other, other])).rows).toEqual([{ id: 2 }])
  client.organization = org
})

it('sends notifications after the commit', async () => {
  await client.query('begin', [])
  await client.query(notifyText, ['channel', 'payload'])
  expect(sent).toEqual([])
  await client.query('commit', [])
  expect(sent.splice(0)).toEqual([[['channel', 'payload']]])
})

it('sends no notification of a transaction that was rolled back or failed', async () => {
  await client.query('begin', [])
  await client.query(notifyText, ['channel', 'payload'])
  await client.query('rollback', [])
  await client.query('begin', [])
  await client.query(notifyText, ['channel', 'payload'])
  await client.query('SELECT 1 / $1::integer', [0]).catch(() => {})
  expect((await client.query('commit', [])).command).toBe('ROLLBACK')
  await client.query('begin', [])
  await client.query('commit', [])
  expect(sent).toEqual([])
})

it('outside of a transaction, sends notifications immediately', async () => {
  await client.query(notifyText, ['channel', 'payload'])
  expect(sent.splice(0)).toEqual([[['channel', 'payload']]])
})

it('names a limited number of statements', async () => {
  for (let number = 0; number < 320; number++) {
    await client.query(`SELECT ${number} FROM calls WHERE organization_id = $1`, [org])
  }
  expect(await listNamed(client)).toHaveLength(300)
})

it('does not name inserts into tables of the coordinator', async () => {
  const coordinator = new CoordinatorClient(database.connection)
  await coordinator.connect()
  try {
    await coordinator.query('CREATE TABLE jobs (id integer)')
    await coordinator.query('INSERT INTO jobs (id) VALUES ($1)', [1])
    await coordinator.query('SELECT id FROM jobs WHERE id = $1', [1])
    expect(await listNamed(coordinator)).toEqual(['SELECT id FROM jobs WHERE id = $1'])
  } finally {
    await coordinator.end()
  }
})
