// Finds clusters, names them, or assigns vectors to them in a separate process, which exits after one order.

import { findClusters, nearestCluster } from '../../clustering/find-clusters.ts'
import { labelClusters } from '../../clustering/labels.ts'
import { makeVectors, normalize, type Vectors, vectorAt } from '../../clustering/vectors.ts'
import { dimensions } from '../../embeddings/encoder/sentence-encoder.ts'
import { randomOf } from '../../embeddings/vectors.ts'
import type { TopicOrder, TopicReply } from './run.ts'

/** Converts stored vectors, which have one signed byte per dimension, to unit vectors. */
const unitVectors = (stored: Int8Array): Vectors => {
  const vectors = makeVectors(stored.length / dimensions, dimensions)
  vectors.values.set(stored)
  for (let at = 0; at < vectors.count; at++) normalize(vectorAt(vectors, at))
  return vectors
}

const carryOut = (order: TopicOrder): TopicReply => {
  if ('seed' in order) return { found: findClusters(unitVectors(order.vectors), randomOf(order.seed)) }
  if ('texts' in order) return { terms: labelClusters(order.texts) }
  const vectors = unitVectors(order.vectors)
  const nearest = Array.from({ length: vectors.count }, (_, at) =>
    nearestCluster(order.clusters, vectorAt(vectors, at)),
  )
  return { nearest }
}

// Nobody needs the result if the parent process has exited.
process.on('disconnect', () => process.exit(1))
process.once('message', (order: TopicOrder) => {
  process.send?.(carryOut(order), () => process.exit(0))
})
