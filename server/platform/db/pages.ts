import { type SelectQueryBuilder, sql } from 'kysely'
import type { Page } from '../http/paging.ts'

type Order = 'asc' | 'desc'

const slice =
  (column: string, order: Order, limit: number, after: string | undefined) =>
  <DB, Tables extends keyof DB, Row>(query: SelectQueryBuilder<DB, Tables, Row>) =>
    query
      .$if(after !== undefined, (list) => list.where(sql.ref(column), order === 'asc' ? '>' : '<', after))
      .orderBy(sql.ref(column), order)
      .limit(limit)

/** Selects a page in descending order, with one more row if there is another page. Queries pass it to `$call`. */
export const newestFirst = (column: string, { limit, after }: Page) => slice(column, 'desc', limit + 1, after)

/** Selects a page in ascending order, with one more row if there is another page. Queries pass it to `$call`. */
export const oldestFirst = (column: string, { limit, after }: Page) => slice(column, 'asc', limit + 1, after)

/** Selects the next rows when a table is read in parts. Queries pass it to `$call`. */
export const nextRows = (column: string, { limit, after }: Page) => slice(column, 'asc', limit, after)
