import { setTimeout as pause } from 'node:timers/promises'
import { expect, inject, it } from 'vitest'
import { ask, makeDataDir, provision, startEarshot, takeFreePort } from '../earshot.ts'
import { seededRandom } from '../malformed.ts'
import { answer, serveModel } from '../support/monitors/model-server.ts'
import { connectTo } from './database.ts'

/**
 * Tests that runs end with one result for each conversation, and pay for each result only once, even if they are killed
 * at any time.
 */

const seed = inject('seeds')[0] ?? 1
const kills = Math.ceil(inject('rounds') / 5)
const count = 200 + kills * 20
const concurrency = 4

const conversation = (number: number) => ({
  externalId: `call-${number}`,
  agent: { externalId: 'leo', name: 'Leo', channel: 'voice' },
  channel: 'call',
  startedAt: new Date(Date.parse('2026-11-20T09:00:00Z') + number * 1_000).toISOString(),
  transcript: [
    { role: 'agent', text: `Your number is ${number}.` },
    { role: 'customer', text: 'Thank you.' },
  ],
})

const numberIn = (transcript: string) => Number(/Your number is (\d+)/.exec(transcript)?.[1])

it('killing processes during runs leaves one result for each conversation, which is paid for once unless it was in flight', async () => {
  process.stdout.write(`runs: seed ${seed}\n`)
  const random = seededRandom(seed)
  const calls = new Map<number, number>()
  const sinceStart = new Set<number>()
  let asked = 0
  const model = await serveModel(async ({ transcript }) => {
    const number = numberIn(transcript)
    calls.set(number, (calls.get(number) ?? 0) + 1)
    sinceStart.add(number)
    asked++
    await pause(5 + random.below(25))
    return answer({ reasoning: `It is ${number}.` })
  })
  const dataDir = await makeDataDir()
  const port = await takeFreePort()
  const origin = `http://127.0.0.1:${port}`
  const switches = {
    PORT: String(port),
    EARSHOT_DATA_DIR: dataDir,
    EARSHOT_JUDGE_BASE_URL: `${model.url}/v1`,
    EARSHOT_JUDGE_MODEL: 'model-1',
    EARSHOT_JUDGE_LIMITS: `concurrency=${concurrency}`,
  }
  let earshot = await startEarshot(switches)
  const { key, id: org } = await provision(origin)
  const conversations = Array.from({ length: count }, (_, number) => conversation(number))
  await ask(origin, 'POST', '/v1/conversations/batch', key, { conversations })
  // The monitors are disabled, so that only the runs evaluate them.
  const monitor = async (kind: string, definition: object): Promise<string> =>
    (await ask(origin, 'POST', '/v1/monitors', key, { name: kind, kind, definition, enabled: false })).body.id
  const judge = await monitor('judge', { criteria: 'The agent was impolite.', output: { type: 'boolean' } })
  const rule = await monitor('rule', { expression: "turns.exists(t, t.text.contains('number is 7'))" })
  const start = (id: string) =>
    ask(origin, 'POST', `/v1/monitors/${id}/evaluations`, key, {
      since: '2026-11-20T00:00:00Z',
      until: '2026-11-21T00:00:00Z',
    })
  expect((await start(judge)).status).toBe(202)

  const database = await connectTo(dataDir)
  try {
    const stored = async (id: string): Promise<number[]> => {
      const { rows } = await database.query(
        `SELECT substr(c.external_id, 6)::int AS number FROM monitor_results r
         JOIN conversations c ON c.organization_id = r.organization_id AND c.id = r.conversation_id
         WHERE r.organization_id = $1 AND r.monitor_id = $2 ORDER BY 1`,
        [org, id],
      )
      return rows.map(({ number }) => number)
    }
    const onTheWay = new Map<number, number>()
    let longestLine = 0
    for (let kill = 0; kill < kills; kill++) {
      const enough = asked + 1 + random.below(30)
      await expect.poll(() => asked, { timeout: 30_000, interval: 2 }).toBeGreaterThan(enough)
      // The status is 409 while the previous run is in progress.
      expect([202, 409]).toContain((await start(rule)).status)
      await pause(random.below(60))
      earshot.child.kill('SIGKILL')
      await earshot.ended
      const done = new Set(await stored(judge))
      const unfinished = [...sinceStart].filter((number) => !done.has(number))
      sinceStart.clear()
      longestLine = Math.max(longestLine, unfinished.length)
      for (const number of unfinished) onTheWay.set(number, (onTheWay.get(number) ?? 0) + 1)
      earshot = await startEarshot(switches)
    }

    const runsOf = async (id: string) => (await ask(origin, 'GET', `/v1/monitors/${id}/evaluations`, key)).body.data
    for (const id of [judge, rule]) {
      await expect
        .poll(async () => (await runsOf(id)).map(({ status }: { status: string }) => status), { timeout: 60_000 })
        .not.toContainEqual(expect.stringMatching('queued|running'))
      for (const run of await runsOf(id)) {
        expect(run).toMatchObject({ status: 'completed', total: count, scored: count, unscored: 0, failed: 0 })
      }
      expect(await stored(id)).toEqual(Array.from({ length: count }, (_, number) => number))
    }
    const paidTooOften = [...calls].filter(([number, paid]) => paid > 1 + (onTheWay.get(number) ?? 0))
    expect(paidTooOften).toEqual([])
    expect(longestLine).toBeLessThanOrEqual(concurrency)
    process.stdout.write(`runs: ${count} conversations, ${asked} paid calls, ${kills} kills\n`)
  } finally {
    await database.end()
  }
})
