import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { makeComment, makeConversation, makeFinding, makeMonitor, makeOrganization, richText } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { countWaiting } from '../../test/support/count-waiting.ts'
import type { OrgId } from '../platform/db/database.ts'
import { orgIdOf } from '../platform/ids.ts'
import { fileSpike } from './file.ts'
import { lockStandingFinding } from './lock.ts'
import { lockFinding, redirectMerged } from './queries.ts'

const server = await testServer()
const { call, clock } = server
const { db } = server.deps

let org: OrgId
let key: string
beforeEach(async () => {
  const made = await makeOrganization(server)
  org = orgIdOf(made.id)
  key = made.key
})

const create = async (title = 'A'): Promise<string> =>
  (await call('POST', '/v1/findings', { key, body: { title } })).body.id
const get = async (id: string) => (await call('GET', `/v1/findings/${id}`, { key })).body
const listed = async (id: string, part: string) => (await call('GET', `/v1/findings/${id}/${part}`, { key })).body.data
const merge = (id: string, intoId: string) => call('POST', `/v1/findings/${id}/merge`, { key, body: { intoId } })
const triage = (id: string, body: object) => call('POST', `/v1/findings/${id}/triage`, { key, body })
const attach = (id: string, conversationId: string) =>
  call('POST', `/v1/findings/${id}/conversations`, { key, body: { conversationId } })

describe('a merge', () => {
  it('shows everything of both in the target, and resolves the source unchanged', async () => {
    const [one, other] = [await create('One'), await create('Other')]
    const [shared, ofOne, ofOther] = [
      (await makeConversation(server, key)).id,
      (await makeConversation(server, key)).id,
      (await makeConversation(server, key)).id,
    ]
    for (const id of [shared, ofOne]) await attach(one, id)
    for (const id of [shared, ofOther]) await attach(other, id)
    const comments = [
      await makeComment(server, key, other, 'first'),
      await makeComment(server, key, one, 'second'),
      await makeComment(server, key, other, 'third'),
    ]
    await triage(one, { status: 'acknowledged', priority: 'high' })
    await triage(other, { priority: 'low' })
    clock.advance(1_000)
    const [before, target] = [await get(one), await get(other)]

    const merged = await merge(one, other)
    const updatedAt = clock.now().toISOString()
    expect(merged.status).toBe(200)
    expect(merged.body).toEqual({ ...target, conversationCount: 3, commentCount: 3, updatedAt })
    expect(await get(other)).toEqual(merged.body)
    expect(await get(one)).toEqual({ ...before, status: 'resolved', mergedIntoId: other, updatedAt })

    const conversationsOf = async (id: string) =>
      (await listed(id, 'conversations')).map((row: { conversationId: string }) => row.conversationId)
    expect(await conversationsOf(other)).toEqual([ofOther, ofOne, shared])
    expect(await conversationsOf(one)).toEqual([ofOne, shared])
    const commentsOf = async (id: string) => (await listed(id, 'comments')).map((row: { id: string }) => row.id)
    expect(await commentsOf(other)).toEqual(comments)
    expect(await commentsOf(one)).toEqual([comments[1]])
    expect(await listed(other, 'history')).toMatchObject([
      { findingId: one, kind: 'merge', fromStatus: 'acknowledged', toStatus: 'resolved', mergedIntoId: other },
      { findingId: other, toPriority: 'low', mergedIntoId: null },
      { findingId: one, toStatus: 'acknowledged', toPriority: 'high' },
    ])
    expect(await listed(one, 'history')).toHaveLength(2)
    const audit = (await call('GET', '/v1/audit-events?limit=1', { key })).body.data
    expect(audit).toMatchObject([{ action: 'finding.merge', targets: [{ id: one }, { id: other }] }])

    // A conversation of the source now lists the target.
    const ofConversation = await call('GET', `/v1/conversations/${ofOne}/findings`, { key })
    expect(ofConversation.body).toEqual({ data: [merged.body], nextCursor: null })
  })

  it('of a merge target includes what was merged into it', async () => {
    const [a, b, c] = [await create(), await create(), await create()]
    const comment = await makeComment(server, key, a)
    await merge(a, b)
    await merge(b, c)
    expect([(await get(a)).mergedIntoId, (await get(b)).mergedIntoId]).toEqual([c, c])
    expect((await get(c)).commentCount).toBe(1)
    expect(await listed(c, 'history')).toMatchObject([
      { findingId: b, mergedIntoId: c },
      { findingId: a, mergedIntoId: b },
    ])
    // The author can edit the comment in the finding that shows it.
    const edited = await call('PATCH', `/v1/findings/${c}/comments/${comment}`, { key, body: { body: richText('b') } })
    expect(edited).toMatchObject({ status: 200, body: { findingId: a } })
    expect((await call('DELETE', `/v1/findings/${c}/comments/${comment}`, { key })).status).toBe(204)
  })

  it('into itself, of or into a merged finding, or with nothing is rejected', async () => {
    const [a, b, c] = [await create(), await create(), await create()]
    expect((await merge(a, a.toUpperCase())).status).toBe(409)
    const unknown = randomUUID()
    expect((await merge(unknown, unknown)).status).toBe(404)
    await merge(a, b)
    expect((await merge(a, c)).status).toBe(409)
    expect((await merge(c, a)).status).toBe(409)
    expect((await merge(b, a)).status).toBe(409)
    expect((await merge(c, randomUUID())).status).toBe(404)
    const stranger = await makeOrganization(server)
    const foreign = await call('POST', '/v1/findings', { key: stranger.key, body: { title: 'A' } })
    expect((await merge(c, foreign.body.id)).status).toBe(404)
    expect(await listed(c, 'history')).toEqual([])
    expect((await get(a)).mergedIntoId).toBe(b)
  })

  it('ends the source: it accepts nothing more', async () => {
    const [a, b] = [await create(), await create()]
    const conversation = (await makeConversation(server, key)).id
    await attach(a, conversation)
    await merge(a, b)
    const before = await get(a)
    const path = `/v1/findings/${a}`
    const answers = [
      await triage(a, { status: 'open' }),
      await call('PATCH', path, { key, body: { title: 'B' } }),
      await attach(a, conversation),
      await call('DELETE', `${path}/conversations/${conversation}`, { key }),
      await call('POST', `${path}/comments`, { key, body: { body: richText('Hm.') } }),
    ]
    for (const { status, body } of answers) {
      expect([status, body.message]).toEqual([409, expect.stringContaining(b)])
    }
    expect(await get(a)).toEqual(before)
  })

  it('of two into each other, or of one into two concurrently, happens once', async () => {
    for (let round = 0; round < 10; round++) {
      const [a, b, c] = [await create(), await create(), await create()]
      const statuses = (await Promise.all([merge(a, b), merge(b, a)])).map(({ status }) => status)
      expect(statuses.sort()).toEqual([200, 409])
      const left = (await get(a)).mergedIntoId === null ? a : b
      const [d, e] = [await create(), await create()]
      const again = await Promise.all([merge(left, c), merge(left, d), merge(left, e)])
      expect(again.map(({ status }) => status).sort()).toEqual([200, 409, 409])
    }
  })

  it('has its limits', async () => {
    const [a, b, c] = [await create(), await create(), await create()]
    for (let count = 0; count < 99; count++) await merge(await create(), b)
    await merge(await create(), a)
    // The target would have 101 findings, because others were merged into the source before.
    const refused = await merge(a, b)
    expect(refused).toMatchObject({ status: 409, body: { message: expect.stringContaining('At most 100') } })
    expect(await get(a)).toMatchObject({ status: 'open', mergedIntoId: null })
    expect((await merge(c, b)).status).toBe(200)
  })
})

describe('a spike of a monitor with a merged finding', () => {
  const spikeOf = async (monitorId: string) => {
    const conversation = (await makeConversation(server, key)).id
    const spike = { monitorId, now: clock.now(), affected: async () => [conversation] }
    const tell = async () => ({ title: 'Up', paragraphs: ['Up again.'] })
    return db.transaction().execute((trx) => fileSpike(server.deps, trx, org, { ...spike, tell }))
  }

  it('is filed in the target, which is reopened', async () => {
    const { id, monitorId } = await makeFinding(server, key)
    const other = await create()
    await merge(id, other)
    expect(await spikeOf(monitorId)).toEqual({ id: other, news: undefined })
    await triage(other, { status: 'resolved' })
    expect(await spikeOf(monitorId)).toEqual({ id: other, news: 'reopened' })
    expect(await get(other)).toMatchObject({ status: 'open', conversationCount: 3 })
  })

  it('is suppressed while the target is ignored, whatever its monitor', async () => {
    const [one, other] = [await makeFinding(server, key), await makeFinding(server, key)]
    await merge(one.id, other.id)
    await triage(other.id, { status: 'ignored' })
    expect(await spikeOf(one.monitorId)).toBeUndefined()
    clock.advance(30 * 24 * 60 * 60 * 1_000)
    expect(await spikeOf(one.monitorId)).toEqual({ id: expect.any(String), news: 'created' })
    expect((await get(other.id)).status).toBe('ignored')
  })

  it('is filed without locking what a merge of the target includes', async () => {
    const [id, other, last] = [await create(), await create(), await create()]
    await merge(id, other)
    const [following] = await db.transaction().execute(async (merging) => {
      await lockFinding(merging, org, other)
      const following = db.transaction().execute((trx) => lockStandingFinding(trx, org, id))
      await expect.poll(() => countWaiting(db, 'select'), { interval: 5 }).toBe(1)
      await redirectMerged(merging, org, { from: other, into: last })
      return [following]
    })
    expect(await following).toMatchObject({ id: other })
  })

  it('creates a new one if the target is closed and belongs to another monitor', async () => {
    const [one, other] = [await makeFinding(server, key), await makeFinding(server, key)]
    await merge(one.id, other.id)
    expect(await spikeOf(one.monitorId)).toEqual({ id: other.id, news: undefined })
    await triage(other.id, { status: 'resolved' })
    const filed = await spikeOf(one.monitorId)
    expect(filed).toEqual({ id: expect.any(String), news: 'created' })
    expect(await get(filed?.id ?? '')).toMatchObject({ source: { kind: 'monitor', id: one.monitorId } })
    expect(await spikeOf((await makeMonitor(server, key)).id)).toMatchObject({ news: 'created' })
  })
})
