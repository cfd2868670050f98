// Measures batches of 500 conversations over HTTP, with turns read, signals computed, text indexed, and evaluation
// enqueued. Compares them with one statement for each table and one for each row, using the same rows. The three
// alternate, so that changes in the machine's speed affect all of them. Then measures the memory for an NDJSON stream,
// and for one that is ten times as long.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Incoming } from '../server/conversations/ingest/incoming.ts'
import {
  type ConversationRow,
  insertConversations,
  type TranscriptRow,
  upsertTranscripts,
} from '../server/conversations/ingest/queries.ts'
import { giveTranscript } from '../server/conversations/ingest/transcript.ts'
import { type Maker, makeConversation } from '../server/demo/conversation.ts'
import { enqueueEvaluation } from '../server/evaluations/lifecycle.ts'
import { type Database, type OrgId, openDatabase } from '../server/platform/db/database.ts'
import { newId, orgIdOf } from '../server/platform/ids.ts'
import { type Jobs, openJobs } from '../server/platform/jobs/queue.ts'
import { openLog } from '../server/platform/log.ts'
import { signalsOf } from '../server/transcripts/signals/compute.ts'
import { noSignals } from '../server/transcripts/signals/signals.ts'
import { median, openBenchDatabase, type Server, startServer } from './servers.ts'

const rounds = 5
const batchSize = 500
const batches = 12
const lanes = 2
const turnCount = 20
const serviceKey = 'service-key-of-the-bench-0123456789'

const maker: Maker = { seed: 7, anchor: new Date(), days: 30, companies: [] }

/** Returns a conversation of twenty turns, each with the text of two turns of the demo. */
const conversation = (number: number): Incoming => {
  const said: { text?: string }[] = []
  for (let at = number; said.length < 2 * turnCount; at++) {
    // The demo's conversations contain turns in Earshot's own format.
    said.push(...(makeConversation(maker, at).transcript as { text?: string }[]))
  }
  const turns = said.slice(0, turnCount).map((turn, at) => {
    const more = said[turnCount + at]?.text
    return turn.text === undefined || more === undefined ? turn : { ...turn, text: `${turn.text} ${more} ${more}` }
  })
  return { ...makeConversation(maker, number), externalId: `bench-${number}`, metrics: [], transcript: turns }
}

const bodyOf = (
  { agent, version, metrics: _, provider: __, ...item }: Incoming,
  agentId: string,
  versionId: string,
) => ({
  ...Object.fromEntries(Object.entries(item).filter(([, value]) => value !== null)),
  agentId,
  agentVersionId: versionId,
})

type Rows = { conversations: ConversationRow[]; transcripts: TranscriptRow[] }

/** Returns the rows that the product stores for a batch. They are prepared, so that only storing is measured. */
const rowsOf = (items: Incoming[], agentId: string, agentVersionId: string): Rows => {
  const conversations: ConversationRow[] = []
  const transcripts: TranscriptRow[] = []
  for (const { transcript, agent, version, metrics, recordingUrl, status, externalId, ...item } of items) {
    const id = newId()
    const { measured, ...read } = giveTranscript(transcript, { startedAt: item.startedAt }).read()
    const signals = measured ? signalsOf(measured, null) : noSignals
    const row = {
      ...item,
      id,
      externalId: `floor-${id}`,
      agentId,
      agentVersionId,
      status: status ?? 'completed',
      signals,
      recordingStatus: null,
    }
    conversations.push(row)
    transcripts.push({ conversationId: id, ...read, transcribedBy: null })
  }
  return { conversations, transcripts }
}

const storeSet = (database: Database, jobs: Jobs, org: OrgId, { conversations, transcripts }: Rows) =>
  database.db.transaction().execute(async (trx) => {
    await insertConversations(trx, org, conversations)
    await upsertTranscripts(trx, org, transcripts)
    await enqueueEvaluation(
      { jobs },
      trx,
      org,
      conversations.map(({ id }) => id),
    )
  })

const storeRows = async (database: Database, jobs: Jobs, org: OrgId, { conversations, transcripts }: Rows) => {
  for (const [at, row] of conversations.entries()) {
    const transcript = transcripts[at]
    await database.db.transaction().execute(async (trx) => {
      await insertConversations(trx, org, [row])
      if (transcript) await upsertTranscripts(trx, org, [transcript])
      await enqueueEvaluation({ jobs }, trx, org, [row.id])
    })
  }
}

/** Returns how many conversations a second are stored, with as many concurrent requests as there are cores. */
const rate = async <T>(work: T[], run: (item: T) => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now()
  const queue = work.values()
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (const item of queue) await run(item)
    }),
  )
  return (work.length * batchSize) / ((performance.now() - startedAt) / 1_000)
}

const send = async (
  origin: string,
  path: string,
  key: string,
  body: string | ReadableStream,
  type = 'application/json',
) => {
  const response = await fetch(origin + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': type },
    body,
    // fetch rejects a stream without this option, but its type lacks it.
    ...({ duplex: 'half' } as object),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text.slice(0, 500)}`)
  return text
}

const megabytes = async (server: Server): Promise<number> => {
  const status = await readFile(`/proc/${server.child.pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024
}

/** Returns the peak memory of the server during an operation. */
const peakWhile = async (server: Server, work: Promise<unknown>): Promise<number> => {
  let peak = 0
  let done = false
  work.then(
    () => {
      done = true
    },
    () => {
      done = true
    },
  )
  while (!done) {
    peak = Math.max(peak, await megabytes(server))
    await sleep(20)
  }
  await work
  return peak
}

const streamOf = (from: number, count: number, text: (number: number) => string): ReadableStream => {
  const encoder = new TextEncoder()
  let next = from
  return new ReadableStream({
    pull: (controller) => {
      if (next >= from + count) return controller.close()
      const end = Math.min(from + count, next + 100)
      let lines = ''
      for (; next < end; next++) lines += `${text(next)}\n`
      controller.enqueue(encoder.encode(lines))
    },
  })
}

const database = await openBenchDatabase()
const servers: Server[] = []
let opened: { pool: Database; jobs: Jobs } | undefined
try {
  const server = await startServer(join(import.meta.dirname, '../bin/earshot'), ['serve'], {
    PORT: '0',
    DATABASE_URL: database.url,
    EARSHOT_ROLES: 'http',
    EARSHOT_STORAGE_SHARED: 'true',
    EARSHOT_DATA_DIR: join(database.folder, 'files'),
    EARSHOT_SERVICE_KEY: serviceKey,
    EARSHOT_SECRET_KEY: 'a-secret-key-for-the-bench-0123456789',
  })
  servers.push(server)
  const owner = { email: 'owner@example.com', name: 'Owner' }
  const provision = { name: 'Bench', slug: 'bench', owner }
  const { organization, apiKey } = JSON.parse(
    await send(server.origin, '/v1/organizations', serviceKey, JSON.stringify(provision)),
  )
  const org = orgIdOf(organization.id)
  const key = apiKey.key as string
  const agent = JSON.parse(await send(server.origin, '/v1/agents', key, '{"name":"Leo","channel":"voice"}'))
  const prompt = JSON.stringify({ systemPrompt: 'You are Leo.' })
  const version = JSON.parse(await send(server.origin, `/v1/agents/${agent.id}/versions`, key, prompt))
  const pool = openDatabase({ connection: { connectionString: database.url }, applicationName: 'bench' })
  const jobs = openJobs({ database: pool, log: openLog({ write: () => {} }) })
  opened = { pool, jobs }

  let number = 0
  const some = () =>
    Array.from({ length: batches }, () => Array.from({ length: batchSize }, () => conversation(number++)))
  const textOf = (item: Incoming) => JSON.stringify(bodyOf(item, agent.id, version.id))
  const overHttp = (items: Incoming[][]) => items.map((batch) => `{"conversations":[${batch.map(textOf).join(',')}]}`)
  const post = (body: string) => send(server.origin, '/v1/conversations/batch', key, body)

  const bytes = textOf(conversation(1)).length
  process.stdout.write(`a conversation of ${turnCount} turns has ${bytes} bytes\n`)
  await rate(overHttp(some()), post)
  const ratios: { toSet: number; toRows: number; replay: number }[] = []
  process.stdout.write('  round  set-based/s  row by row/s  earshot/s  repeated/s  to set-based  to row by row\n')
  for (let round = 1; round <= rounds; round++) {
    const rowsFor = (items: Incoming[][]) => items.map((batch) => rowsOf(batch, agent.id, version.id))
    const set = await rate(rowsFor(some()), (rows) => storeSet(pool, jobs, org, rows))
    const rows = await rate(rowsFor(some().slice(0, 4)), (batch) => storeRows(pool, jobs, org, batch))
    const bodies = overHttp(some())
    const earshot = await rate(bodies, post)
    const replay = await rate(bodies, post)
    ratios.push({ toSet: earshot / set, toRows: earshot / rows, replay: replay / earshot })
    const cells = [round, set.toFixed(0), rows.toFixed(0), earshot.toFixed(0), replay.toFixed(0)]
    const last = [(earshot / set).toFixed(2), (earshot / rows).toFixed(2)]
    const widths = [7, 13, 14, 11, 12, 14, 15]
    process.stdout.write(`${[...cells, ...last].map((cell, at) => String(cell).padStart(widths[at] ?? 0)).join('')}\n`)
  }
  const of = (name: keyof (typeof ratios)[number]) => median(ratios.map((ratio) => ratio[name])).toFixed(2)
  process.stdout.write(`median: ${of('toSet')} of the set-based floor, ${of('toRows')} times row by row\n`)

  const line = (at: number) => textOf(conversation(at))
  const stream = (count: number) => {
    const from = number
    number += count
    return send(server.origin, '/v1/conversations/batch', key, streamOf(from, count, line), 'application/x-ndjson')
  }
  const short = await peakWhile(server, stream(6_000))
  const long = await peakWhile(server, stream(60_000))
  process.stdout.write(
    `memory: at most ${short.toFixed(0)} MB while 6,000 stream in, ${long.toFixed(0)} MB while 60,000 do: ` +
      `${(long / short).toFixed(2)} times\n`,
  )
} finally {
  await opened?.jobs.close()
  await opened?.pool.close()
  for (const server of servers) await server.stop()
  await database.close()
}
