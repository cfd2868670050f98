/** Returns the calendar month that contains a time, in UTC, as its first day. */
export const monthOf = (instant: Date): string => `${instant.toISOString().slice(0, 7)}-01`
