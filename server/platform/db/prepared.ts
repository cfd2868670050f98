import type { CompiledQuery } from 'kysely'
import { endSpan } from '../telemetry/span.ts'
import { type Db, runnerOf } from './database.ts'
import { beginQuery } from './query-spans.ts'

/** A placeholder for an argument while a query is compiled. It remembers the argument's position. */
class Slot {
  readonly index: number

  constructor(index: number) {
    this.index = index
  }
}

/**
 * Builds and compiles a query once, and then only fills in the arguments. Only the few queries that a busy service runs
 * thousands of times a second need this. The structure of the query must not depend on the arguments.
 */
export const prepared = <Arguments extends unknown[], Row>(
  build: (db: Db, ...args: Arguments) => { compile: () => CompiledQuery<Row> },
): ((db: Db, ...args: Arguments) => Promise<Row[]>) => {
  let query: CompiledQuery<Row> | undefined
  return (db, ...args) => {
    // The placeholders stand for the arguments, because a query builder only passes those on as parameters.
    query ??= build(db, ...(args.map((_, index) => new Slot(index)) as unknown as Arguments)).compile()
    const parameters = query.parameters.map((value) => (value instanceof Slot ? args[value.index] : value))
    const run = runnerOf(db)
    if (run) {
      const span = beginQuery(query.sql)
      const rows: Promise<Row[]> = run(query.sql, parameters).then((result) => result.rows)
      if (span) rows.then(() => endSpan(span)).catch((error) => endSpan(span, error))
      return rows
    }
    return db.executeQuery<Row>({ ...query, parameters }).then(({ rows }) => rows)
  }
}
