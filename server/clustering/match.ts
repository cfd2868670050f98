// Assigns the IDs of known clusters to rebuilt clusters, based on their common members.

export type Cluster = { members: ReadonlySet<string> }
export type Known = Cluster & { id: string }

export type Matched = {
  /** The known ID of each rebuilt cluster, or undefined if the cluster is new. */
  ids: (string | undefined)[]
  /** The known clusters that were mostly split among several rebuilt ones. The first of these keeps the ID. */
  splits: { id: string; into: number[] }[]
  /** The known clusters that mostly went into the same rebuilt cluster, except for the one that gave it its ID. */
  merges: { ids: string[]; into: number }[]
  /** The known clusters without a successor. */
  ended: string[]
}

/** Two clusters correspond only if they have at least this share of the smaller cluster's members in common. */
const leastShare = 0.3

type Overlap = { known: number; made: number; common: number; ofKnown: number; ofMade: number }

/** Counts common members. Ignores members that exist on only one side, such as new conversations. */
const findOverlaps = (known: Known[], made: Cluster[]): Overlap[] => {
  const knownOf = new Map<string, number>()
  for (const [at, { members }] of known.entries()) for (const member of members) knownOf.set(member, at)
  const commonOf = made.map(({ members }) => {
    const counts = new Map<number, number>()
    for (const member of members) {
      const of = knownOf.get(member)
      if (of !== undefined) counts.set(of, (counts.get(of) ?? 0) + 1)
    }
    return counts
  })
  const totals = new Map<number, number>()
  for (const counts of commonOf) for (const [at, common] of counts) totals.set(at, (totals.get(at) ?? 0) + common)
  return commonOf.flatMap((counts, at) => {
    const total = [...counts.values()].reduce((sum, common) => sum + common, 0)
    return [...counts].map(([from, common]) => ({
      known: from,
      made: at,
      common,
      ofKnown: common / (totals.get(from) ?? common),
      ofMade: common / total,
    }))
  })
}

export const matchClusters = (known: Known[], made: Cluster[]): Matched => {
  const overlaps = findOverlaps(known, made)
    .filter(({ ofKnown, ofMade }) => Math.max(ofKnown, ofMade) >= leastShare)
    .sort((a, b) => b.common - a.common || a.known - b.known || a.made - b.made)
  const ids: (string | undefined)[] = made.map(() => undefined)
  const continued = new Set<number>()
  for (const { known: from, made: to } of overlaps) {
    if (ids[to] !== undefined || continued.has(from)) continue
    ids[to] = known[from]?.id
    continued.add(from)
  }
  const splits = known.flatMap(({ id }, from) => {
    const into = overlaps.filter((one) => one.known === from && one.ofMade >= leastShare).map((one) => one.made)
    // The one with the same ID comes first.
    into.sort((a, b) => Number(ids[b] === id) - Number(ids[a] === id) || a - b)
    return continued.has(from) && into.length > 1 && ids[into[0] ?? 0] === id ? [{ id, into }] : []
  })
  const merges = made.flatMap((_, to) => {
    const from = overlaps.filter((one) => one.made === to && one.ofKnown >= 0.5 && known[one.known]?.id !== ids[to])
    const gone = from.filter((one) => !continued.has(one.known)).map((one) => known[one.known]?.id ?? '')
    return gone.length > 0 ? [{ ids: gone, into: to }] : []
  })
  const merged = new Set(merges.flatMap((merge) => merge.ids))
  const ended = known.filter(({ id }, at) => !continued.has(at) && !merged.has(id)).map(({ id }) => id)
  return { ids, splits, merges, ended }
}
