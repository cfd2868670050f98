import { setTimeout as pause } from 'node:timers/promises'
import { expect, inject, it } from 'vitest'
import { ask, makeDataDir, provision, startEarshot, takeFreePort } from '../earshot.ts'
import { seededRandom } from '../malformed.ts'
import { connectTo } from './database.ts'

/**
 * Tests that each conversation ends up with exactly one score, the right one, even if a process is killed between the
 * items' results and the score.
 */

const seed = inject('seeds')[0] ?? 1
const kills = 3
const perKill = 200

const conversation = (number: number) => ({
  externalId: `call-${number}`,
  agent: { externalId: 'leo', name: 'Leo', channel: 'voice' },
  channel: 'call',
  startedAt: '2026-11-20T09:00:00Z',
  transcript: [{ role: 'agent', text: `Your number is ${number}, ${number % 2 ? 'odd' : 'even'}.` }],
})

/** The first item is affected by odd numbers and worth 3 points, and the second by those that end with 7. */
const scoreOf = (number: number): number => (number % 2 ? 0 : 75) + (number % 10 === 7 ? 0 : 25)

it('killing processes between results and scores leaves the right score for each conversation', async () => {
  process.stdout.write(`scorecards: seed ${seed}\n`)
  const random = seededRandom(seed)
  const dataDir = await makeDataDir()
  const port = await takeFreePort()
  const origin = `http://127.0.0.1:${port}`
  const switches = { PORT: String(port), EARSHOT_DATA_DIR: dataDir }
  let earshot = await startEarshot(switches)
  const { key, id: org } = await provision(origin)
  const create = async (name: string, kind: string, definition: object): Promise<string> =>
    (await ask(origin, 'POST', '/v1/monitors', key, { name, kind, definition })).body.id
  const odd = await create('Odd', 'rule', { expression: "turns.exists(t, t.text.contains('odd'))" })
  const seven = await create('Seven', 'rule', { expression: "turns.exists(t, t.text.contains('7,'))" })
  const items = [
    { monitorId: odd, points: 3 },
    { monitorId: seven, points: 1 },
  ]
  const scorecard = await create('Numbers', 'scorecard', { sections: [{ name: 'All', items }], affectedBelow: 80 })
  const database = await connectTo(dataDir)
  try {
    const count = async (monitorId: string): Promise<number> => {
      const text = 'SELECT count(*)::int AS count FROM monitor_results WHERE organization_id = $1 AND monitor_id = $2'
      return (await database.query(text, [org, monitorId])).rows[0].count
    }
    let open = 0
    for (let kill = 0; kill < kills; kill++) {
      const conversations = Array.from({ length: perKill }, (_, at) => conversation(kill * perKill + at))
      await ask(origin, 'POST', '/v1/conversations/batch', key, { conversations })
      await expect.poll(() => count(odd), { timeout: 30_000, interval: 1 }).toBeGreaterThan(kill * perKill)
      await pause(random.below(4))
      earshot.child.kill('SIGKILL')
      await earshot.ended
      if ((await count(scorecard)) < (await count(odd))) open++
      earshot = await startEarshot(switches)
      await expect.poll(() => count(scorecard), { timeout: 30_000 }).toBe((kill + 1) * perKill)
    }
    const { rows } = await database.query(
      `SELECT substr(c.external_id, 6)::int AS number, r.score FROM monitor_results r
       JOIN conversations c ON c.organization_id = r.organization_id AND c.id = r.conversation_id
       WHERE r.organization_id = $1 AND r.monitor_id = $2 ORDER BY 1`,
      [org, scorecard],
    )
    const numbers = Array.from({ length: kills * perKill }, (_, number) => number)
    // A score is only right once both items have their results.
    expect(rows).toEqual(numbers.map((number) => ({ number, score: scoreOf(number) })))
    process.stdout.write(`scorecards: ${rows.length} scores, ${open} of ${kills} kills between results and scores\n`)
  } finally {
    await database.end()
  }
})
