import { setImmediate } from 'node:timers/promises'
import { mapWithPauses } from '../platform/map-with-pauses.ts'
import type { Similar } from '../platform/meanings.ts'
import type { StoredPassage } from './queries.ts'
import { readVector, similarityTo } from './vectors.ts'

/** The maximum length of a turn of the event loop. Comparing thousands of passages takes several turns. */
const turnMs = 4

/** All positions in a list are below this number. */
const positions = 2 ** 20
const steps = 2 ** 30

/** Sorts by similarity. Equal ones keep their order. Numbers are sorted many times faster than objects. */
const sortNearest = (found: Similar[]): Similar[] => {
  const keys = Float64Array.from(found, ({ similarity }, at) => Math.round((1 - similarity) * steps) * positions + at)
  return Array.from(keys.sort(), (key) => found[key % positions] as Similar)
}

/** Returns the most similar passage of each conversation, nearest first. Leaves out those that are less similar. */
export const rankPassages = async (
  passages: StoredPassage[],
  vector: ArrayLike<number>,
  minimumSimilarity: number,
): Promise<Similar[]> => {
  const similarityOf = similarityTo(vector)
  const best = new Map<string, Similar>()
  await mapWithPauses(
    passages,
    ({ conversationId, vector: stored, firstTurn, lastTurn }) => {
      const similarity = similarityOf(readVector(stored))
      if (similarity < minimumSimilarity) return
      const before = best.get(conversationId)
      if (before && before.similarity >= similarity) return
      best.set(conversationId, { conversationId, similarity, firstTurn, lastTurn })
    },
    turnMs,
  )
  await setImmediate()
  return sortNearest([...best.values()])
}
