import { setTimeout as pause } from 'node:timers/promises'
import { expect, inject, it } from 'vitest'
import {
  ask,
  listProcesses,
  makeDataDir,
  provision,
  type RunningEarshot,
  startEarshot,
  takeFreePort,
} from '../../test/earshot.ts'
import { connectTo } from '../../test/faults/database.ts'
import { seededRandom } from '../../test/malformed.ts'
import { requestBuild } from '../../test/support/topics.ts'

/** Kills processes while they build topics, or assign conversations to them. */

const seed = inject('seeds')[0] ?? 1
const kills = Math.min(6, inject('rounds'))

const requests = [
  'my credit card was stolen, please block it',
  'I want to order two large pizzas with extra cheese',
  'what will the weather be like tomorrow in Paris',
  'I need to book a flight to New York on Friday',
]
const endings = ['', ' today', ' as soon as possible', ' for my wife', ' for me and my brother', ' if that is possible']
const first = 240
const eachKill = 20

/** Every conversation with words has a topic, or is an outlier, in the newest build. All other rows are leftovers. */
const leftovers = `
  SELECT
    (SELECT count(DISTINCT number)::int FROM topic_builds) AS builds,
    (SELECT count(*)::int FROM conversation_passages p WHERE p.position = 0) AS embedded,
    (SELECT count(*)::int FROM conversation_topics) AS assigned,
    (SELECT count(*)::int FROM conversation_topics o
      WHERE o.build <> (SELECT max(number) FROM topic_builds)) AS "ofOtherBuilds",
    (SELECT count(*)::int FROM conversation_topics o WHERE o.topic_id IS NOT NULL AND NOT EXISTS (
      SELECT FROM topics t WHERE t.id = o.topic_id AND t.ended_at IS NULL AND NOT t.is_group)) AS "ofOtherTopics",
    (SELECT count(*)::int FROM topics t WHERE t.ended_at IS NULL AND NOT t.is_group
      AND (t.center IS NULL OR t.bound IS NULL OR t.model NOT IN (SELECT model FROM topic_builds))) AS incomplete,
    (SELECT count(*)::int FROM topics t WHERE t.group_id IS NOT NULL AND t.ended_at IS NULL AND NOT EXISTS (
      SELECT FROM topics g WHERE g.id = t.group_id AND g.is_group AND g.ended_at IS NULL)) AS "withoutGroup",
    (SELECT count(*)::int FROM topic_changes c WHERE c.build > (SELECT max(number) FROM topic_builds)) AS "ofNoBuild"`

/** Returns the IDs of the processes that find topics for a process. */
const listClustering = async (parent: number | undefined): Promise<string[]> =>
  (await listProcesses('topics/clustering/process')).flatMap((line) => {
    const [pid = '', parentId] = line.split(/ +/)
    return Number(parentId) === parent ? [pid] : []
  })

const untilClustering = ({ child }: RunningEarshot) =>
  expect
    .poll(async () => (await listClustering(child.pid)).length, { interval: 20, timeout: 60_000 })
    .toBeGreaterThan(0)

it('kills leave one complete build, and every conversation has its topic', { timeout: 600_000 }, async () => {
  process.stdout.write(`kills while building topics: seed ${seed}\n`)
  const random = seededRandom(seed)
  const dataDir = await makeDataDir()
  const port = await takeFreePort()
  const origin = `http://127.0.0.1:${port}`
  const switches = { PORT: String(port), EARSHOT_DATA_DIR: dataDir, EARSHOT_EMBEDDINGS: 'on' }
  let earshot = await startEarshot(switches)
  const { id: org, key } = await provision(origin)
  let added = 0
  const add = async (count: number): Promise<void> => {
    const conversations = Array.from({ length: count }, () => {
      const number = added++
      const text = `${requests[number % 4]}${endings[(number >> 2) % endings.length]}`
      return {
        externalId: `call-${number}`,
        agent: { externalId: 'leo', name: 'Leo', channel: 'voice' },
        channel: 'call',
        startedAt: new Date(Date.now() - number * 60_000).toISOString(),
        transcript: [{ role: 'customer', text }],
      }
    })
    const { status, body } = await ask(origin, 'POST', '/v1/conversations/batch', key, { conversations })
    expect(status, JSON.stringify(body)).toBe(200)
  }
  const untilEmbedded = () =>
    expect
      .poll(async () => (await ask(origin, 'GET', '/v1/embeddings', key)).body, { timeout: 120_000 })
      .toMatchObject({ embedded: added, waiting: 0 })
  await add(100)
  await add(first - 100)
  await untilEmbedded()

  const orphans: string[] = []
  let database = await connectTo(dataDir)
  const read = async () => (await database.query(leftovers)).rows[0]
  for (let kill = 0; kill < kills; kill++) {
    await requestBuild(database, org)
    await add(eachKill)
    // Every second kill certainly hits a build, and the others hit it, or the assignment, by chance.
    if (kill % 2 === 0) await untilClustering(earshot)
    await pause(random.below(kill % 2 === 0 ? 300 : 4_000))
    orphans.push(...(await listClustering(earshot.child.pid)))
    earshot.child.kill('SIGKILL')
    await earshot.ended
    await database.end()
    earshot = await startEarshot(switches)
    database = await connectTo(dataDir)
  }
  await untilEmbedded()
  const buildsBefore = (await database.query('SELECT max(number) AS number FROM topic_builds')).rows[0]?.number ?? 0
  await requestBuild(database, org)
  const newest = async () => (await database.query('SELECT max(number) AS number FROM topic_builds')).rows[0]?.number
  await expect.poll(newest, { timeout: 120_000 }).toBeGreaterThan(buildsBefore)
  await expect.poll(read, { timeout: 120_000 }).toEqual({
    builds: 1,
    embedded: added,
    assigned: added,
    ofOtherBuilds: 0,
    ofOtherTopics: 0,
    incomplete: 0,
    withoutGroup: 0,
    ofNoBuild: 0,
  })
  const { body } = await ask(origin, 'GET', '/v1/topics', key)
  expect(body.data.length).toBeGreaterThan(1)
  expect(body.conversations).toBe(added)
  await database.end()
  // The processes that found topics for a killed one end by themselves.
  const running = async () => {
    const lines = await listProcesses('topics/clustering/process')
    return orphans.filter((pid) => lines.some((line) => line.startsWith(`${pid} `)))
  }
  await expect.poll(running, { timeout: 60_000 }).toEqual([])
})
