// Learns cells once there are enough vectors, and sorts vectors into them.

import Type from 'typebox'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { type Attempt, defineJob, OrganizationId } from '../../platform/jobs/define-job.ts'
import { dimensions } from '../encoder/sentence-encoder.ts'
import { joinVectors, readVector } from '../vectors.ts'
import type { Vectors } from './cluster.ts'
import { cellsPerGeneration } from './near.ts'
import {
  countVectors,
  deleteOlderCells,
  findCenters,
  hasMoreUnsorted,
  hasOlderCells,
  insertCells,
  listGenerations,
  listToSort,
  lockGeneration,
  moveToCells,
  sampleVectors,
} from './queries.ts'
import { assign, learn } from './run-cells.ts'

/** The maximum number of unsorted vectors. Each search compares all of them, which is fast enough for so few. */
const mostUnsorted = 2_000
/** The minimum number of vectors for which cells are useful. */
const fewestVectors = 40_000
const vectorsPerCell = 1_500
const [fewestCells, mostCells] = [32, 2_048]
const samplesPerCell = 32
/** Cells are learned again when the useful number of cells has grown by this factor. */
const growth = 4

const sortedAtOnce = 10_000
const sliceMs = 30_000

/** Returns the useful number of cells: a power of two, or zero. */
const usefulCells = (vectors: number): number => {
  if (vectors < fewestVectors) return 0
  return Math.min(mostCells, Math.max(fewestCells, 2 ** Math.floor(Math.log2(vectors / vectorsPerCell))))
}

type Of = { org: OrgId; model: number }
type Cells = { generation: number; centers: Vectors }

const findNewest = async (db: Db, { org, model }: Of): Promise<Cells | undefined> => {
  const generation = (await listGenerations(db, org, model)).at(-1)
  const centers = generation === undefined ? undefined : await findCenters(db, org, model, generation)
  return generation !== undefined && centers ? { generation, centers: readVector(centers) } : undefined
}

/** Learns new cells if there are far more vectors than before. Returns the newest cells. */
const learnCells = async (deps: Deps, { org, model }: Of, attempt: Attempt): Promise<Cells | undefined> => {
  const db = deps.database.dbOf(org)
  const newest = await findNewest(db, { org, model })
  const vectors = await countVectors(db, org, model)
  const useful = usefulCells(vectors)
  const existing = (newest?.centers.length ?? 0) / dimensions
  if (useful === 0 || useful < growth * existing) return newest
  const limit = useful * samplesPerCell
  const sample = await sampleVectors(db, org, model, { share: (1.2 * limit) / vectors, limit })
  const centers = await learn(joinVectors(sample), useful, attempt.signal)
  const generation = (newest?.generation ?? 0) + 1
  await attempt.transaction((trx) => insertCells(trx, org, model, { generation, centers: Buffer.from(centers) }))
  deps.log.info({ organizationId: org, model, vectors, cells: useful }, 'learned cells for search by meaning')
  return findNewest(db, { org, model })
}

/** Sorts vectors until the time is up. Returns whether all are sorted. */
const sortSlice = async (
  deps: Deps,
  { org, model }: Of,
  { generation, centers }: Cells,
  attempt: Attempt,
): Promise<boolean> => {
  const endsAt = performance.now() + sliceMs
  const first = generation * cellsPerGeneration
  for (let from = 0; performance.now() < endsAt; ) {
    const page = { from, below: first, limit: sortedAtOnce }
    const found = await listToSort(deps.database.dbOf(org), org, model, page)
    if (found.length === 0) return true
    const cells = await assign(joinVectors(found.map(({ vector }) => vector)), centers, attempt.signal)
    const sorted = found.map(({ vector: _, ...one }, at) => ({ ...one, cell: first + (cells[at] ?? 0) }))
    await attempt.transaction(async (trx) => {
      if (await lockGeneration(trx, org, model, generation)) await moveToCells(trx, org, model, sorted)
    })
    from = found.at(-1)?.cell ?? from
    if (found.length < sortedAtOnce) return true
  }
  return false
}

/** Sorts an organization's vectors of one model. */
export const sortVectors = defineJob({
  name: 'embeddings.sort',
  payload: Type.Object({ organizationId: OrganizationId, model: Type.Integer() }),
  retryLimit: 3,
  retryDelaySeconds: 60,
  concurrency: 1,
  timeoutSeconds: 30 * 60,
  run: async (deps: Deps, { organizationId: org, model }, attempt): Promise<void> => {
    const cells = await learnCells(deps, { org, model }, attempt)
    if (!cells) return
    const areSorted = await sortSlice(deps, { org, model }, cells, attempt)
    await attempt.finish(async (trx) => {
      // Vectors that another transaction was changing were skipped, and can still be in an older cell.
      const hasOlder = await hasOlderCells(trx, org, model, cells.generation * cellsPerGeneration)
      if (!areSorted) await enqueueSort(deps, trx, org, model)
      else if (hasOlder) await enqueueSort(deps, trx, org, model, waitSeconds)
      else await deleteOlderCells(trx, org, model, cells.generation)
    })
  },
})

/** The delay before sorting. Vectors that arrive in the meantime are sorted together. */
const waitSeconds = 60

const enqueueSort = ({ jobs }: Pick<Deps, 'jobs'>, trx: Db, org: OrgId, model: number, afterSeconds = 0) =>
  jobs.enqueue(
    trx,
    sortVectors,
    { organizationId: org, model },
    { singletonKey: `${model}`, afterSeconds, priority: -1 },
  )

/** Enqueues a job that sorts vectors of these models if many of them are unsorted. */
export const sortLater = async (deps: Pick<Deps, 'jobs'>, trx: Db, org: OrgId, models: number[]): Promise<void> => {
  for (const model of models) {
    if (await hasMoreUnsorted(trx, org, model, mostUnsorted)) await enqueueSort(deps, trx, org, model, waitSeconds)
  }
}
