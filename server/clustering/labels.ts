import { termsOf } from './terms.ts'

/** The maximum number of texts to read for a cluster. More would hardly change its terms. */
const mostTexts = 2_000
const termsInLabel = 3

type Counts = Map<string, number>

/** Counts the texts in which each term occurs. */
const countTerms = (texts: string[]): Counts => {
  const counts: Counts = new Map()
  for (const text of texts.slice(0, mostTexts)) {
    for (const term of new Set(termsOf(text))) counts.set(term, (counts.get(term) ?? 0) + 1)
  }
  return counts
}

const isPartOf = (term: string, other: string): boolean => ` ${other} `.includes(` ${term} `)

/** Drops terms that share their words with a better term, and keeps the best of the rest. */
const pickTerms = (ranked: string[]): string[] => {
  const picked: string[] = []
  for (const term of ranked) {
    if (picked.some((other) => isPartOf(term, other) || isPartOf(other, term))) continue
    if (picked.push(term) === termsInLabel) break
  }
  return picked
}

/**
 * Names each cluster by terms that are frequent in its texts but rare in those of other clusters (class-based TF-IDF).
 * Prefers a pair of words if it is nearly as frequent as each of its words.
 */
export const labelClusters = (clusters: string[][]): string[][] => {
  const counted = clusters.map(countTerms)
  const shares = counted.map((counts, at) => {
    const texts = Math.min(mostTexts, clusters[at]?.length ?? 0)
    return new Map([...counts].map(([term, count]) => [term, count / Math.max(1, texts)]))
  })
  const everywhere: Counts = new Map()
  for (const ofCluster of shares) {
    for (const [term, share] of ofCluster) everywhere.set(term, (everywhere.get(term) ?? 0) + share)
  }
  return shares.map((ofCluster, at) => {
    const counts = counted[at]
    // A term that occurs in only one text may be a coincidence.
    const enough = (clusters[at]?.length ?? 0) > 2 ? 2 : 1
    const scored = [...ofCluster].flatMap(([term, share]) => {
      if ((counts?.get(term) ?? 0) < enough) return []
      const mean = (everywhere.get(term) ?? share) / clusters.length
      const wordCount = term.includes(' ') ? 2 : 1
      return [{ term, score: share * Math.log(1 + share / mean) * Math.sqrt(wordCount) }]
    })
    scored.sort((a, b) => b.score - a.score || (a.term < b.term ? -1 : 1))
    return pickTerms(scored.map(({ term }) => term))
  })
}
