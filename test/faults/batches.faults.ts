import { setTimeout as pause } from 'node:timers/promises'
import { expect, inject, it } from 'vitest'
import { ask, makeDataDir, provision, startEarshot, takeFreePort } from '../earshot.ts'
import { seededRandom } from '../malformed.ts'
import { serveProvider, standInModel } from '../support/model-providers/stand-ins.ts'
import { answer } from '../support/monitors/model-server.ts'
import { connectTo } from './database.ts'

/**
 * Tests that batch runs submit each request once, and store and charge each result once, even if they are killed at any
 * time.
 */

const seed = inject('seeds')[0] ?? 1
const kills = Math.max(4, Math.ceil(inject('rounds') / 5))
/** A run sends them in two batches. */
const count = 1_200
const sendingKills = 2
const perRequest = 200
/** The cost of a request to the stand-in, at half the price. */
const price = (1_000 * 1_000 + 100 * 10_000) / 1_000_000 / 2

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

it.each(['openai-compatible', 'anthropic'] as const)(
  'killing processes during a run in batches at a provider of kind %s submits and stores each conversation once',
  async (kind) => {
    process.stdout.write(`batches: seed ${seed}\n`)
    const random = seededRandom(seed)
    const { batches, asked, settings } = await serveProvider(kind, ({ user }) => {
      const [, number] = /Your number is (\d+)/.exec(user) ?? []
      return { text: JSON.stringify(answer({ reasoning: `It is ${number}.` })) }
    })
    batches.endsItself = true
    batches.beforeResponse = () => pause(random.below(40))
    const dataDir = await makeDataDir()
    const port = await takeFreePort()
    const origin = `http://127.0.0.1:${port}`
    const switches = {
      PORT: String(port),
      EARSHOT_DATA_DIR: dataDir,
      EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.0/8',
    }
    let earshot = await startEarshot(switches)
    const { key, id: org } = await provision(origin)
    const prices = { [standInModel]: { input: 1_000, output: 10_000 } }
    const provider = { name: 'Stand-in', kind, settings, prices }
    expect((await ask(origin, 'POST', '/v1/model-providers', key, provider)).status).toBe(201)
    for (let from = 0; from < count; from += perRequest) {
      const conversations = Array.from({ length: perRequest }, (_, at) => conversation(from + at))
      await ask(origin, 'POST', '/v1/conversations/batch', key, { conversations })
    }
    const definition = { criteria: 'The agent was impolite.', output: { type: 'boolean' } }
    // The monitor is disabled, so that only the run evaluates it.
    const judge = { name: 'Impolite', kind: 'judge', definition, enabled: false }
    const { id: monitorId } = (await ask(origin, 'POST', '/v1/monitors', key, judge)).body
    const period = { since: '2026-11-20T00:00:00Z', until: '2026-11-21T00:00:00Z' }
    const run = await ask(origin, 'POST', `/v1/monitors/${monitorId}/evaluations`, key, { ...period, mode: 'batch' })
    expect(run.status).toBe(202)

    const database = await connectTo(dataDir)
    try {
      const stored = async (): Promise<{ number: number; reasoning: string }[]> => {
        const { rows } = await database.query(
          `SELECT substr(c.external_id, 6)::int AS number, r.reasoning FROM monitor_results r
           JOIN conversations c ON c.organization_id = r.organization_id AND c.id = r.conversation_id
           WHERE r.organization_id = $1 AND r.monitor_id = $2 ORDER BY 1`,
          [org, monitorId],
        )
        return rows
      }
      /** Lets the pauses between steps pass, which take a minute. */
      const skipPauses = () =>
        database.query(
          `UPDATE jobs SET due_at = now()
           WHERE organization_id = $1 AND state = 'delayed' AND name IN ('evaluation.run', 'evaluation.batch')`,
          [org],
        )
      const open = async (): Promise<string[]> => {
        const text = `SELECT status FROM evaluation_batches WHERE organization_id = $1 AND status <> 'ended'`
        return (await database.query(text, [org])).rows.map(({ status }) => status)
      }
      let submitting = 0
      let reading = 0
      for (let kill = 0; kill < kills; kill++) {
        // The first kills come when the provider has created a batch, mostly before its response. The others come while
        // results are stored.
        const isSending = kill < sendingKills
        const results = (await stored()).length + 1 + random.below(count / kills)
        const isDue = async () => {
          await skipPauses()
          const found = (await stored()).length
          return isSending ? found === count || batches.batches.length > kill : found >= Math.min(results, count)
        }
        await expect.poll(isDue, { timeout: 60_000, interval: 5 }).toBe(true)
        await pause(random.below(30))
        earshot.child.kill('SIGKILL')
        await earshot.ended
        if ((await open()).includes('submitting')) submitting++
        const found = (await stored()).length
        if (found > 0 && found < count) reading++
        // A batch that the provider doesn't list is only submitted again after minutes.
        await database.query(
          `UPDATE evaluation_batches SET submitting_at = submitting_at - interval '10 minutes' WHERE organization_id = $1`,
          [org],
        )
        earshot = await startEarshot(switches)
      }
      const read = async () => {
        await skipPauses()
        return (await ask(origin, 'GET', `/v1/monitors/${monitorId}/evaluations/${run.body.id}`, key)).body
      }
      await expect.poll(async () => (await read()).status, { timeout: 60_000 }).not.toMatch(/queued|running/)
      expect(await read()).toMatchObject({
        status: 'completed',
        total: count,
        scored: count,
        unscored: 0,
        failed: 0,
        batch: { status: 'ended', requests: count, answered: count, failed: 0 },
      })
      const numbers = Array.from({ length: count }, (_, number) => number)
      expect(await stored()).toEqual(numbers.map((number) => ({ number, reasoning: `It is ${number}.` })))
      const submitted = batches.batches.flatMap(({ lines }) => lines.map(({ custom_id }) => custom_id.slice(-32)))
      expect([submitted.length, new Set(submitted).size, asked.length]).toEqual([count, count, count])
      const { judgeSpending } = (await ask(origin, 'GET', '/v1/organization', key)).body
      expect(judgeSpending.judgements).toBe(count)
      expect(judgeSpending.cost).toBeCloseTo(count * price)
      process.stdout.write(
        `batches: ${count} conversations in ${batches.batches.length} batches, ${kills} kills, ` +
          `${submitting} during a submission, ${reading} between results\n`,
      )
    } finally {
      await database.end()
    }
  },
)
