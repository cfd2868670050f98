// Measures how well clusters match the groups that people made of the same texts, on public data: Banking77 and
// CLINC150, as folders `banking77` (train.csv, test.csv) and `clinc150` (data_full.json). Earshot has to find the
// number of clusters itself. For comparison, k-means on the same vectors and on TF-IDF vectors gets the right number.
// npm run bench -- topics FOLDER [TEXTS]

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { findClusters } from '../server/clustering/find-clusters.ts'
import { clusterByDirection } from '../server/clustering/k-means.ts'
import { labelClusters } from '../server/clustering/labels.ts'
import { makeVectors, meanOf, type Vectors, vectorAt, withoutMean } from '../server/clustering/vectors.ts'
import { openRandom } from '../server/demo/random.ts'
import { openEncoder } from '../server/embeddings/encoder/run-encoder.ts'
import { failedCount, judge, millisecondsOf, print } from './report.ts'
import { scoresOf } from './topics/scores.ts'
import { clusterByWords } from './topics/words.ts'

const [folder, most = '10000'] = process.argv.slice(2)
if (folder === undefined) {
  process.stderr.write('Usage: npm run bench -- topics FOLDER [TEXTS]. FOLDER contains banking77 and clinc150.\n')
  process.exit(2)
}
const seed = 37

type Labeled = { text: string; group: string }

const readBanking = async (): Promise<Labeled[]> => {
  const files = ['train.csv', 'test.csv'].map((file) => readFile(join(folder, 'banking77', file), 'utf8'))
  const rows = (await Promise.all(files)).flatMap((file) =>
    parse<{ text: string; category: string }>(file, { columns: true }),
  )
  return rows.map(({ text, category }) => ({ text, group: category }))
}

const readClinc = async (): Promise<Labeled[]> => {
  const file = await readFile(join(folder, 'clinc150', 'data_full.json'), 'utf8')
  // The data's own page describes this format.
  const { train, val, test } = JSON.parse(file) as Record<string, [text: string, group: string][]>
  return [train, val, test].flatMap((rows = []) => rows.map(([text, group]) => ({ text, group })))
}

const encoder = openEncoder({ isBackground: false })

const embed = async (texts: string[]): Promise<Vectors> => {
  const embedded = await encoder.encode('bench', texts, AbortSignal.timeout(3_600_000))
  const vectors = makeVectors(texts.length, embedded[0]?.vector.length ?? 0)
  for (const [at, { vector }] of embedded.entries()) vectorAt(vectors, at).set(vector)
  return vectors
}

const written = ({ nmi, ari }: { nmi: number; ari: number }) => `NMI ${nmi.toFixed(3)}, ARI ${ari.toFixed(3)}`

const measure = async (name: string, all: Labeled[], least: number): Promise<void> => {
  const { next } = openRandom(seed, 1)
  const rows = all
    .map((row) => ({ row, at: next() }))
    .sort((a, b) => a.at - b.at)
    .slice(0, Number(most))
    .map(({ row }) => row)
  const [texts, groups] = [rows.map(({ text }) => text), rows.map(({ group }) => group)]
  const count = new Set(groups).size
  let vectors = makeVectors(0, 0)
  const embeddingMs = await millisecondsOf(async () => {
    vectors = await embed(texts)
  })
  print(
    `\n${name}: ${texts.length} texts in ${count} groups, ${((texts.length / embeddingMs) * 1_000).toFixed(0)} embedded a second`,
  )
  print(`  k-means of TF-IDF, number known: ${written(scoresOf(groups, clusterByWords(texts, count, next)))}`)
  const known = clusterByDirection(withoutMean(vectors, meanOf(vectors)), count, next)
  print(`  k-means of vectors, number known: ${written(scoresOf(groups, known.assigned))}`)
  let found = findClusters(makeVectors(0, 1), next)
  const findingMs = await millisecondsOf(async () => {
    found = findClusters(vectors, next)
  })
  const scores = scoresOf(groups, found.assigned)
  const outliers = found.assigned.filter((cluster) => cluster === -1).length
  print(
    `  Earshot: ${found.sizes.length} clusters in ${new Set(found.groups).size} groups, ` +
      `${((100 * outliers) / texts.length).toFixed(1)}% outliers, ${(findingMs / 1_000).toFixed(1)} s: ${written(scores)}`,
  )
  judge('NMI', scores.nmi, { atLeast: least }, '')
  const ofCluster: string[][] = found.sizes.map(() => [])
  for (const [at, cluster] of found.assigned.entries()) ofCluster[cluster]?.push(texts[at] ?? '')
  for (const label of labelClusters(ofCluster).slice(0, 8)) print(`    ${label.join(', ')}`)
}

try {
  await measure('Banking77', await readBanking(), 0.6)
  await measure('CLINC150', await readClinc(), 0.75)
} finally {
  await encoder.close()
}
process.exitCode = failedCount() > 0 ? 1 : 0
