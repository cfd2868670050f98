import { setImmediate } from 'node:timers/promises'

/** How long a turn of the event loop may take without others noticing. */
const turnMs = 25

/** As `items.map(change)`, for work on megabytes: in between, other requests have their turn. */
export const mapWithPauses = async <T, R>(items: readonly T[], change: (item: T) => R): Promise<R[]> => {
  const changed: R[] = []
  let since = performance.now()
  for (const item of items) {
    changed.push(change(item))
    if (performance.now() - since < turnMs) continue
    await setImmediate()
    since = performance.now()
  }
  return changed
}
