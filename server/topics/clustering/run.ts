import { join } from 'node:path'
import type { Found, KnownClusters } from '../../clustering/find-clusters.ts'
import type { Nearest } from '../../clustering/k-means.ts'
import { forkInBackground, runToEnd } from '../../platform/background-process.ts'

/** Vectors have one signed byte per dimension and are stored consecutively. */
export type TopicOrder =
  | { vectors: Int8Array; seed: number }
  | { texts: string[][] }
  | { vectors: Int8Array; clusters: KnownClusters }
export type TopicReply = { found: Found } | { terms: string[][] } | { nearest: (Nearest | undefined)[] }

const run = async (order: TopicOrder, signal: AbortSignal): Promise<TopicReply> => {
  signal.throwIfAborted()
  const child = forkInBackground(join(import.meta.dirname, 'process.ts'), {
    execArgv: ['--max-old-space-size=512', '--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
  })
  const { message: reply, ending } = await runToEnd<TopicReply>(child, order, signal)
  if (!reply) throw new Error(`The process that finds topics ended with ${ending}`)
  return reply
}

/** Finds clusters of vectors. The result is always the same for the same seed. */
export const findInProcess = async (vectors: Int8Array, seed: number, signal: AbortSignal): Promise<Found> => {
  const reply = await run({ vectors, seed }, signal)
  if (!('found' in reply)) throw new Error('The process returned no clusters')
  return reply.found
}

/** Returns the terms that name each cluster of texts. */
export const labelInProcess = async (texts: string[][], signal: AbortSignal): Promise<string[][]> => {
  const reply = await run({ texts }, signal)
  if (!('terms' in reply)) throw new Error('The process returned no terms')
  return reply.terms
}

/** Returns the cluster of each vector, or undefined for outliers. */
export const assignInProcess = async (
  vectors: Int8Array,
  clusters: KnownClusters,
  signal: AbortSignal,
): Promise<(Nearest | undefined)[]> => {
  const reply = await run({ vectors, clusters }, signal)
  if (!('nearest' in reply)) throw new Error('The process returned no assignments')
  return reply.nearest
}
