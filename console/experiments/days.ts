const dayMs = 86_400_000

/** So many days before the present hour: the same instant for an hour, so that what is asked by it is asked once. */
export const daysAgo = (days: number): string =>
  new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000 - days * dayMs).toISOString()
