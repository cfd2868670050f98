import { weekMs } from '../platform/durations.ts'

const someMonday = Date.UTC(1970, 0, 5)

/** Returns the ISO week that contains a time, in UTC. */
export const weekOf = (instant: Date): { start: Date; end: Date } => {
  const start = someMonday + Math.floor((instant.getTime() - someMonday) / weekMs) * weekMs
  return { start: new Date(start), end: new Date(start + weekMs) }
}
