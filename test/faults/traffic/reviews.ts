// Reviews the same conversations concurrently. Each conversation gets two reviews by different people.
import type { Reviewer } from '../database.ts'
import type { Stage, Traffic } from '../stage.ts'

const conversations = 12
const wanted = 2

const completion = (rating: number) => ({ status: 'completed', rating })

export const openReviews = async ({
  client,
  post,
  agentId,
  startedAt,
  reviewers,
  random,
  query,
  org,
}: Stage): Promise<Traffic> => {
  const settings = { name: 'All', type: 'static', reviewsPerConversation: wanted }
  const { body: bucket } = await post('/v1/buckets', [201], settings)
  const bodies = Array.from({ length: conversations }, (_, number) => ({
    externalId: `reviewed-${number}`,
    agentId,
    channel: 'call',
    startedAt: startedAt.toISOString(),
    transcript: [{ role: 'customer', text: 'Hello.' }],
  }))
  const { body: batch } = await post('/v1/conversations/batch', [200], { conversations: bodies })
  const ids: string[] = batch.data.map(({ id }: { id: string }) => id)
  await post(`/v1/buckets/${bucket.id}/conversations`, [200], { conversationIds: ids })

  const completed = new Map<string, number>()
  const complete = async (key: string, id: string, rating: number) => {
    // A status of 409 means that the response to a completion was lost, or that someone with a fast clock claimed its
    // slot.
    const { status } = await client.send('PATCH', `/v1/reviews/${id}`, [200, 409], { key, body: completion(rating) })
    if (status === 200) completed.set(id, rating)
  }
  /** Lists granted claims with a lost response. */
  const listBegun = async ({ userId, key }: Reviewer): Promise<string[]> => {
    const path = `/v1/reviews?status=in_progress&reviewerUserId=${userId}&limit=200`
    const { body } = await client.send('GET', path, [200], { key })
    return body.data.map(({ id }: { id: string }) => id)
  }

  const send = async (number: number) => {
    const person = random.pick(reviewers)
    const claim = await client.attempt('POST', `/v1/buckets/${bucket.id}/claim`, { key: person.key })
    if (claim?.status === 200) await complete(person.key, claim.body.id, 1 + (number % 5))
    else if (claim && claim.status !== 204) throw new Error(`a claim was answered ${claim.status}`)
  }

  const completeAll = async (person: Reviewer) => {
    for (;;) {
      const claim = await client.send('POST', `/v1/buckets/${bucket.id}/claim`, [200, 204], { key: person.key })
      if (claim.status === 204) break
      await complete(person.key, claim.body.id, 3)
    }
    for (const id of await listBegun(person)) await complete(person.key, id, 3)
  }

  const compare = async () => {
    const rows: { id: string; reviews: number; people: number; status: string; counted: number }[] = await query(
      `SELECT i.conversation_id AS id, count(r.id)::int AS reviews, count(DISTINCT r.reviewer_user_id)::int AS people,
         i.status, i.reviews_completed AS counted
       FROM bucket_conversations i LEFT JOIN reviews r ON r.organization_id = $1 AND r.bucket_id = i.bucket_id
         AND r.conversation_id = i.conversation_id AND r.status = 'completed'
       WHERE i.organization_id = $1 AND i.bucket_id = $2 GROUP BY i.conversation_id, i.status, i.reviews_completed`,
      [org, bucket.id],
    )
    const found = rows
      .filter(
        (row) =>
          row.reviews !== wanted || row.people !== wanted || row.counted !== wanted || row.status !== 'completed',
      )
      .map((row) => `a reviewed conversation has ${JSON.stringify(row)}`)
    if (rows.length !== conversations)
      found.push(`the bucket has ${rows.length} conversations in place of ${conversations}`)
    const ratings: { id: string; rating: number; status: string }[] = await query(
      'SELECT id, rating, status FROM reviews WHERE organization_id = $1 AND id = ANY($2::uuid[])',
      [org, [...completed.keys()]],
    )
    for (const [id, rating] of completed) {
      const row = ratings.find((one) => one.id === id)
      if (row?.status !== 'completed' || row.rating !== rating) {
        found.push(`the review ${id} was completed with ${rating} and is ${JSON.stringify(row)}`)
      }
    }
    return found
  }

  const finish = async () => {
    for (const person of reviewers) await completeAll(person)
  }

  return { send, finish, compare }
}
