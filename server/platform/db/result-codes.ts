import { sql } from 'kysely'

/** The statuses and results of monitors, each at the number that stands for it in the tables. */
export const resultStatuses = ['scored', 'unscored', 'failed'] as const
export const results = ['not_affected', 'affected'] as const

/** The numbers as literals, which conditions of indexes need. */
export const codes = {
  scored: sql.lit(0),
  unscored: sql.lit(1),
  failed: sql.lit(2),
  notAffected: sql.lit(0),
  affected: sql.lit(1),
}
