/**
 * Removes the oldest entries of a map until at most this many are left. An entry only becomes newer if it is deleted
 * before it is set again.
 */
export const dropOldest = (entries: Map<unknown, unknown>, most: number): void => {
  for (const oldest of entries.keys()) {
    if (entries.size <= most) return
    entries.delete(oldest)
  }
}
