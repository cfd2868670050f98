// Preserves merges by people when topics are built again. Pure.

type Known = { id: string; mergedIntoId: string | null }
type Built = {
  /** The topics that the build found. */
  ids: string[]
  /** The positions of the topics that a known one was split into. */
  splits: { id: string; into: number[] }[]
  ended: { id: string; mergedIntoId: string | null }[]
}

/**
 * Returns the topic that each merged topic belongs to after a build. If that topic ended, its successor replaces it.
 * Without a successor, the merged topic is listed by itself again. Topics that split off from a merged topic stay
 * merged.
 */
export const rootsAfter = (known: Known[], { ids, splits, ended }: Built): Map<string, string> => {
  const found = new Set(ids)
  const successors = new Map(ended.map(({ id, mergedIntoId }) => [id, mergedIntoId]))
  const before = new Map(known.map(({ id, mergedIntoId }) => [id, mergedIntoId]))
  for (const { id, into } of splits) for (const at of into) before.set(ids[at] ?? '', before.get(id) ?? null)
  const current = (id: string | null | undefined) => (id && !found.has(id) ? successors.get(id) : id)
  const roots = new Map<string, string>()
  for (const id of ids) {
    const root = current(before.get(id))
    // The successor can itself be merged into another topic.
    const last = root && (current(before.get(root)) ?? root)
    if (last && last !== id && found.has(last)) roots.set(id, last)
  }
  // Two topics can't represent each other.
  for (const [id, root] of roots) if (roots.has(root)) roots.delete(id)
  return roots
}
