import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { expect, it } from 'vitest'
import { type Maker, makeConversation } from '../server/demo/conversation.ts'
import { ask, findPostmaster, makeDataDir, provision, startEarshot, takeFreePort } from './earshot.ts'
import { seededRandom } from './malformed.ts'

/** A client that repeats a batch until it is answered ends with each conversation once, whatever is killed meanwhile. */

const seed = Number(process.env.CRASH_SEED ?? Math.floor(Math.random() * 2 ** 32))
const kills = 4
const batchSize = 300

const maker: Maker = { seed, anchor: new Date(), days: 30, companies: [] }

const bodyOf = (number: number) => {
  const { agent, version, metrics, recordingUrl: _, ...item } = makeConversation(maker, number)
  if (!('make' in agent) || !version || !('systemPrompt' in version)) throw new Error('the makers have changed')
  return {
    ...Object.fromEntries(Object.entries(item).filter(([, value]) => value !== null)),
    agent: { externalId: agent.externalId, ...agent.make },
    systemPrompt: version.systemPrompt,
    metrics,
  }
}

/** A batch in each of its two forms, in turn. */
const requestOf = (number: number): { type: string; body: string } => {
  const items = Array.from({ length: batchSize }, (_, at) => JSON.stringify(bodyOf(number * batchSize + at)))
  return number % 2 === 0
    ? { type: 'application/json', body: `{"conversations":[${items.join(',')}]}` }
    : { type: 'application/x-ndjson', body: items.join('\n') }
}

it('kill -9 at any point of batches that are repeated: each conversation is there once, and evaluated once', async () => {
  process.stdout.write(`ingest crash: CRASH_SEED=${seed}\n`)
  const random = seededRandom(seed)
  const dataDir = await makeDataDir()
  const port = await takeFreePort()
  const origin = `http://127.0.0.1:${port}`
  const switches = { PORT: String(port), EARSHOT_DATA_DIR: dataDir }
  let earshot = await startEarshot(switches)
  const { key, id: org } = await provision(origin)

  let acknowledged = 0
  let unanswered = 0
  let stopping = false
  const unexpected: string[] = []

  const send = async (number: number): Promise<boolean> => {
    const { type, body } = requestOf(number)
    try {
      const response = await fetch(`${origin}/v1/conversations/batch`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': type },
        signal: AbortSignal.timeout(20_000),
        body,
      })
      // Whatever the interface answers.
      const answer = (await response.json()) as { data: { status: string }[] }
      if (response.status === 503) return false
      const statuses = new Set(answer.data?.map(({ status }) => status))
      if (response.status !== 200 || statuses.has('rejected') || answer.data.length !== batchSize) {
        unexpected.push(`${response.status} ${JSON.stringify(answer).slice(0, 500)}`)
      }
      return true
    } catch (error) {
      // What a killed process leaves of a connection; anything else is a fault of this test.
      if (!(error instanceof TypeError)) unexpected.push(String(error))
      return false
    }
  }

  let next = 0
  const client = async () => {
    while (!stopping) {
      const number = next++
      while (!(await send(number)) && unexpected.length === 0) {
        unanswered++
        await pause(50)
      }
      acknowledged++
    }
  }
  const clients = [client(), client(), client()]
  for (let kill = 0; kill < kills; kill++) {
    const enough = acknowledged + 1 + random.below(3)
    await expect.poll(() => acknowledged, { timeout: 30_000, interval: 2 }).toBeGreaterThan(enough)
    // Within the time that a batch takes, so that it dies at any of its points.
    await pause(random.below(120))
    if (kill % 3 === 2) process.kill(await findPostmaster(dataDir), 'SIGKILL')
    else {
      earshot.child.kill('SIGKILL')
      await earshot.ended
      earshot = await startEarshot(switches)
    }
  }
  stopping = true
  await Promise.all(clients)
  expect(unexpected).toEqual([])
  const expected = next * batchSize
  process.stdout.write(`ingest crash: ${expected} conversations, ${unanswered} requests without an answer\n`)

  const all = { filter: {} }
  await expect
    .poll(async () => (await ask(origin, 'POST', '/v1/conversations/count', key, all)).body?.count, { timeout: 15_000 })
    .toBe(expected)
  const database = new pg.Client({ host: join(dataDir, 'postgres'), user: 'earshot', database: 'earshot' })
  await database.connect()
  try {
    const { rows } = await database.query(
      `SELECT (SELECT count(DISTINCT external_id)::int FROM conversations WHERE organization_id = $1) AS conversations,
        (SELECT count(*)::int FROM transcripts WHERE organization_id = $1) AS transcripts,
        (SELECT count(*)::int FROM conversations WHERE organization_id = $1 AND status = 'completed') AS completed,
        (SELECT count(*)::int FROM pgboss.job, jsonb_array_elements_text(data->'conversationIds')
          WHERE name = 'conversation.evaluate') AS evaluations`,
      [org],
    )
    const [{ conversations, transcripts, completed, evaluations }] = rows
    expect({ conversations, transcripts, evaluations }).toEqual({
      conversations: expected,
      transcripts: expected,
      evaluations: completed,
    })
  } finally {
    await database.end()
  }
}, 180_000)
