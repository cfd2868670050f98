import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, inject, it } from 'vitest'
import { ask, makeDataDir, provision, startEarshot, takeFreePort } from '../earshot.ts'
import { seededRandom } from '../malformed.ts'
import { customersIn } from '../support/alignments.ts'
import { answer, serveModel } from '../support/monitors/model-server.ts'
import { connectTo } from './database.ts'

/**
 * Tests that an alignment completes even if it is killed at any time, and pays for each answer only once, except for
 * answers in flight.
 */

const seed = inject('seeds')[0] ?? 1
const kills = 3
const perHalf = 60
const concurrency = 4

it('killing processes during an alignment loses no answer that was stored', async () => {
  process.stdout.write(`alignments: seed ${seed}\n`)
  const random = seededRandom(seed)
  const calls = new Map<string, number>()
  let asked = 0
  const model = await serveModel(async ({ body, transcript }) => {
    const system = body.messages[0]?.content ?? ''
    asked++
    await pause(5 + random.below(25))
    const isDistilling = system.startsWith('You write guidelines')
    const proposal = isDistilling ? 'notes' : system.includes('- Be kind.') ? 'guidelines' : 'baseline'
    const name = `${proposal} ${/It is (\d+)/.exec(transcript)?.[1] ?? ''}`
    calls.set(name, (calls.get(name) ?? 0) + 1)
    return isDistilling ? JSON.stringify({ guidelines: ['Be kind.'] }) : answer({ score: 2 })
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
  const customers = [...customersIn(org, 'tuning', perHalf), ...customersIn(org, 'test', perHalf)]
  const conversations = customers.map((customerId, number) => ({
    externalId: `call-${number}`,
    customerId,
    agent: { externalId: 'leo', name: 'Leo', channel: 'voice' },
    channel: 'call',
    startedAt: '2026-11-20T09:00:00Z',
    transcript: [{ role: 'agent', text: `It is ${number}.` }],
  }))
  const { data } = (await ask(origin, 'POST', '/v1/conversations/batch', key, { conversations })).body
  const output = { type: 'score', min: 0, max: 10, affectedWhen: { op: 'gte', value: 7 } }
  const definition = { criteria: 'How rude is the agent?', output }
  // The monitor is disabled, so that only the alignment evaluates it.
  const monitor = { name: 'Rudeness', kind: 'judge', definition, enabled: false }
  const { id: monitorId } = (await ask(origin, 'POST', '/v1/monitors', key, monitor)).body

  const database = await connectTo(dataDir)
  try {
    for (const [at, { id }] of data.entries()) {
      const reviewId = randomUUID()
      await database.query(
        `INSERT INTO reviews (organization_id, id, conversation_id, reviewer_user_id, status, completed_at)
         SELECT $1, $2, $3, user_id, 'completed', now() FROM members WHERE organization_id = $1 LIMIT 1`,
        [org, reviewId, id],
      )
      await database.query(
        `INSERT INTO review_judgments (organization_id, review_id, monitor_id, monitor_version, correct_result, comment)
         VALUES ($1, $2, $3, 1, $4, 'He was rude.')`,
        [org, reviewId, monitorId, at % 2 === 0 ? 'affected' : 'not_affected'],
      )
    }
    const path = `/v1/monitors/${monitorId}/alignments`
    const body = { proposals: ['threshold', 'guidelines'] }
    const { body: started } = await ask(origin, 'POST', path, key, body)
    for (let kill = 0; kill < kills; kill++) {
      const enough = asked + 1 + random.below(30)
      await expect.poll(() => asked, { timeout: 30_000, interval: 2 }).toBeGreaterThan(enough)
      await pause(random.below(60))
      earshot.child.kill('SIGKILL')
      await earshot.ended
      earshot = await startEarshot(switches)
    }
    const read = async () => (await ask(origin, 'GET', `${path}/${started.id}`, key)).body
    await expect.poll(async () => (await read()).status, { timeout: 60_000 }).toBe('completed')
    expect(await read()).toMatchObject({ done: perHalf * 3, report: { baseline: { conversations: perHalf } } })
    const needed = perHalf * 3 + 1
    expect(calls.size).toBe(needed)
    // Each kill can lose as many answers as were in flight.
    expect(asked).toBeLessThanOrEqual(needed + kills * concurrency)
    process.stdout.write(`alignments: ${needed} answers, ${asked} paid calls, ${kills} kills\n`)
  } finally {
    await database.end()
  }
})
