import { sql } from 'kysely'

/** The statuses and results of monitors. The position of each value is the number that is stored for it. */
export const resultStatuses = ['scored', 'unscored', 'failed'] as const
export const results = ['not_affected', 'affected'] as const

/** The numbers as literals, as required by the conditions of indexes. */
export const codes = {
  scored: sql.lit(0),
  unscored: sql.lit(1),
  failed: sql.lit(2),
  notAffected: sql.lit(0),
  affected: sql.lit(1),
}
