const units = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB']

export const bytes = (count: number): string => {
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, count)) / 3))
  const value = count / 1_000 ** power
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`
}

/**
 * Estimates the remaining time, assuming that the speed stays the same. Returns an empty string while the speed is
 * unknown.
 */
export const timeLeft = (elapsedMs: number, done: number, total: number): string => {
  if (elapsedMs < 2_000 || done === 0 || done >= total) return ''
  const seconds = Math.ceil(((elapsedMs / done) * (total - done)) / 1_000)
  return seconds < 90 ? `, ${seconds} s left` : `, ${Math.ceil(seconds / 60)} min left`
}
