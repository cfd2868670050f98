import { beforeEach, describe, expect, it } from 'vitest'
import { makeConversation, makeMonitor, makeOrganization, makeReview } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { insertMonitorVersion, updateMonitor } from '../monitors/queries.ts'
import type { OrgId } from '../platform/db/database.ts'
import { orgIdOf } from '../platform/ids.ts'

const server = await testServer()
const { call } = server
const { db } = server.deps

let org: OrgId
let key: string
let monitorId: string
beforeEach(async () => {
  const organization = await makeOrganization(server)
  org = orgIdOf(organization.id)
  key = organization.key
  monitorId = (await makeMonitor(server, key)).id
})

type MonitorAnswer = 'affected' | 'not_affected' | 'unscored' | undefined
type HumanAnswer = 'affected' | 'not_affected' | 'unsure'

/** Creates a conversation with a result from the current version and a person's judgment of that result. */
const judge = async (
  found: MonitorAnswer,
  said: HumanAnswer,
  { version = 1, startedAt = '2026-11-20T09:00:00Z' } = {},
) => {
  const { id: conversationId } = await makeConversation(server, key, { startedAt })
  if (found) {
    const results = [{ monitorId, conversationId, result: found }]
    expect((await call('POST', '/v1/monitor-results', { key, body: { results } })).body.data[0].status).toBe('created')
  }
  await makeReview(server, { key, conversationId }, [{ monitorId, monitorVersion: version, correctResult: said }])
  return conversationId as string
}

const makeVersion = async (number: number) => {
  await insertMonitorVersion(db, org, monitorId, number, {})
  await updateMonitor(db, org, monitorId, { currentVersion: number })
}

const agreement = async (query = '') => {
  const { status, body } = await call('GET', `/v1/monitors/${monitorId}/agreement${query}`, { key })
  expect(status, JSON.stringify(body)).toBe(200)
  return body.data
}

describe('the agreement of a monitor with people', () => {
  it('is a matrix with its figures, and counts unsure judgments separately', async () => {
    const judged: [MonitorAnswer, HumanAnswer, number][] = [
      ['affected', 'affected', 4],
      ['affected', 'not_affected', 1],
      ['not_affected', 'affected', 2],
      ['not_affected', 'not_affected', 3],
      ['affected', 'unsure', 2],
      ['unscored', 'unsure', 1],
      ['unscored', 'affected', 1],
      [undefined, 'not_affected', 1],
    ]
    for (const [found, said, times] of judged) for (let n = 0; n < times; n++) await judge(found, said)
    const failing = await judge('affected', 'affected')
    await db
      .updateTable('monitor_results')
      .set({ status: 2, result: null })
      .where('organization_id', '=', org)
      .where('conversation_id', '=', failing)
      .execute()

    const [version, ...more] = await agreement()
    expect(more).toEqual([])
    expect(version).toMatchObject({
      version: 1,
      judgments: 16,
      unsure: 3,
      unscored: 1,
      failed: 1,
      missing: 1,
      matrix: { truePositives: 4, falsePositives: 1, falseNegatives: 2, trueNegatives: 3 },
      precision: { value: 4 / 5 },
      recall: { value: 4 / 6 },
      agreement: { value: 7 / 10 },
    })
    expect(version.kappa.value).toBeCloseTo(0.4, 12)
    for (const figure of ['precision', 'recall', 'agreement', 'kappa']) {
      const { value, low, high } = version[figure]
      expect(low < value && value < high).toBe(true)
    }
  })

  it('is null without data, and empty before anyone judged', async () => {
    expect(await agreement()).toEqual([])
    await judge('not_affected', 'not_affected')
    expect(await agreement()).toMatchObject([
      { precision: null, recall: null, kappa: null, agreement: { value: 1, high: 1 } },
    ])
  })

  it('only counts completed reviews and calls in the period', async () => {
    const conversationId = await judge('affected', 'affected', { startedAt: '2026-11-01T09:00:00Z' })
    await judge('affected', 'affected', { startedAt: '2026-11-02T09:00:00Z' })
    for (const status of ['in_progress', 'skipped'] as const) {
      await makeReview(server, { key, conversationId }, [{ monitorId, correctResult: 'not_affected' }], status)
    }
    const judgments = async (query: string) => (await agreement(query))[0]?.judgments
    expect(await judgments('')).toBe(2)
    expect(await judgments('?since=2026-11-02T09:00:00Z')).toBe(1)
    expect(await judgments('?until=2026-11-02T10:00:00%2B01:00')).toBe(1)
    const window = '?since=2026-11-02T09:00:00Z&until=2026-11-01T09:00:00Z'
    expect((await call('GET', `/v1/monitors/${monitorId}/agreement${window}`, { key })).status).toBe(400)
  })

  it('is returned per version, newest first, in pages', async () => {
    await judge('affected', 'affected')
    await makeVersion(2)
    await judge('affected', 'not_affected', { version: 2 })
    await judge('affected', 'not_affected', { version: 1 })
    await makeVersion(3)
    await judge('not_affected', 'not_affected', { version: 3 })
    const of = (data: { version: number; missing: number }[]) => data.map(({ version, missing }) => [version, missing])
    expect(of(await agreement())).toEqual([
      [3, 0],
      [2, 0],
      // The first version has a judgment but no result.
      [1, 1],
    ])
    expect(of(await agreement('?version=2'))).toEqual([[2, 0]])
    const path = `/v1/monitors/${monitorId}/agreement?limit=2`
    const first = (await call('GET', path, { key })).body
    const second = (await call('GET', `${path}&cursor=${first.nextCursor}`, { key })).body
    expect(of([...first.data, ...second.data])).toEqual([
      [3, 0],
      [2, 0],
      [1, 1],
    ])
    expect(second.nextCursor).toBeNull()
  })

  it('excludes erased conversations', async () => {
    const id = await judge('affected', 'affected')
    await judge('affected', 'affected')
    expect((await call('DELETE', `/v1/conversations/${id}`, { key })).status).toBe(204)
    expect(await agreement()).toMatchObject([{ judgments: 1 }])
  })
})
