// Measures search by meaning: how long a search takes with a million conversations, how many of the ten nearest
// passages it finds, and the cost of embedding. The stored vectors are generated around those of real passages. The
// passages are from a file with one dialogue per line ({turns: [{role, text}]}), or from the demo. Exits with 1 if a
// limit is exceeded. npm run bench -- meaning [CONVERSATIONS] [FILE]

import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import pg from 'pg'
import { openDeps, type ServiceDeps } from '../server/deps.ts'
import { sortVectors } from '../server/embeddings/cells/jobs.ts'
import { builtIn } from '../server/embeddings/models.ts'
import { insertEmbeddings, type NewPassage } from '../server/embeddings/queries.ts'
import { defaultMinimumSimilarity, findSimilar } from '../server/embeddings/search.ts'
import { codeOf, quantize } from '../server/embeddings/vectors.ts'
import { loadConfig } from '../server/platform/config.ts'
import { migrate } from '../server/platform/db/migrate.ts'
import { newId, orgIdOf } from '../server/platform/ids.ts'
import { openLog } from '../server/platform/log.ts'
import { openNearest } from './meaning/exact.ts'
import { readPassages } from './meaning/texts.ts'
import { openGenerator } from './meaning/vectors.ts'
import { failedCount, judge, millisecondsOf, print } from './report.ts'
import { openBenchDatabase } from './servers.ts'

const count = Number(process.argv[2] ?? 1_000_000)
const file = process.argv[3]
const passagesEach = 3
const queryCount = 300
const checkedQueries = 104
const filterCount = 50
const conversationsAtOnce = 500
/** The number of conversations that are embedded in the measurement. */
const embeddedCount = 400

const quantile = (values: number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(share * values.length) - 1] ?? Number.NaN

/** Returns the resident memory of this process's child that runs a file, in megabytes. */
const memoryOf = (name: string): number => {
  for (const pid of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8')
      const isChild = status.includes(`PPid:\t${process.pid}\n`)
      if (!isChild || !readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(name)) continue
      return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1_000
    } catch {
      // The process has ended in the meantime.
    }
  }
  return Number.NaN
}

const org = orgIdOf(newId())
const signal = new AbortController().signal

/** Embeds passages, and measures what that costs. */
const embedPassages = async (deps: ServiceDeps): Promise<{ texts: string[]; vectors: Float32Array[] }> => {
  const conversations = await readPassages(file)
  const measured = conversations.slice(0, embeddedCount)
  const embed = (texts: string[]) => deps.embedder.embed(org, texts, { signal, background: true })
  await embed(['The first text also starts the process.'])
  const ms = await millisecondsOf(async () => {
    for (let at = 0; at < measured.length; at += 25) {
      await embed(measured.slice(at, at + 25).flatMap((passages) => passages.map(({ text }) => text)))
    }
  })
  const passages = measured.flat()
  const words = passages.reduce((sum, { text }) => sum + text.split(' ').length, 0)
  print(`\nEmbedding, with one process`)
  print(
    `  ${(passages.length / measured.length).toFixed(1)} passages per conversation, ${(words / passages.length).toFixed(0)} words each`,
  )
  judge('conversations embedded per second', (measured.length / ms) * 1_000, { atLeast: 5 }, ' per core')
  judge('memory of the process', memoryOf('encoder/process.ts'), { atMost: 250 }, ' MB')
  const texts = [...new Set(conversations.flat().map(({ text }) => text))]
  const vectors = (await embed(texts)).map(({ vector }) => vector)
  return { texts, vectors }
}

type Loaded = { exact: ReturnType<typeof openNearest> }

/** Stores generated vectors, and remembers the exact neighbors of the queries. */
const load = async (deps: ServiceDeps, around: Float32Array[], queries: Float32Array[]): Promise<Loaded> => {
  const next = openGenerator(around, 1)
  const exact = openNearest(queries)
  for (let done = 0; done < count; done += conversationsAtOnce) {
    const conversationIds = Array.from({ length: Math.min(conversationsAtOnce, count - done) }, () => randomUUID())
    const passages: NewPassage[] = []
    for (const conversationId of conversationIds) {
      for (let position = 0; position < passagesEach; position++) {
        const vector = next()
        exact.add(conversationId, vector)
        const stored = { code: codeOf(vector), vector: Uint8Array.from(quantize(vector)), firstTurn: 0, lastTurn: 0 }
        passages.push({ conversationId, position, model: builtIn, ...stored })
      }
    }
    await deps.db.transaction().execute(async (trx) => {
      // Disables foreign keys, because the vectors belong to no conversations.
      await sql`SET LOCAL session_replication_role = replica`.execute(trx)
      await insertEmbeddings(trx, org, { conversationIds, model: builtIn, passages })
    })
  }
  exact.finish()
  return { exact }
}

const database = await openBenchDatabase()
const config = loadConfig({ EARSHOT_DATA_DIR: join(database.folder, 'files') })
const client = new pg.Client({ connectionString: database.url })
await client.connect()
const log = openLog({ write: () => {} })
const connection = { connectionString: database.url }
await migrate(connection, { log })
const deps = await openDeps({ config, log, connection, applicationName: 'bench' })
try {
  const { texts, vectors } = await embedPassages(deps)
  // Every tenth passage is a query, and no vector is generated around it.
  const isQuery = (_: unknown, index: number) => index % 10 === 0
  const queryTexts = texts.filter(isQuery).slice(0, queryCount)
  const queries = vectors.filter(isQuery).slice(0, checkedQueries)
  const around = vectors.filter((_, index) => index % 10 !== 0)
  let exact: Loaded['exact'] | undefined
  const loadMs = await millisecondsOf(async () => {
    ;({ exact } = await load(deps, around, queries))
  })
  print(
    `\n${count.toLocaleString('en')} conversations with ${passagesEach} passages, loaded in ${(loadMs / 1_000).toFixed(0)} s`,
  )
  const sortMs = await millisecondsOf(async () => {
    await deps.jobs.enqueue(deps.db, sortVectors, { organizationId: org, model: builtIn })
    await deps.jobs.drain([sortVectors], deps, { delayed: true })
    await client.query('VACUUM ANALYZE conversation_passages, conversation_embeddings')
    await client.query('CHECKPOINT')
  })
  const { rows } = await client.query<{ cells: number }>(
    'SELECT count(DISTINCT cell)::int AS cells FROM conversation_passages',
  )
  print(`sorted into ${rows[0]?.cells} cells in ${(sortMs / 1_000).toFixed(0)} s`)
  const sizes = await client.query<{ bytes: string }>(
    `SELECT pg_total_relation_size('conversation_passages') + pg_total_relation_size('conversation_embeddings') AS bytes`,
  )
  judge('disk per conversation', Number(sizes.rows[0]?.bytes) / count / 1_000, { atMost: 5 }, ' kB')

  print('\nSearches for texts, one at a time')
  const find = (text: string, limit = 10) => findSimilar(deps, org, { text }, { minimumSimilarity: -1, limit })
  const times: number[] = []
  let found = 0
  for (const [index, text] of queryTexts.entries()) {
    let ids: string[] = []
    times.push(
      await millisecondsOf(async () => {
        ids = (await find(text)).map(({ conversationId }) => conversationId)
      }),
    )
    if (index < queries.length) found += (exact?.nearest(index, 10) ?? []).filter((id) => ids.includes(id)).length
  }
  judge('p50 of the 10 nearest', quantile(times, 0.5), { atMost: 150 }, ' ms')
  judge('p99 of the 10 nearest', quantile(times, 0.99), { atMost: 300 }, ' ms')
  judge('found of the 10 nearest', found / (10 * queries.length), { atLeast: 0.95 }, '')
  const filterTimes: number[] = []
  let selected = 0
  for (const text of queryTexts.slice(0, filterCount)) {
    const options = { minimumSimilarity: defaultMinimumSimilarity, limit: 10_000 }
    filterTimes.push(
      await millisecondsOf(async () => {
        selected += (await findSimilar(deps, org, { text }, options)).length
      }),
    )
  }
  print(
    `  as a filter, a text selects ${Math.round(selected / filterTimes.length).toLocaleString('en')} conversations on average`,
  )
  judge('p50 as a filter', quantile(filterTimes, 0.5), { atMost: 1_000 }, ' ms')
  judge('p99 as a filter', quantile(filterTimes, 0.99), { atMost: 2_000 }, ' ms')
  judge('memory of the process that embeds queries', memoryOf('encoder/process.ts'), { atMost: 250 }, ' MB')
} finally {
  await deps.close()
  await client.end()
  await database.close()
}
process.exitCode = failedCount() > 0 ? 1 : 0
