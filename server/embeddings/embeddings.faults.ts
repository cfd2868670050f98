import { setTimeout as pause } from 'node:timers/promises'
import { expect, inject, it } from 'vitest'
import { ask, makeDataDir, provision, startEarshot, takeFreePort } from '../../test/earshot.ts'
import { connectTo } from '../../test/faults/database.ts'
import { seededRandom } from '../../test/malformed.ts'

/** Kills processes in the middle of embedding. */

const seed = inject('seeds')[0] ?? 1
const conversations = 24
const kills = Math.min(6, inject('rounds'))

it('kills lose no conversation, and store none twice', { timeout: 300_000 }, async () => {
  process.stdout.write(`kills while embedding: seed ${seed}\n`)
  const random = seededRandom(seed)
  const dataDir = await makeDataDir()
  const port = await takeFreePort()
  const origin = `http://127.0.0.1:${port}`
  const switches = { PORT: String(port), EARSHOT_DATA_DIR: dataDir, EARSHOT_EMBEDDINGS: 'on' }
  let earshot = await startEarshot(switches)
  const { key } = await provision(origin)
  const add = async (number: number): Promise<void> => {
    const text = (turn: number) => `I have question number ${number} about invoice ${turn}. `.repeat(5)
    const { status } = await ask(origin, 'POST', '/v1/conversations', key, {
      externalId: `call-${number}`,
      agent: { externalId: 'leo', name: 'Leo', channel: 'voice' },
      channel: 'call',
      startedAt: '2026-11-20T09:00:00Z',
      transcript: Array.from({ length: 12 }, (_, turn) => ({ role: 'customer', text: text(turn) })),
    })
    expect([200, 201]).toContain(status)
  }
  for (let kill = 0; kill < kills; kill++) {
    const each = conversations / kills
    for (let number = kill * each; number < (kill + 1) * each; number++) await add(number)
    await pause(random.below(2_000))
    earshot.child.kill('SIGKILL')
    await earshot.ended
    earshot = await startEarshot(switches)
  }
  const progress = async () => (await ask(origin, 'GET', '/v1/embeddings', key)).body
  await expect.poll(progress, { timeout: 120_000 }).toMatchObject({ embedded: conversations, waiting: 0 })
  const database = await connectTo(dataDir)
  try {
    const { rows } = await database.query(
      'SELECT count(*)::int AS passages, count(DISTINCT (conversation_id, position))::int AS different FROM conversation_passages',
    )
    expect(rows).toEqual([{ passages: conversations * 6, different: conversations * 6 }])
  } finally {
    await database.end()
  }
})
