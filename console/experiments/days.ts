const dayMs = 86_400_000

/**
 * Returns the time `days` days before the current hour. The time stays the same for an hour, so queries that use it are
 * cached.
 */
export const daysAgo = (days: number): string =>
  new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000 - days * dayMs).toISOString()
