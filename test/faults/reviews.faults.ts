import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { expect, inject, it } from 'vitest'
import { generateKey, hashKey, keyPrefix } from '../../server/platform/identity/keys.ts'
import { newId } from '../../server/platform/ids.ts'
import { ask, findPostmaster, makeDataDir, provision, startEarshot, takeFreePort } from '../earshot.ts'
import { seededRandom } from '../malformed.ts'

/** Reviewers claim while the service and its database are killed: each conversation gets its two, and none is lost. */

const seed = inject('seeds')[0] ?? 1
const conversations = Math.max(200, inject('rounds') ** 2 / 2)
const reviewers = 50
const kills = Math.min(6, Math.ceil(inject('rounds') / 5))

type Reviewer = { userId: string; key: string }

/** Straight into the database: to invite and sign in fifty people takes longer than the test. */
const makeReviewers = async (database: pg.Client, org: string): Promise<Reviewer[]> => {
  const made = Array.from({ length: reviewers }, () => ({ userId: newId(), key: generateKey() }))
  for (const { userId, key } of made) {
    const email = `${userId}@example.com`
    await database.query(`INSERT INTO users (id, email, name) VALUES ($1, $2, 'Rita')`, [userId, email])
    await database.query(
      `INSERT INTO members (organization_id, id, user_id, name, role, joined_at)
       VALUES ($1, $2, $3, 'Rita', 'member', now())`,
      [org, newId(), userId],
    )
    await database.query(
      `INSERT INTO api_keys (organization_id, id, hash, prefix, name, role, created_by_user_id)
       VALUES ($1, $2, $3, $4, 'A key', 'member', $5)`,
      [org, newId(), hashKey(key), keyPrefix(key), userId],
    )
  }
  return made
}

it('kill -9 while fifty people claim: each conversation has two reviews of different people, and none is lost', async () => {
  process.stdout.write(`reviews: seed ${seed}\n`)
  const random = seededRandom(seed)
  const dataDir = await makeDataDir()
  const port = await takeFreePort()
  const origin = `http://127.0.0.1:${port}`
  const switches = { PORT: String(port), EARSHOT_DATA_DIR: dataDir }
  let earshot = await startEarshot(switches)
  const { key, id: org } = await provision(origin)
  const connect = async () => {
    const client = new pg.Client({ host: join(dataDir, 'postgres'), user: 'earshot', database: 'earshot' })
    // It is killed now and then.
    client.on('error', () => {})
    await client.connect()
    return client
  }
  const { id: agent } = (await ask(origin, 'POST', '/v1/agents', key, { name: 'Leo', channel: 'voice' })).body
  const settings = { name: 'All', type: 'static', reviewsPerConversation: 2 }
  const { id: bucket } = (await ask(origin, 'POST', '/v1/buckets', key, settings)).body
  const database = await connect()
  const { rows } = await database.query(
    `INSERT INTO conversations (organization_id, id, agent_id, channel, status, started_at, metadata, signals)
     SELECT $1, gen_random_uuid(), $2, 'call', 'completed', timestamptz '2026-11-05Z' + n * interval '1 second', '{}', '{}'
     FROM generate_series(1, ${conversations}) n RETURNING id`,
    [org, agent],
  )
  const people = await makeReviewers(database, org)
  await database.end()
  const ids: string[] = rows.map(({ id }) => id)
  for (let at = 0; at < ids.length; at += 1_000) {
    const body = { conversationIds: ids.slice(at, at + 1_000) }
    expect((await ask(origin, 'POST', `/v1/buckets/${bucket}/conversations`, key, body)).status).toBe(200)
  }

  /** Undefined where no answer came, or none that says anything. */
  const attempt = async (person: Reviewer, method: string, path: string, body?: object) => {
    const answer = await ask(origin, method, path, person.key, body).catch(() => undefined)
    if (answer && answer.status !== 503) return answer
    await pause(50)
    return undefined
  }
  const abandoned = new Set<string>()
  const complete = async (person: Reviewer, id: string) => {
    for (;;) {
      const answer = await attempt(person, 'PATCH', `/v1/reviews/${id}`, { status: 'completed', rating: 4 })
      // 409: the answer of the attempt before was lost.
      if (answer) return expect([200, 409]).toContain(answer.status)
    }
  }
  /** Those whose claim was granted and whose answer never came. */
  const unanswered = async (person: Reviewer): Promise<string[]> => {
    for (;;) {
      const query = `status=in_progress&reviewerUserId=${person.userId}`
      const answer = await attempt(person, 'GET', `/v1/reviews?${query}&limit=200`)
      if (answer) return answer.body.data.map(({ id }: { id: string }) => id).filter((id: string) => !abandoned.has(id))
    }
  }
  let claims = 0
  const work = async (person: Reviewer, abandons: boolean) => {
    for (;;) {
      const answer = await attempt(person, 'POST', `/v1/buckets/${bucket}/claim`)
      if (!answer) continue
      expect([200, 204]).toContain(answer.status)
      if (answer.status === 200) {
        claims++
        if (abandons && random.chance(0.02)) abandoned.add(answer.body.id)
        else await complete(person, answer.body.id)
        continue
      }
      const left = await unanswered(person)
      if (left.length === 0) return
      for (const id of left) await complete(person, id)
    }
  }

  const began = performance.now()
  let isOver = false
  const killing = (async () => {
    for (let kill = 0; kill < kills && !isOver; kill++) {
      await pause(300 + random.below(1_500))
      if (random.chance(0.4)) process.kill(await findPostmaster(dataDir), 'SIGKILL')
      else {
        earshot.child.kill('SIGKILL')
        await earshot.ended
        earshot = await startEarshot(switches)
      }
    }
  })()
  await Promise.all(people.map((person) => work(person, true)))
  isOver = true
  await killing
  const seconds = (performance.now() - began) / 1_000

  // Half an hour later the places of those who never came back are free.
  const clock = await connect()
  const ago = `interval '31 minutes'`
  await clock.query(
    `UPDATE reviews SET lease_expires_at = lease_expires_at - ${ago} WHERE lease_expires_at IS NOT NULL`,
  )
  await clock.query(`UPDATE bucket_conversations SET free_at = free_at - ${ago} WHERE isfinite(free_at)`)
  await Promise.all(people.map((person) => work(person, false)))

  const { rows: reviewed } = await clock.query(
    `SELECT count(*)::integer AS reviews, count(DISTINCT r.reviewer_user_id)::integer AS people,
       i.status, i.reviews_completed AS completed, c.review_status AS review_status
     FROM bucket_conversations i
     JOIN conversations c ON c.organization_id = i.organization_id AND c.id = i.conversation_id
     LEFT JOIN reviews r ON r.organization_id = i.organization_id AND r.bucket_id = i.bucket_id
       AND r.conversation_id = i.conversation_id AND r.status = 'completed'
     GROUP BY i.conversation_id, i.status, i.reviews_completed, c.review_status`,
  )
  await clock.end()
  expect(reviewed).toHaveLength(conversations)
  const wanted = { reviews: 2, people: 2, status: 'completed', completed: 2, review_status: 'completed' }
  for (const one of reviewed) expect(one).toEqual(wanted)
  process.stdout.write(
    `reviews: ${conversations} conversations, ${claims} claims, ${abandoned.size} abandoned, ` +
      `${Math.round(seconds)} s with ${kills} kills\n`,
  )
})
