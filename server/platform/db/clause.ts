import type { RawBuilder } from 'kysely'

/** A condition in SQL. */
export type Clause = RawBuilder<boolean>
