import { once } from 'node:events'
import { createServer } from 'node:net'
import pg from 'pg'
import { expect, it } from 'vitest'
import { isPassingDatabaseError, violatedConstraint } from './errors.ts'

const failureOf = async (config: pg.ClientConfig): Promise<unknown> => {
  const client = new pg.Client({ user: 'nobody', database: 'nothing', connectionTimeoutMillis: 10_000, ...config })
  client.on('error', () => {})
  return client.connect().then(
    () => undefined,
    (error: unknown) => error,
  )
}

/** Returns a port on which no server is listening. */
const closedPort = async (): Promise<number> => {
  const server = createServer().listen(0)
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

it('an unavailable database is temporary, however that shows', async () => {
  const port = await closedPort()
  expect(isPassingDatabaseError(await failureOf({ host: '127.0.0.1', port }))).toBe(true)
  // The name ends in a top-level domain that never resolves.
  expect(isPassingDatabaseError(await failureOf({ host: 'database.invalid', port }))).toBe(true)
  const each = [await failureOf({ host: '127.0.0.1', port }), await failureOf({ host: '127.0.0.2', port })]
  expect(isPassingDatabaseError(new AggregateError(each))).toBe(true)
})

it('other errors are not', () => {
  expect(isPassingDatabaseError(new Error('no'))).toBe(false)
  expect(isPassingDatabaseError(new AggregateError([new Error('no')]))).toBe(false)
  expect(isPassingDatabaseError(Object.assign(new Error('no file'), { code: 'ENOENT', syscall: 'open' }))).toBe(false)
  expect(isPassingDatabaseError(undefined)).toBe(false)
})

/** Creates an error with a message from Citus 14. */
const fromCitus = (code: string, message: string, routine = 'ReportResultError') =>
  Object.assign(new Error(message), { code, routine })

it.each([
  ['23505', 'duplicate key value violates unique constraint "companies_pkey_102077"', 'companies_pkey'],
  [
    '23503',
    'insert or update on table "companies_102061" violates foreign key constraint "companies_organization_fkey_102061"',
    'companies_organization_fkey',
  ],
  [
    '23503',
    'update or delete on table "companies_102077" violates foreign key constraint "agents_company_fkey_102109" on table "agents_102109"',
    'agents_company_fkey',
  ],
  [
    '23514',
    'new row for relation "agents_102109" violates check constraint "agents_channel_check"',
    'agents_channel_check',
  ],
  ['23502', 'null value in column "name" of relation "agents_102109" violates not-null constraint', undefined],
])('reads the constraint from a message of Citus: %s %s', (code, message, name) => {
  expect(violatedConstraint(fromCitus(code, message))).toBe(name)
  expect(violatedConstraint(fromCitus('XX000', message, 'ReportCopyError'))).toBe(name)
  expect(isPassingDatabaseError(fromCitus('XX000', message, 'ReportCopyError'))).toBe(false)
})

it('does not treat other errors as violations', () => {
  const corrupt = fromCitus('XX000', 'unexpected zero page in index "companies_pkey"', '_bt_checkpage')
  expect(violatedConstraint(corrupt)).toBeUndefined()
  expect(violatedConstraint(new Error('companies_pkey'))).toBeUndefined()
  expect(violatedConstraint(undefined)).toBeUndefined()
})

it.each([
  ['XX000', 'failure on connection marked as essential: 127.0.0.1:9702'],
  ['XX000', 'could not commit transaction for shard 102077 on at least one active node'],
  ['XX000', 'could not connect to any active placements'],
  ['XX000', 'execution cannot recover from multiple connection failures. Last node failed 127.0.0.1:9702'],
  ['XX000', 'server closed the connection unexpectedly\n\tThis probably means the server terminated abnormally'],
  ['XX000', 'SSL SYSCALL error: EOF detected\ninvalid socket'],
  ['XX000', 'no connection to the server'],
  ['XX000', 'could not find valid entry for shard 102303'],
  ['XX000', 'terminating connection due to administrator command'],
  ['58030', 'failed to COPY to shard 102077 on 127.0.0.1:9702'],
  [
    '08006',
    'connection to the remote node postgres@127.0.0.1:9702 failed with the following error: connection not open',
  ],
  ['57P01', 'terminating connection due to administrator command'],
  ['40P01', 'canceling the transaction since it was involved in a distributed deadlock'],
])('treats the loss of a Citus node or shard as temporary: %s %s', (code, message) => {
  expect(isPassingDatabaseError(fromCitus(code, message))).toBe(true)
})

it('does not treat other internal errors of Citus as temporary', () => {
  expect(isPassingDatabaseError(fromCitus('XX000', 'cannot pushdown the subquery'))).toBe(false)
  expect(isPassingDatabaseError(fromCitus('0A000', 'failure on connection marked as essential'))).toBe(false)
})
