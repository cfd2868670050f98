import { expect, it } from 'vitest'
import { makeAgent, makeConversations, makeOrganization } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { dayMs, minuteMs } from '../platform/durations.ts'
import { orgIdOf } from '../platform/ids.ts'
import { compareLatencies } from './jobs.ts'

const server = await testServer()
const { call, clock, deps } = server
const { db, jobs } = deps

const open = async () => {
  const { id, key } = await makeOrganization(server)
  const org = orgIdOf(id)
  const agent = await makeAgent(server, key, { name: 'Leo' })
  /**
   * Stores calls on each of the last days. The response times in their recordings differ by this much from the reported
   * ones.
   */
  const converse = async (days: number, ofDay: number, differenceMs: (call: number) => number) => {
    const starts = Array.from({ length: days * ofDay }, (_, n) => {
      const day = 1 + Math.floor(n / ofDay)
      return new Date(clock.now().getTime() - day * dayMs + (n % ofDay) * minuteMs).toISOString()
    })
    const ids = await makeConversations(
      server,
      key,
      starts.map((startedAt) => ({ agent: undefined, agentId: agent.id, startedAt })),
    )
    for (const [n, conversationId] of ids.entries()) {
      const sound = JSON.stringify({ reportedLatencyDifferenceMs: differenceMs(n) })
      await db
        .updateTable('conversations')
        .set({ sound })
        .where('organization_id', '=', org)
        .where('id', '=', conversationId)
        .execute()
    }
    await db
      .insertInto('recording_sounds')
      .values({
        organization_id: org,
        conversation_id: ids[0] ?? '',
        blob_key: `${org}/none`,
        reason: 'Made for a test.',
      })
      .execute()
    return ids
  }
  const compare = async () => {
    await jobs.enqueue(db, compareLatencies, {})
    await jobs.drain([compareLatencies], deps)
    return (await call('GET', '/v1/findings', { key })).body.data
  }
  return { key, agent, converse, compare }
}

it('files one finding if an agent reports shorter response times than its recordings have', async () => {
  const { key, agent, converse, compare } = await open()
  const ids = await converse(4, 15, (n) => 600 + (n % 10) * 20)
  const [finding, ...others] = await compare()
  expect(others).toEqual([])
  expect(finding).toMatchObject({
    title: 'Leo: responses take 680 ms longer than reported',
    status: 'open',
    priority: 'medium',
    findingType: 3,
    source: { kind: 'agent', id: agent.id },
    conversationCount: 20,
  })
  const { body } = await call('GET', `/v1/findings/${finding.id}`, { key })
  expect(JSON.stringify(body.description)).toContain('In 60 recordings of the last 7 days')
  const attached = (await call('GET', `/v1/findings/${finding.id}/conversations`, { key })).body.data
  expect(ids).toEqual(expect.arrayContaining(attached.map((one: { conversationId: string }) => one.conversationId)))
  expect((await compare()).map(({ id }: { id: string }) => id)).toEqual([finding.id])
})

it('counts only later calls after the finding was resolved', async () => {
  const { key, converse, compare } = await open()
  await converse(4, 15, () => 700)
  const [{ id }] = await compare()
  const body = { status: 'resolved', reason: 'The provider fixed it.' }
  expect((await call('POST', `/v1/findings/${id}/triage`, { key, body })).status).toBe(200)
  clock.advance(60 * minuteMs)
  expect(await compare()).toMatchObject([{ id, status: 'resolved' }])
})

it.each([
  ['few calls', 4, 12, () => 700],
  ['a single day', 1, 80, () => 700],
  ['small differences', 4, 30, (n: number) => 150 + (n % 5) * 10],
  ['differences in both directions', 4, 30, (n: number) => (n % 2 === 0 ? 900 : -900)],
  ['one bad day among good ones', 4, 30, (n: number) => (n < 30 ? 3_000 : 20)],
] as const)('files nothing about %s', async (_name, days, ofDay, differenceMs) => {
  const { converse, compare } = await open()
  await converse(days, ofDay, differenceMs)
  expect(await compare()).toEqual([])
})

it('says if reported response times are too long', async () => {
  const { converse, compare } = await open()
  await converse(3, 20, (n) => -1_200 - (n % 4) * 10)
  expect(await compare()).toMatchObject([{ title: 'Leo: responses take 1.2 s shorter than reported' }])
})
