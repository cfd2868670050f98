import { sql } from 'kysely'

/** The statuses and results of monitors. The position of each is its number in the tables. */
export const resultStatuses = ['scored', 'unscored', 'failed'] as const
export const results = ['not_affected', 'affected'] as const

/** The numbers as literals, which the conditions of indexes require. */
export const codes = {
  scored: sql.lit(0),
  unscored: sql.lit(1),
  failed: sql.lit(2),
  notAffected: sql.lit(0),
  affected: sql.lit(1),
}
