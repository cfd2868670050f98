import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  makeAgent,
  makeAgentGroup,
  makeAgentVersion,
  makeCompany,
  makeConversation,
  makeOrganization,
} from '../../../test/make.ts'
import { type TestAnswer, testServer } from '../../../test/server.ts'
import { listSelected } from '../../filters/queries.ts'
import { orgIdOf } from '../../platform/ids.ts'

const server = await testServer()
const { call } = server

type Page = { data: { id: string }[]; nextCursor: string | null }

const search = (key: string, filter: object, more: object = {}) =>
  call<Page>('POST', '/v1/conversations/search', { key, body: { filter, ...more } })

const get = (key: string, query: Record<string, string>) =>
  call<Page>('GET', `/v1/conversations?${new URLSearchParams(query)}`, { key })

const idsOf = ({ status, text, body }: TestAnswer<Page>) => {
  if (status !== 200) throw new Error(text)
  return body.data.map(({ id }) => id)
}

const says = (...texts: string[]) => texts.map((text) => ({ role: 'customer', text }))

describe('conversations are selected', () => {
  let key = ''
  const ids: Record<string, string> = {}
  const refs: Record<string, string> = {}

  beforeAll(async () => {
    key = (await makeOrganization(server)).key
    const group = await makeAgentGroup(server, key, 'Night')
    const company = await makeCompany(server, key)
    const leo = await makeAgent(server, key, { name: 'Leo', groupIds: [group.id] })
    const mia = await makeAgent(server, key, { name: 'Mia', companyId: company.id })
    const version = await makeAgentVersion(server, key, leo.id)
    Object.assign(refs, { group: group.id, company: company.id, leo: leo.id, mia: mia.id, version: version.id })
    const make = async (name: string, fields: object) => {
      ids[name] = (await makeConversation(server, key, { agent: undefined, externalId: name, ...fields })).id
    }
    await make('first', {
      agentId: leo.id,
      agentVersionId: version.id,
      startedAt: '2026-11-01T00:00:00Z',
      direction: 'inbound',
      durationSeconds: 60,
      customerId: 'c-1',
      metadata: { plan: 'gold', seats: 3 },
      transcript: says('I want a refund for the late fee', 'Très cher'),
    })
    await make('second', {
      agentId: leo.id,
      channel: 'chat',
      startedAt: '2026-11-02T00:00:00Z',
      direction: 'outbound',
      durationSeconds: 120,
      metadata: { plan: 'tin', vip: true },
      transcript: says('The fee came late', 'no money back then'),
    })
    await make('third', {
      agentId: mia.id,
      channel: 'voicemail',
      startedAt: '2026-11-03T00:00:00Z',
      status: 'in_progress',
      metadata: { seats: 12 },
    })
  }, 60_000)

  const cases: [string, () => object, string[]][] = [
    ['all', () => ({}), ['third', 'second', 'first']],
    ['agent', () => ({ agentIds: [refs.leo] }), ['second', 'first']],
    ['agents', () => ({ agentIds: [refs.leo, refs.mia] }), ['third', 'second', 'first']],
    ['unknown agent', () => ({ agentIds: [randomUUID()] }), []],
    ['version', () => ({ agentVersionIds: [refs.version] }), ['first']],
    ['group', () => ({ agentGroupIds: [refs.group] }), ['second', 'first']],
    ['company', () => ({ companyIds: [refs.company] }), ['third']],
    ['channels', () => ({ channels: ['call', 'chat'] }), ['second', 'first']],
    ['direction', () => ({ directions: ['inbound'] }), ['first']],
    ['status', () => ({ statuses: ['in_progress'] }), ['third']],
    ['statuses', () => ({ statuses: ['failed', 'completed'] }), ['second', 'first']],
    ['since, from its instant on', () => ({ since: '2026-11-02T00:00:00Z' }), ['third', 'second']],
    ['until, before its instant', () => ({ until: '2026-11-02T01:00:00+01:00' }), ['first']],
    ['at least', () => ({ minDurationSeconds: 120 }), ['second']],
    ['at most', () => ({ maxDurationSeconds: 60 }), ['first']],
    ['customer', () => ({ customerId: 'c-1' }), ['first']],
    ['review', () => ({ reviewStatus: 'none' }), ['third', 'second', 'first']],
    ['no review', () => ({ reviewStatus: 'pending' }), []],
    ['metadata', () => ({ metadata: [{ key: 'plan', op: 'eq', value: 'gold' }] }), ['first']],
    ['metadata as a number', () => ({ metadata: [{ key: 'seats', op: 'gt', value: '4' }] }), ['third']],
    ['metadata as a flag', () => ({ metadata: [{ key: 'vip', op: 'is_true' }] }), ['second']],
    [
      'all conditions',
      () => ({
        metadata: [
          { key: 'seats', op: 'is_set' },
          { key: 'plan', op: 'is_not_set' },
        ],
      }),
      ['third'],
    ],
    ['a word', () => ({ text: 'REFUND' }), ['first']],
    ['a word with an accent', () => ({ text: 'très' }), ['first']],
    ['all words', () => ({ text: 'late fee' }), ['second', 'first']],
    ['a phrase', () => ({ text: '"late fee"' }), ['first']],
    ['one or another', () => ({ text: 'refund OR money' }), ['second', 'first']],
    ['without', () => ({ text: 'fee -refund' }), ['second']],
    ['odd text', () => ({ text: `'fee' & :* | ( \\ <-> late!` }), ['second', 'first']],
    ['everything', () => ({ agentIds: [refs.leo], text: 'fee', channels: ['chat'] }), ['second']],
  ]

  it.each(cases)('by %s', async (_, filter, names) => {
    const found = idsOf(await search(key, filter()))
    expect(found).toEqual(names.map((name) => ids[name]))
    const { body } = await call('POST', '/v1/conversations/count', { key, body: { filter: filter() } })
    expect(body).toEqual({ count: names.length, explanation: expect.any(String) })
  })

  it('by query parameters of the list', async () => {
    const byName = (...names: string[]) => names.map((name) => ids[name])
    for (const [query, names] of [
      [{}, ['third', 'second', 'first']],
      [{ agentId: `${refs.leo}` }, ['second', 'first']],
      [{ agentId: `${refs.leo},${refs.mia}` }, ['third', 'second', 'first']],
      [{ agentVersionId: `${refs.version}` }, ['first']],
      [{ agentGroupId: `${refs.group}` }, ['second', 'first']],
      [{ companyId: `${refs.company}` }, ['third']],
      [{ channel: 'chat,voicemail' }, ['third', 'second']],
      [{ direction: 'outbound' }, ['second']],
      [{ status: 'completed,failed' }, ['second', 'first']],
      [{ since: '2026-11-01T12:00:00Z', until: '2026-11-03T00:00:00Z' }, ['second']],
      [{ customerId: 'c-1' }, ['first']],
      [{ externalId: 'second' }, ['second']],
      [{ externalId: 'second', channel: 'call' }, []],
      [{ text: 'refund', reviewStatus: 'none' }, ['first']],
    ] as [Record<string, string>, string[]][]) {
      expect(idsOf(await get(key, query)), JSON.stringify(query)).toEqual(byName(...names))
    }
  })

  it('and returned completely', async () => {
    const { body } = await get(key, { externalId: 'first' })
    expect(body.data).toEqual([(await call('GET', `/v1/conversations/${ids.first}`, { key })).body])
  })

  it('and described in words', async () => {
    const filter = { agentIds: [refs.leo], agentVersionIds: [refs.version], text: 'refund' }
    const { body } = await call('POST', '/v1/conversations/count', { key, body: { filter } })
    expect(body).toEqual({
      count: 1,
      explanation: 'conversations, of agent Leo, of version 1 of Leo, mentioning “refund”',
    })
  })

  it('and counted by day in a time zone, including empty days', async () => {
    const count = async (body: object) => (await call('POST', '/v1/conversations/count', { key, body })).body
    const window = { since: '2026-11-01T00:00:00Z', until: '2026-11-05T00:00:00Z' }
    const { count: all, series } = await count({ filter: window, interval: 'day' })
    const days = ['2026-11-01', '2026-11-02', '2026-11-03', '2026-11-04', '2026-11-05'].map(
      (day) => `${day}T00:00:00.000Z`,
    )
    expect(series).toEqual([1, 1, 1, 0].map((each, at) => ({ start: days[at], end: days[at + 1], count: each })))
    expect(all).toBe(3)
    const narrower = await count({ filter: { ...window, text: 'fee' }, interval: 'day', timezone: 'europe/berlin' })
    expect(narrower.count).toBe(2)
    expect(narrower.series.map(({ start, count: each }: Record<string, unknown>) => [start, each])).toEqual([
      ['2026-11-01T00:00:00.000Z', 1],
      ['2026-11-01T23:00:00.000Z', 1],
      ['2026-11-02T23:00:00.000Z', 0],
      ['2026-11-03T23:00:00.000Z', 0],
      ['2026-11-04T23:00:00.000Z', 0],
    ])
    expect((await count({ filter: window, interval: 'week' })).series).toHaveLength(2)
  })

  it('and counted by hour until now, if the filter has no end', async () => {
    const hourAgo = new Date(server.clock.now().getTime() - 3_600_000)
    const { body } = await call('POST', '/v1/conversations/count', {
      key,
      body: { filter: { since: hourAgo.toISOString() }, interval: 'hour' },
    })
    expect(body.series[0].start).toBe(hourAgo.toISOString())
    expect(body.series.at(-1).end).toBe(server.clock.now().toISOString())
  })

  it('only for their organization', async () => {
    const stranger = await makeOrganization(server)
    for (const filter of [{}, { agentIds: [refs.leo] }, { agentGroupIds: [refs.group] }, { text: 'refund' }]) {
      expect(idsOf(await search(stranger.key, filter))).toEqual([])
      const { body } = await call('POST', '/v1/conversations/count', { key: stranger.key, body: { filter } })
      expect(body.count).toBe(0)
      expect(body.explanation).not.toContain('Leo')
    }
    expect(idsOf(await get(stranger.key, { externalId: 'first' }))).toEqual([])
  })
})

describe('faults', () => {
  it('in the list are reported with all parameters', async () => {
    const { key } = await makeOrganization(server)
    const { status, body } = await call(
      'GET',
      '/v1/conversations?agentId=leo&channel=call,fax&status=&direction=inbound,inbound',
      { key },
    )
    expect(status).toBe(400)
    expect(body.details.issues).toEqual([
      { path: 'agentId', message: 'must be a UUID' },
      { path: 'channel', message: 'must be one of call, chat, voicemail' },
      { path: 'direction', message: expect.stringContaining('must not repeat items') },
      { path: 'status', message: 'must be one of in_progress, completed, failed' },
    ])
    for (const query of [
      'text=-',
      'since=2026-11-02T00:00:00Z&until=2026-11-01T00:00:00Z',
      'since=yesterday',
      'limit=0',
    ]) {
      expect((await call('GET', `/v1/conversations?${query}`, { key })).status, query).toBe(400)
    }
  })

  it('in a filter are reported with their path', async () => {
    const { key } = await makeOrganization(server)
    const { status, body } = await search(key, { metadata: [{ key: 'a', op: 'gt' }], bucket: '' })
    expect(status).toBe(400)
    expect((body as unknown as { details: object }).details).toEqual({
      issues: [{ path: 'filter.bucket', message: 'is not a known property' }],
    })
    const refused = await call('POST', '/v1/conversations/count', { key, body: { filter: { text: '…' } } })
    expect(refused.body).toMatchObject({ message: 'filter.text must contain a word to search for' })
  })

  it('in a count by interval are reported if something is missing or not allowed', async () => {
    const { key } = await makeOrganization(server)
    const since = '2026-11-01T00:00:00Z'
    for (const [body, path] of [
      [{ filter: {}, interval: 'day' }, 'filter.since'],
      [{ filter: { since }, timezone: 'UTC' }, 'timezone'],
      [{ filter: { since }, interval: 'day', timezone: 'Berlin' }, 'timezone'],
      [{ filter: { since: '2999-01-01T00:00:00Z' }, interval: 'day' }, 'filter.since'],
      [{ filter: { since: '2020-01-01T00:00:00Z' }, interval: 'hour' }, 'interval'],
      [{ filter: { since }, interval: 'minute' }, 'interval'],
    ] as const) {
      const refused = await call('POST', '/v1/conversations/count', { key, body })
      expect(refused.status, JSON.stringify(body)).toBe(400)
      expect(refused.body.details.issues[0].path).toBe(path)
    }
  })
})

describe('pages', () => {
  const readAll = async (page: (cursor?: string) => Promise<TestAnswer<Page>>) => {
    const pages: string[][] = []
    for (let cursor: string | undefined; ; ) {
      const answer = await page(cursor)
      pages.push(idsOf(answer))
      if (answer.body.nextCursor === null) return pages
      cursor = answer.body.nextCursor
    }
  }

  it('continue where they stopped, even if conversations start at the same time and others are added', async () => {
    const { key } = await makeOrganization(server)
    const made: { id: string; startedAt: string }[] = []
    for (let i = 0; i < 11; i++) {
      const startedAt = `2026-11-0${1 + (i % 3)}T00:00:00.00${i % 2}Z`
      made.push(await makeConversation(server, key, { startedAt, transcript: says('hello there') }))
    }
    const inOrder = made
      .sort((a, b) => (`${b.startedAt}${b.id}` < `${a.startedAt}${a.id}` ? -1 : 1))
      .map(({ id }) => id)
    for (const filter of [{}, { text: 'hello' }, { channels: ['call'] }]) {
      const pages = await readAll(async (cursor) => {
        await makeConversation(server, key, { startedAt: '2026-11-09T00:00:00Z', transcript: says('hello again') })
        return search(key, { ...filter, until: '2026-11-05T00:00:00Z' }, { limit: 4, ...(cursor && { cursor }) })
      })
      expect(pages.map((page) => page.length)).toEqual([4, 4, 3])
      expect(pages.flat()).toEqual(inOrder)
    }
    const first = await get(key, { limit: '2', text: 'hello' })
    await makeConversation(server, key, { startedAt: '2026-11-10T00:00:00Z', transcript: says('hello') })
    const rest = await readAll((cursor) =>
      get(key, { limit: '200', text: 'hello', cursor: cursor ?? `${first.body.nextCursor}` }),
    )
    expect(rest.flat()).toHaveLength(11 + 9 - 2)
  })

  it('cannot be used with another list, filter, or organization', async () => {
    const { key } = await makeOrganization(server)
    await makeConversation(server, key)
    await makeConversation(server, key)
    const cursor = (await search(key, { channels: ['call'] }, { limit: 1 })).body.nextCursor
    const other = await makeOrganization(server)
    expect((await search(key, { channels: ['call'] }, { cursor })).status).toBe(200)
    for (const answer of [
      await search(key, {}, { cursor }),
      await search(other.key, { channels: ['call'] }, { cursor }),
      await get(key, { channel: 'call', cursor: `${cursor}` }),
      await search(key, { channels: ['call'] }, { cursor: `${cursor}x` }),
    ]) {
      expect(answer.status).toBe(400)
    }
  })
})

it('dynamic statements use up no prepared statement names', async () => {
  const { id } = await makeOrganization(server)
  const { db } = server.deps
  await db.transaction().execute(async (trx) => {
    for (let i = 0; i < 8; i++) {
      await listSelected(trx, orgIdOf(id), { text: 'hello' }, { limit: 5, after: undefined })
    }
    const { rows } = await sql`
      SELECT statement FROM pg_prepared_statements WHERE statement LIKE '%websearch%' AND statement NOT LIKE '%pg_prepared%'`.execute(
      trx,
    )
    expect(rows).toEqual([])
  })
})
