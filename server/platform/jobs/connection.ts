import type pg from 'pg'
import type { ConstructorOptions } from 'pg-boss'

/** The least that pg-boss allows. Workers beat each second. */
export const heartbeatSeconds = 10

/** Both hand it to pg.Pool; only pg-boss's types refuse an explicit undefined, hence the cast. */
export const queueConnection = (connection: pg.PoolConfig): ConstructorOptions =>
  ({ ...connection, schema: 'pgboss' }) as ConstructorOptions
