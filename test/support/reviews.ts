import { expect } from 'vitest'
import { makeBucket, makeConversation, makeMonitor, makeOrganization, makePerson } from '../make.ts'
import type { TestServer } from '../server.ts'

/** Creates an organization with reviewers, and returns functions for tests of reviews. */
export const openReviewing = async (server: TestServer) => {
  const { call } = server
  const { id: org, key } = await makeOrganization(server)

  const makeReviewer = async (role: 'member' | 'admin' = 'member') => {
    const { userId, headers } = await makePerson(server, key, role)
    const as = (method: string, path: string, body?: unknown) => call(method, path, { headers, body })
    return {
      userId,
      as,
      claim: (bucketId: string) => as('POST', `/v1/buckets/${bucketId}/claim`),
      patch: (id: string, body: object) => as('PATCH', `/v1/reviews/${id}`, body),
      post: (id: string, verb: string, body?: object) => as('POST', `/v1/reviews/${id}/${verb}`, body),
    }
  }

  /** Creates a bucket with this many conversations, and returns them in the order they were added. */
  const makeFilled = async (count: number, fields: object = {}) => {
    const { id, conversationId } = await makeBucket(server, key, fields)
    const ids = [conversationId]
    while (ids.length < count) {
      server.clock.advance(1_000)
      const conversation = await makeConversation(server, key)
      const body = { conversationIds: [conversation.id] }
      expect((await call('POST', `/v1/buckets/${id}/conversations`, { key, body })).status).toBe(200)
      ids.push(conversation.id)
    }
    return { id, ids }
  }

  /** Creates a monitor that has this result for these conversations. */
  const makeJudge = async (conversationIds: string[], result = 'affected') => {
    const { id: monitorId } = await makeMonitor(server, key)
    const results = conversationIds.map((conversationId) => ({ monitorId, conversationId, result }))
    if (results.length > 0) await call('POST', '/v1/monitor-results', { key, body: { results } })
    return monitorId as string
  }

  const reviewStatus = async (conversationId: string) =>
    (await call('GET', `/v1/conversations/${conversationId}`, { key })).body.reviewStatus

  const progress = async (bucketId: string) => (await call('GET', `/v1/buckets/${bucketId}/progress`, { key })).body

  return { org, key, makeReviewer, makeFilled, makeJudge, reviewStatus, progress }
}
