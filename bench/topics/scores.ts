// Scores clusters against the groups that people made of the same texts.

const countBy = <T>(values: Iterable<T>): Map<T, number> => {
  const counts = new Map<T, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return counts
}

const sum = (values: Iterable<number>): number => {
  let total = 0
  for (const value of values) total += value
  return total
}

const pairs = (count: number): number => (count * (count - 1)) / 2

type Scores = {
  /** Normalized mutual information, divided by the mean of both entropies. 1 if clusters and groups are the same. */
  nmi: number
  /** The adjusted Rand index. 0 for random clusters, and 1 if clusters and groups are the same. */
  ari: number
}

export const scoresOf = (groups: string[], clusters: ArrayLike<number>): Scores => {
  const count = groups.length
  const both = countBy(groups.map((group, at) => `${clusters[at]} ${group}`))
  const [ofGroups, ofClusters] = [countBy(groups), countBy(Array.from(clusters))]
  const entropyOf = (counts: Map<unknown, number>) =>
    -sum([...counts.values()].map((one) => (one / count) * Math.log(one / count)))
  const shared = entropyOf(ofGroups) + entropyOf(ofClusters) - entropyOf(both)
  const pairsIn = (counts: Map<unknown, number>) => sum([...counts.values()].map(pairs))
  const expected = (pairsIn(ofGroups) * pairsIn(ofClusters)) / pairs(count)
  const most = (pairsIn(ofGroups) + pairsIn(ofClusters)) / 2
  return {
    nmi: (2 * shared) / (entropyOf(ofGroups) + entropyOf(ofClusters)),
    ari: (pairsIn(both) - expected) / (most - expected),
  }
}
