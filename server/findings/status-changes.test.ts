import { describe, expect, it } from 'vitest'
import { makeFinding, makeOrganization } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import type { FindingStatus } from './queries.ts'
import { findingStatuses } from './schema.ts'

const server = await testServer()
const { call, clock } = server

type Allowed = [from: FindingStatus, to: FindingStatus]

/** The transitions that the API documents, listed independently of the code. */
const allowed: Allowed[] = [
  ['open', 'acknowledged'],
  ['open', 'resolved'],
  ['open', 'ignored'],
  ['acknowledged', 'open'],
  ['acknowledged', 'resolved'],
  ['acknowledged', 'ignored'],
  ['resolved', 'open'],
  ['ignored', 'open'],
]

const start = async () => {
  const { key } = await makeOrganization(server)
  const { member } = (await call('GET', '/v1/me', { key })).body
  const { id } = (await call('POST', '/v1/findings', { key, body: { title: 'A', priority: 'low' } })).body
  const triage = (body: object) => call('POST', `/v1/findings/${id}/triage`, { key, body })
  const get = async () => (await call('GET', `/v1/findings/${id}`, { key })).body
  const history = async () => (await call('GET', `/v1/findings/${id}/history`, { key })).body.data
  return { key, id, userId: member.userId, triage, get, history }
}

describe.each(findingStatuses)('triage of a finding with status %s', (from) => {
  it.each(findingStatuses)('to %s', async (to) => {
    const { id, userId, triage, get, history } = await start()
    if (from !== 'open') await triage({ status: from })
    const [before, told] = [await get(), await history()]
    clock.advance(1_000)
    const answer = await triage({ status: to, reason: 'Because.' })
    if (allowed.some(([a, b]) => a === from && b === to)) {
      expect(answer.status).toBe(200)
      expect(answer.body).toEqual({ ...before, status: to, updatedAt: clock.now().toISOString() })
      expect(await history()).toEqual([
        {
          id: expect.any(String),
          findingId: id,
          kind: 'triage',
          byUserId: userId,
          fromStatus: from,
          toStatus: to,
          fromPriority: 'low',
          toPriority: 'low',
          reason: 'Because.',
          mergedIntoId: null,
          createdAt: clock.now().toISOString(),
        },
        ...told,
      ])
    } else {
      expect(answer).toMatchObject({ status: 409, body: { error: 'conflict' } })
      expect(answer.body.message).toContain(`The finding is ${from}`)
      expect(await get()).toEqual(before)
      expect(await history()).toEqual(told)
    }
  })
})

describe('triage', () => {
  it('changes the priority, with or without a move, in any status', async () => {
    const { triage, history } = await start()
    expect((await triage({ priority: 'urgent' })).body).toMatchObject({ status: 'open', priority: 'urgent' })
    const both = await triage({ status: 'resolved', priority: 'none' })
    expect(both.body).toMatchObject({ status: 'resolved', priority: 'none' })
    expect((await triage({ priority: 'high' })).body).toMatchObject({ status: 'resolved', priority: 'high' })
    expect(await history()).toMatchObject([
      { fromStatus: 'resolved', toStatus: 'resolved', fromPriority: 'none', toPriority: 'high', reason: null },
      { fromStatus: 'open', toStatus: 'resolved', fromPriority: 'urgent', toPriority: 'none' },
      { fromStatus: 'open', toStatus: 'open', fromPriority: 'low', toPriority: 'urgent' },
    ])
  })

  it.each<[object, number]>([
    [{ priority: 'low' }, 409],
    [{ status: 'open', priority: 'high' }, 409],
    [{}, 400],
    [{ reason: 'Why not.' }, 400],
    [{ status: null }, 400],
    [{ status: 'closed' }, 400],
    [{ priority: 'highest' }, 400],
    [{ status: 'resolved', reason: '' }, 400],
    [{ status: 'resolved', reason: ' ' }, 400],
    [{ status: 'resolved', reason: 'a'.repeat(2_001) }, 400],
  ])('is rejected with %j: %i', async (body, status) => {
    const { triage, get, history } = await start()
    const before = await get()
    expect((await triage(body)).status).toBe(status)
    expect([await get(), await history()]).toEqual([before, []])
  })

  it('with many concurrent requests moves it once', async () => {
    const { triage, history } = await start()
    const answers = await Promise.all(Array.from({ length: 8 }, () => triage({ status: 'resolved' })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)])
    expect(await history()).toHaveLength(1)
  })

  it('opens no second finding of a monitor', async () => {
    const { key, id: org } = await makeOrganization(server)
    const { id, monitorId } = await makeFinding(server, key)
    const triage = (finding: string, status: string) =>
      call('POST', `/v1/findings/${finding}/triage`, { key, body: { status } })
    await triage(id, 'resolved')
    const other = (await makeFinding(server, key)).id
    // An old service created a new finding each time, which left two findings for one monitor.
    await server.deps.db
      .updateTable('findings')
      .set({ source_id: monitorId })
      .where('organization_id', '=', org)
      .where('id', '=', other)
      .execute()
    const refused = await triage(id, 'open')
    expect(refused).toMatchObject({ status: 409, body: { message: expect.stringContaining('Another finding') } })
    expect((await call('GET', `/v1/findings/${id}`, { key })).body.status).toBe('resolved')
  })

  it('is listed in pages, latest move first', async () => {
    const { key, id, triage, history } = await start()
    for (const status of ['resolved', 'open', 'ignored', 'open']) await triage({ status })
    const all = await history()
    expect(all.map(({ toStatus }: { toStatus: string }) => toStatus)).toEqual(['open', 'ignored', 'open', 'resolved'])
    const first = (await call('GET', `/v1/findings/${id}/history?limit=3`, { key })).body
    const next = await call('GET', `/v1/findings/${id}/history?limit=3&cursor=${first.nextCursor}`, { key })
    expect([...first.data, ...next.body.data]).toEqual(all)
  })
})
