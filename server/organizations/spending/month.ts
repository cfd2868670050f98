/** Returns the calendar month of a time, in UTC, by its first day. */
export const monthOf = (instant: Date): string => `${instant.toISOString().slice(0, 7)}-01`
