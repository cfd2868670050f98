import { setTimeout as pause } from 'node:timers/promises'
import { expect, inject, it } from 'vitest'
import { ask, findPostmaster, makeDataDir, provision, startEarshot, takeFreePort } from '../earshot.ts'
import { seededRandom } from '../malformed.ts'
import { openClient } from './client.ts'
import { connectTo, insertCalls, insertReviewers, type Reviewer } from './database.ts'

/**
 * Tests that each conversation gets its two reviews, and none is lost, even if the service and its database are killed
 * while reviewers claim conversations.
 */

const seed = inject('seeds')[0] ?? 1
const conversations = Math.max(200, inject('rounds') ** 2 / 2)
const reviewers = 50
const kills = Math.min(6, Math.ceil(inject('rounds') / 5))

it('killing processes while fifty people claim leaves two reviews of different people for each conversation, and loses none', async () => {
  process.stdout.write(`reviews: seed ${seed}\n`)
  const random = seededRandom(seed)
  const dataDir = await makeDataDir()
  const port = await takeFreePort()
  const origin = `http://127.0.0.1:${port}`
  const switches = { PORT: String(port), EARSHOT_DATA_DIR: dataDir }
  let earshot = await startEarshot(switches)
  const { key, id: org } = await provision(origin)
  const client = openClient([origin])
  const { id: agent } = (await ask(origin, 'POST', '/v1/agents', key, { name: 'Leo', channel: 'voice' })).body
  const settings = { name: 'All', type: 'static', reviewsPerConversation: 2 }
  const { id: bucket } = (await ask(origin, 'POST', '/v1/buckets', key, settings)).body
  const database = await connectTo(dataDir)
  const ids = await insertCalls(database, org, agent, conversations)
  const people = await insertReviewers((text, values) => database.query(text, values), org, reviewers)
  await database.end()
  for (let at = 0; at < ids.length; at += 1_000) {
    const body = { conversationIds: ids.slice(at, at + 1_000) }
    expect((await ask(origin, 'POST', `/v1/buckets/${bucket}/conversations`, key, body)).status).toBe(200)
  }

  const abandoned = new Set<string>()
  const complete = (person: Reviewer, id: string) => {
    const body = { status: 'completed', rating: 4 }
    return client.send('PATCH', `/v1/reviews/${id}`, [200], { key: person.key, body, done: [409] })
  }
  /** Lists granted claims with a lost response. */
  const listUnanswered = async ({ userId, key }: Reviewer): Promise<string[]> => {
    const path = `/v1/reviews?status=in_progress&reviewerUserId=${userId}&limit=200`
    const { body } = await client.send('GET', path, [200], { key })
    return body.data.map(({ id }: { id: string }) => id).filter((id: string) => !abandoned.has(id))
  }
  let claims = 0
  const work = async (person: Reviewer, abandons: boolean) => {
    for (;;) {
      const claim = await client.send('POST', `/v1/buckets/${bucket}/claim`, [200, 204], { key: person.key })
      if (claim.status === 200) {
        claims++
        if (abandons && random.chance(0.02)) abandoned.add(claim.body.id)
        else await complete(person, claim.body.id)
        continue
      }
      const left = await listUnanswered(person)
      if (left.length === 0) return
      for (const id of left) await complete(person, id)
    }
  }

  const began = performance.now()
  let [killed, isOver] = [0, false]
  const killing = (async () => {
    for (let kill = 1; kill <= kills; kill++) {
      // Claims with a lost response are not counted, so the last one may never be completed.
      while (claims < (2 * conversations * kill) / (kills + 1) && !isOver) await pause(5)
      await pause(random.below(50))
      if (isOver) return
      killed++
      if (random.chance(0.4)) process.kill(await findPostmaster(dataDir), 'SIGKILL')
      else {
        earshot.child.kill('SIGKILL')
        await earshot.ended
        earshot = await startEarshot(switches)
      }
    }
  })()
  const working = Promise.all(people.map((person) => work(person, true))).finally(() => {
    isOver = true
  })
  await Promise.all([killing, working])
  const seconds = (performance.now() - began) / 1_000

  // Half an hour later, the slots of lost claims are free.
  const clock = await connectTo(dataDir)
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
      `${Math.round(seconds)} s with ${killed} kills\n`,
  )
})
