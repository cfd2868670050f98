const dayMs = 24 * 60 * 60 * 1_000
const weekMs = 7 * dayMs
const someMonday = Date.UTC(1970, 0, 5)

/** The ISO week in UTC that an instant is in. */
export const weekOf = (instant: Date): { start: Date; end: Date } => {
  const start = someMonday + Math.floor((instant.getTime() - someMonday) / weekMs) * weekMs
  return { start: new Date(start), end: new Date(start + weekMs) }
}
