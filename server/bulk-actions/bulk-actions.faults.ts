import { setTimeout as pause } from 'node:timers/promises'
import { expect, inject, it } from 'vitest'
import { ask, makeDataDir, provision, startEarshot, takeFreePort } from '../../test/earshot.ts'
import { connectTo } from '../../test/faults/database.ts'
import { seededRandom } from '../../test/malformed.ts'

/**
 * Kills the service at any moment while bulk actions run. Each action must still change each conversation exactly once,
 * and count its changes correctly.
 */

const seed = inject('seeds')[0] ?? 1
const kills = Math.ceil(inject('rounds') / 2)
const count = 6_000
const erasedCount = 2_000

const conversation = (number: number) => ({
  externalId: `call-${number}`,
  agent: { externalId: 'leo', name: 'Leo', channel: 'voice' },
  channel: number < erasedCount ? 'chat' : 'call',
  startedAt: new Date(Date.parse('2026-11-20T09:00:00Z') + number * 1_000).toISOString(),
})

it('kills during bulk actions neither repeat nor lose a change', { timeout: 300_000 }, async () => {
  process.stdout.write(`bulk actions: seed ${seed}\n`)
  const random = seededRandom(seed)
  const dataDir = await makeDataDir()
  const port = await takeFreePort()
  const origin = `http://127.0.0.1:${port}`
  const switches = { PORT: String(port), EARSHOT_DATA_DIR: dataDir }
  let earshot = await startEarshot(switches)
  const { key, id: org } = await provision(origin)
  for (let first = 0; first < count; first += 1_000) {
    const conversations = Array.from({ length: 1_000 }, (_, at) => conversation(first + at))
    expect((await ask(origin, 'POST', '/v1/conversations/batch', key, { conversations })).status).toBe(200)
  }
  const post = async (path: string, body: object = {}) => {
    const answer = await ask(origin, 'POST', path, key, body)
    if (answer.status >= 300) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const bucketId = (await post('/v1/buckets', { name: 'All', type: 'static' })).id
  const findingId = (await post('/v1/findings', { title: 'All' })).id
  const userId = (await ask(origin, 'GET', '/v1/me', key)).body.member.userId
  const start = async (action: object, filter: object = {}): Promise<string> =>
    (await post('/v1/conversations/bulk', { filter, action })).id
  const get = async (id: string) => (await ask(origin, 'GET', `/v1/conversations/bulk/${id}`, key)).body

  let killed = 0
  /** Kills the service repeatedly until the actions have ended. */
  const end = async (ids: string[], until: number) => {
    while (killed < until) {
      await pause(random.below(500))
      earshot.child.kill('SIGKILL')
      await earshot.ended
      killed++
      earshot = await startEarshot(switches)
    }
    for (const id of ids) {
      await expect.poll(async () => (await get(id)).status, { timeout: 60_000 }).not.toMatch(/queued|running/)
    }
    return Promise.all(ids.map(get))
  }

  const ids = [
    await start({ kind: 'tag', add: ['all', 'first'] }),
    await start({ kind: 'add_to_bucket', bucketId }),
    await start({ kind: 'attach_to_finding', findingId }),
    await start({ kind: 'assign_reviewer', userId }),
  ]
  const whole = { status: 'completed', total: count, done: count, changed: count, failed: 0 }
  expect(await end(ids, Math.floor(kills / 2))).toMatchObject(ids.map(() => whole))
  const undoing = (await post(`/v1/conversations/bulk/${ids[3]}/undo`)).id
  const erasing = await start({ kind: 'erase' }, { channels: ['chat'] })
  const [undone, erased] = await end([undoing, erasing], kills)
  expect(undone.status).toBe('completed')
  expect(erased).toMatchObject({ status: 'completed', total: erasedCount, done: erasedCount, changed: erasedCount })
  // A conversation that was erased before its review was taken back is not counted.
  expect(undone).toMatchObject({ total: undone.done, failed: 0 })
  expect(undone.done).toBeGreaterThanOrEqual(count - erasedCount)

  const database = await connectTo(dataDir)
  try {
    const countOf = async (from: string): Promise<number> => {
      const { rows } = await database.query(`SELECT count(*)::int AS count FROM ${from} AND organization_id = $1`, [
        org,
      ])
      return rows[0].count
    }
    const left = count - erasedCount
    expect({
      conversations: await countOf('conversations WHERE true'),
      tags: await countOf('conversation_tags WHERE true'),
      items: await countOf(`bucket_conversations WHERE bucket_id = '${bucketId}'`),
      attached: await countOf(`finding_conversations WHERE finding_id = '${findingId}'`),
      reviews: await countOf('reviews WHERE true'),
    }).toEqual({ conversations: left, tags: 2 * left, items: left, attached: left, reviews: 0 })
    const { rows } = await database.query(
      `SELECT count(*)::int AS count, count(DISTINCT target ->> 'id')::int AS distinct FROM audit_events,
         jsonb_array_elements(targets) target WHERE organization_id = $1 AND action = 'conversation.erase'`,
      [org],
    )
    expect(rows).toEqual([{ count: erasedCount, distinct: erasedCount }])
    process.stdout.write(`bulk actions: ${killed} kills\n`)
  } finally {
    await database.end()
  }
})
