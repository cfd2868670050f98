/** Returns the 95% Wilson interval, for rates that the API returns without one. */
export const wilson = (hits: number, n: number): { low: number; high: number } | null => {
  if (n === 0) return null
  const z = 1.959963984540054
  const centre = (hits + (z * z) / 2) / (n + z * z)
  const half = (z / (n + z * z)) * Math.sqrt((hits * (n - hits)) / n + (z * z) / 4)
  return { low: Math.max(0, centre - half), high: Math.min(1, centre + half) }
}
