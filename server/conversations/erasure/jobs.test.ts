import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { makeConversation, makeConversations, makeOrganization, makeRecording } from '../../../test/make.ts'
import { testServer } from '../../../test/server.ts'
import { depsWith } from '../../../test/support/deps-with.ts'
import { dayMs } from '../../platform/durations.ts'
import { jobList } from '../../worker.ts'
import { eraseByRetention } from './jobs.ts'

const server = await testServer()
const { call } = server
const { db, jobs } = server.deps

const ago = (days: number) => new Date(server.clock.now().getTime() - days * dayMs).toISOString()

let org: Awaited<ReturnType<typeof makeOrganization>>
let key: string
beforeEach(async () => {
  org = await makeOrganization(server)
  key = org.key
})

const retain = async (days: number | null) => {
  const answer = await call('PATCH', '/v1/organization', { key, body: { retentionDays: days } })
  expect(answer.status).toBe(200)
}

const makeMany = async (count: number, days: number) => {
  const each = Array.from({ length: count }, (_, index) => ({
    externalId: `${days}-${index}`,
    startedAt: ago(days + index / count / 2),
  }))
  for (let at = 0; at < count; at += 1_000) await makeConversations(server, key, each.slice(at, at + 1_000))
}

const count = async (table: string): Promise<number> => {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) AS count FROM ${sql.table(table)} WHERE organization_id = ${org.id}`.execute(db)
  return rows[0]?.count ?? Number.NaN
}

const run = async () => {
  await jobs.enqueue(db, eraseByRetention, {})
  await server.drain()
}

describe('retention', () => {
  it('erases conversations older than its days, in batches, and keeps the rest', async () => {
    await retain(30)
    await makeMany(1_201, 31)
    await makeMany(3, 29)
    await run()
    expect(await count('conversations')).toBe(3)
    expect(await count('conversation_tombstones')).toBe(1_201)
    const { data } = (await call('GET', '/v1/audit-events?limit=200', { key })).body
    const erasures = data.filter(({ action }: { action: string }) => action === 'conversation.erase')
    expect(erasures.map(({ targets }: { targets: unknown[] }) => targets.length).sort()).toEqual([201, 500, 500])
    expect(erasures[0].actor).toMatchObject({ kind: 'service' })

    const late = await call('POST', '/v1/conversations', {
      key,
      body: {
        externalId: '31-0',
        agent: { externalId: 'leo', name: 'Leo', channel: 'voice' },
        channel: 'call',
        startedAt: ago(1),
      },
    })
    expect(late.status).toBe(409)
  })

  it('deletes recordings too', async () => {
    await retain(30)
    const { id } = await makeRecording(server, key)
    const url = (await call('GET', `/v1/conversations/${id}/recording`, { key })).headers.get('location') ?? ''
    expect((await fetch(url)).status).toBe(200)
    const keys = async () => {
      const found: string[] = []
      for await (const file of server.deps.blobs.list(`${org.id}/recordings/`)) found.push(file.key)
      return found
    }
    expect(await keys()).toHaveLength(1)
    server.clock.advance(400 * dayMs)
    await run()
    expect(await count('conversations')).toBe(0)
    expect(await keys()).toEqual([])
    expect((await fetch(url)).status).toBe(410)
  })

  it('retries a failed batch', async () => {
    await retain(30)
    await makeMany(1_001, 31)
    let batches = 0
    const enqueue: typeof jobs.enqueue = async (...args) => {
      if (args[1].name === 'conversation.erase-mentions' && ++batches === 2) throw new Error('the process died')
      return jobs.enqueue(...args)
    }
    await jobs.enqueue(db, eraseByRetention, {})
    const dying = depsWith(server.deps, { jobs: { ...jobs, enqueue } })
    const outcomes = await jobs.drain([eraseByRetention], dying, { allowFailures: true })
    expect(outcomes.map(({ result }) => result)).toContain('retried')
    expect(await count('conversations')).toBe(500)
    expect(await count('conversation_tombstones')).toBe(501)
    await jobs.drain(jobList, server.deps, { delayed: true })
    expect(await count('conversations')).toBe(0)
  })

  it('of a failing organization does not block others', async () => {
    const orgs = [org, await makeOrganization(server)].sort((a, b) => (a.id < b.id ? -1 : 1))
    for (const each of orgs) {
      key = each.key
      await retain(30)
      await makeMany(1, 31)
    }
    const counts = async () => {
      const found: number[] = []
      for (org of orgs) found.push(await count('conversations'))
      return found
    }
    const enqueue: typeof jobs.enqueue = async (...args) => {
      if ('organizationId' in args[2] && args[2].organizationId === orgs[0]?.id) throw new Error('of the first')
      return jobs.enqueue(...args)
    }
    await jobs.enqueue(db, eraseByRetention, {})
    const failing = depsWith(server.deps, { jobs: { ...jobs, enqueue } })
    const outcomes = await jobs.drain([eraseByRetention], failing, { allowFailures: true })
    expect(outcomes.map(({ error }) => error)).toContainEqual(new Error('of the first'))
    expect(await counts()).toEqual([1, 0])
    await jobs.drain(jobList, server.deps, { delayed: true })
    expect(await counts()).toEqual([0, 0])
  })

  it('keeps everything if no days are set', async () => {
    await makeConversation(server, key, { startedAt: ago(2_000) })
    await retain(30)
    await retain(null)
    await run()
    expect(await count('conversations')).toBe(1)
  })
})
