import { afterAll, beforeAll, expect, it } from 'vitest'
import { onPlainPostgres } from '../../../../test/citus.ts'
import { testDatabase } from '../../../../test/database.ts'
import { openLog } from '../../log.ts'
import { migrate } from '../migrate.ts'
import { distribute, type Statement } from './distribute.ts'
import { placement } from './placement.ts'

// The tests on a cluster are in test/cluster.

// The database is migrated here, because the template is already distributed on a cluster.
const { connection, drop } = await testDatabase({ empty: true })
beforeAll(() => migrate(connection, { log: openLog({ write: () => {} }) }))
afterAll(drop)

const plan = async () => {
  const statements: Statement[] = []
  const count = await distribute(connection, { dryRun: true, onStatement: (statement) => statements.push(statement) })
  expect(statements).toHaveLength(count)
  return statements
}

const tablesOf = (kind: string) => Object.keys(placement).filter((table) => placement[table] === kind)

it('plans each table once, reference tables first, and all others colocated with the first of them', async () => {
  const statements = await plan()
  const [reference, distributed] = [tablesOf('reference'), tablesOf('distributed')]
  expect(
    statements
      .slice(0, reference.length)
      .map(({ table }) => table)
      .toSorted(),
  ).toEqual(reference.toSorted())
  const onCoordinator = tablesOf('coordinator').toSorted()
  expect(statements.slice(-onCoordinator.length).map(({ text }) => text)).toEqual(
    onCoordinator.map((table) => `SELECT citus_add_local_table_to_metadata('public.${table}')`),
  )
  const rest = statements.slice(reference.length, -onCoordinator.length)
  expect(rest.map(({ table }) => table).toSorted()).toEqual(distributed.toSorted())
  const [first, ...others] = rest
  expect(first?.text).toBe(
    `SELECT create_distributed_table('public.${first?.table}', 'organization_id', colocate_with => 'none')`,
  )
  for (const { table, text } of others) {
    expect(text).toBe(
      `SELECT create_distributed_table('public.${table}', 'organization_id', colocate_with => 'public.${first?.table}')`,
    )
  }
})

onPlainPostgres('the nodes of a cluster have Citus').it('says what is missing without Citus', async () => {
  await expect(distribute(connection, { dryRun: false, onStatement: () => {} })).rejects.toThrow(
    'Citus is not installed in the database.',
  )
})
