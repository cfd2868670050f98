/** The calendar month of an instant, in UTC, by its first day. */
export const monthOf = (instant: Date): string => `${instant.toISOString().slice(0, 7)}-01`
