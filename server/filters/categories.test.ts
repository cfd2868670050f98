import { randomInt } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { makeConversations, makeMonitor, makeOrganization } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { drawing } from '../../test/support/exports/random.ts'
import { noResult } from '../monitor-results/no-result.ts'
import { type ResultRow, upsertResults } from '../monitor-results/queries.ts'
import { insertMonitorVersion } from '../monitors/queries.ts'
import { orgIdOf } from '../platform/ids.ts'
import { explainFilter } from './explain.ts'
import { type Filter, parseFilter } from './filter.ts'
import { countSelected, listSelected } from './queries.ts'
import { resolve } from './resolve.ts'

/** `FILTER_SEED=… vitest run server/filters/categories` repeats a run with the same results and conditions. */
const seed = Number(process.env.FILTER_SEED ?? randomInt(2 ** 31))
const draw = drawing(seed)

const server = await testServer()
const { db } = server.deps
const { id, key } = await makeOrganization(server)
const org = orgIdOf(id)
const monitors: string[] = [(await makeMonitor(server, key)).id, (await makeMonitor(server, key)).id]
const [first = '', second = ''] = monitors
for (const monitorId of monitors) await insertMonitorVersion(db, org, monitorId, 2, {})
const keys = ['billing', 'delivery', 'other', 'not_applicable', 'rare']

const ids: string[] = await makeConversations(
  server,
  key,
  Array.from({ length: 200 }, (_, at) => ({
    startedAt: new Date(Date.UTC(2026, 4, 1) + Math.floor(at / 2) * 3_600_000).toISOString(),
    direction: draw.one(['inbound', 'outbound']),
  })),
)
const startOf = (at: number) => Date.UTC(2026, 4, 1) + Math.floor(at / 2) * 3_600_000

/** The categories in each version, by monitor and conversation. */
const stored = new Map<string, Map<number, string[] | null>>()
const rows: ResultRow[] = []
for (const monitorId of monitors) {
  for (const conversationId of ids) {
    for (const monitorVersion of [1, 2]) {
      if (draw.chance(0.3)) continue
      const categories = draw.chance(0.2) ? null : draw.some(keys.slice(0, draw.chance(0.05) ? 5 : 4), draw.below(3))
      const place = `${monitorId} ${conversationId}`
      stored.set(place, new Map([...(stored.get(place) ?? []), [monitorVersion, categories]]))
      rows.push({
        ...noResult,
        conversationId,
        monitorId,
        monitorVersion,
        status: 'unscored',
        categories,
        evaluatedAt: null,
        evaluator: 'test',
      })
    }
  }
}
await db.transaction().execute((trx) => upsertResults(trx, org, rows, server.clock.now()))

type Condition = NonNullable<Filter['categories']>

/** Returns whether a conversation matches, as the API documents it. */
const matches = (conversationId: string, { monitorId, any }: Condition, only?: number): boolean => {
  const versions = stored.get(`${monitorId} ${conversationId}`) ?? new Map<number, string[] | null>()
  const version = only ?? Math.max(...versions.keys())
  return versions.get(version)?.some((category) => any.includes(category)) ?? false
}

/** Reads all pages of the list. */
const listAll = async (filter: Filter, limit = 40): Promise<string[]> => {
  const found: string[] = []
  for (let after: string | undefined; ; ) {
    const page = await listSelected(db, org, await resolve(server.deps, org, parseFilter(filter)), { limit, after })
    found.push(...page.slice(0, limit).map((row) => row.id))
    const last = page[limit - 1]
    if (page.length <= limit || !last) return found
    after = `${last.startedAt.toISOString()} ${last.id}`
  }
}

const expectSame = async (filter: Filter, isMatch: (conversationId: string, at: number) => boolean) => {
  const expected = ids.filter(isMatch).sort()
  const found = await listAll(filter)
  expect(found.toSorted(), `seed ${seed}: ${JSON.stringify(filter)}`).toEqual(expected)
  expect(await countSelected(db, org, await resolve(server.deps, org, parseFilter(filter)))).toBe(expected.length)
}

const drawCondition = (): Condition => ({ monitorId: draw.one(monitors), any: draw.some(keys, 1 + draw.below(2)) })

describe(`a filter by categories (seed ${seed})`, () => {
  it('finds the conversations with one of them in their newest result', async () => {
    for (let round = 0; round < 6; round++) {
      const categories = drawCondition()
      await expectSame({ categories }, (one) => matches(one, categories))
    }
  })

  it('can be combined, nested, and excluded', async () => {
    const at = (hour: number) => new Date(Date.UTC(2026, 4, 1, hour)).toISOString()
    for (let round = 0; round < 6; round++) {
      const [a, b] = [drawCondition(), drawCondition()]
      const times = { since: at(20), until: at(70) }
      const isWithin = (_: string, place: number) =>
        startOf(place) >= Date.parse(times.since) && startOf(place) < Date.parse(times.until)
      await expectSame({ ...times, categories: a }, (one, place) => isWithin(one, place) && matches(one, a))
      await expectSame({ anyOf: [{ categories: a }, { categories: b }] }, (one) => matches(one, a) || matches(one, b))
      await expectSame({ categories: a, exclude: { categories: b } }, (one) => matches(one, a) && !matches(one, b))
    }
  })

  it('can be limited to the current version', async () => {
    const categories = { monitorId: first, any: ['billing'] }
    const count = await countSelected(db, org, await resolve(server.deps, org, parseFilter({ categories })), 'current')
    expect(count).toBe(ids.filter((one) => matches(one, categories, 1)).length)
  })

  it('finds nothing of unknown or deleted monitors, or of other organizations', async () => {
    const other = await makeOrganization(server)
    expect(await listAll({ categories: { monitorId: other.id, any: ['billing'] } })).toEqual([])
    const filter = await resolve(server.deps, org, parseFilter({ categories: { monitorId: first, any: ['billing'] } }))
    expect(await countSelected(db, orgIdOf(other.id), filter)).toBe(0)
    const gone = await makeMonitor(server, key)
    const body = {
      results: [{ monitorId: gone.id, conversationId: ids[0], result: 'affected', categories: ['billing'] }],
    }
    await server.call('POST', '/v1/monitor-results', { key, body })
    const ofGone = { categories: { monitorId: gone.id, any: ['billing'] } }
    expect(await listAll(ofGone)).toEqual([ids[0]])
    await server.call('DELETE', `/v1/monitors/${gone.id}`, { key })
    expect(await listAll(ofGone)).toEqual([])
  })

  it('is a canonical part of the filter, in words', () => {
    const selection = parseFilter({ categories: { monitorId: second.toUpperCase(), any: ['other', 'not_applicable'] } })
    expect(selection).toEqual({ categories: { monitorId: second, any: ['not_applicable', 'other'] } })
    expect(explainFilter(selection, new Map([[second, 'Reasons']]))).toBe(
      'conversations, of category “not applicable” or “other” by Reasons',
    )
  })

  it.each([
    ['filter.categories.any', { any: [] }],
    ['filter.categories.any[0]', { any: ['a b'] }],
    ['filter.categories.monitorId', { monitorId: 'x' }],
    ['filter.categories.all', { all: ['billing'] }],
  ])('names the path %s', async (path, given) => {
    const filter = { categories: { monitorId: first, any: ['billing'], ...given } }
    const { status, body } = await server.call('POST', '/v1/conversations/search', { key, body: { filter } })
    expect(status).toBe(400)
    expect(body.details.issues.map((issue: { path: string }) => issue.path)).toContain(path)
  })
})
