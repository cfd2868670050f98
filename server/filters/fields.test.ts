import { randomInt } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { makeConversations, makeMonitor, makeOrganization } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { drawing } from '../../test/support/exports/random.ts'
import { noResult } from '../monitor-results/no-result.ts'
import { type FieldValue, type ResultRow, upsertResults } from '../monitor-results/queries.ts'
import { insertMonitorVersion } from '../monitors/queries.ts'
import { orgIdOf } from '../platform/ids.ts'
import { explainFilter } from './explain.ts'
import { type Filter, parseFilter } from './filter.ts'
import { countSelected, listSelected } from './queries.ts'
import { resolve } from './resolve.ts'

/** `FILTER_SEED=… vitest run server/filters/fields` repeats a run with the same results and conditions. */
const seed = Number(process.env.FILTER_SEED ?? randomInt(2 ** 31))
const draw = drawing(seed)

const server = await testServer()
const { db } = server.deps
const { id, key } = await makeOrganization(server)
const org = orgIdOf(id)
const monitors: string[] = [(await makeMonitor(server, key)).id, (await makeMonitor(server, key)).id]
const [first = '', second = ''] = monitors
for (const monitorId of monitors) await insertMonitorVersion(db, org, monitorId, 2, {})

type Fields = Record<string, FieldValue>
type Condition = NonNullable<Filter['fields']>[number]

/** Stores one result for each set of fields, each in its own conversation, and returns the conversations. */
const store = async (monitorId: string, all: (Fields | null)[], unsupported: (at: number) => string[] = () => []) => {
  const ids = await makeConversations(
    server,
    key,
    all.map((_, at) => ({ startedAt: new Date(Date.UTC(2026, 4, 1) + at * 3_600_000).toISOString() })),
  )
  const rows = all.map(
    (fields, at): ResultRow => ({
      ...noResult,
      conversationId: ids[at] ?? '',
      monitorId,
      monitorVersion: 1,
      status: 'unscored',
      fields,
      unsupportedFields: unsupported(at),
      evaluatedAt: null,
      evaluator: 'test',
    }),
  )
  await db.transaction().execute((trx) => upsertResults(trx, org, rows, server.clock.now()))
  return ids
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

const values: FieldValue[] = [
  24.5,
  100,
  -3,
  1e21,
  '24.50',
  '024',
  'Late delivery',
  'late',
  '2026-04-15',
  '2026-04-15T16:15',
  '2026-04-15T16:15:30+02:00',
  '2026-02-30',
  '04-15',
  '04-15T16:15',
  '12-01',
  '16:15',
  '09:05',
  true,
  false,
  ['Cup', 'late'],
  null,
]

describe('a filter by a field', async () => {
  const byValue = await makeMonitor(server, key)
  const long = { note: 'x'.repeat(1_000) }
  // The last two results have no fields at all, or fields without this one.
  const all = [...values.map((value) => ({ value })), null, {}]
  const ids = await store(byValue.id, all, (at) => (values[at] === null ? ['value'] : []))
  const longIds = await store(
    byValue.id,
    all.map((fields) => fields && { ...fields, ...long }),
    (at) => (values[at] === null ? ['value'] : []),
  )

  it.each<[Condition['op'], string | string[] | undefined, FieldValue[]]>([
    ['eq', '24.5', [24.5]],
    ['eq', '24.50', [24.5, '24.50']],
    ['eq', '24', []],
    ['eq', '024', ['024']],
    ['eq', 'late', ['late']],
    ['eq', 'true', [true]],
    ['eq', '1000000000000000000000', [1e21]],
    ['eq', '2026-04-15', ['2026-04-15']],
    ['eq', '2026-04-15T14:15:30Z', ['2026-04-15T16:15:30+02:00']],
    ['neq', '100.0', values.filter((value) => value !== 100 && value !== null && !Array.isArray(value))],
    ['in', ['100', '-3.0', 'late', '16:15'], [100, -3, 'late', '16:15']],
    ['gt', '24.5', [100, 1e21]],
    ['gte', '24.5', [24.5, 100, 1e21, '24.50']],
    ['lt', '30', [24.5, -3, '24.50', '024']],
    ['gte', '2026-04-15', ['2026-04-15', '2026-04-15T16:15', '2026-04-15T16:15:30+02:00']],
    ['lt', '2026-04-15T15:00', ['2026-04-15', '2026-04-15T16:15:30+02:00']],
    ['gt', '04-15', ['04-15T16:15', '12-01']],
    ['lte', '04-15T16:15', ['04-15', '04-15T16:15']],
    ['gt', '09:05', ['16:15']],
    ['contains', 'LATE', ['Late delivery', 'late', ['Cup', 'late']]],
    ['contains', 'cup', [['Cup', 'late']]],
    ['contains', 'cu', []],
    ['not_contains', 'late', values.filter((value) => value !== null && !String(value).toLowerCase().includes('late'))],
    ['is_true', undefined, [true]],
    ['is_false', undefined, [false]],
    ['is_set', undefined, values.filter((value) => value !== null)],
    ['is_unsupported', undefined, [null]],
  ])('%s %j finds these values', async (op, value, expected) => {
    const given = Array.isArray(value) ? { values: value } : value !== undefined && { value }
    const filter: Filter = { fields: [{ monitorId: byValue.id, field: 'value', op, ...given }] }
    const found = await listAll(filter)
    const valuesOf = (of: string[]) => values.filter((_, at) => found.includes(of[at] ?? ''))
    expect(valuesOf(ids)).toEqual(expected)
    // Another index contains long fields.
    expect(valuesOf(longIds)).toEqual(expected)
    expect(await countSelected(db, org, await resolve(server.deps, org, parseFilter(filter)))).toBe(found.length)
    expect(found).toHaveLength(expected.length * 2)
  })

  it('without a value finds fields that are null or missing, but no results without fields', async () => {
    const fields: Condition[] = [{ monitorId: byValue.id, field: 'value', op: 'is_not_set' }]
    const at = [values.indexOf(null), all.length - 1]
    expect((await listAll({ fields })).sort()).toEqual(at.flatMap((one) => [ids[one], longIds[one]]).sort())
  })
})

/** The random fields in each version, by monitor and conversation. */
const stored = new Map<string, Map<number, Fields | null>>()

const drawFields = (): Fields | null =>
  draw.chance(0.2) ? null : { amount: draw.below(10), ...(draw.chance(0.1) && { note: 'x'.repeat(900) }) }

const drawRows = (monitorId: string, conversationId: string): ResultRow[] => {
  const versions = new Map([1, 2].filter(() => draw.chance(0.7)).map((version) => [version, drawFields()]))
  stored.set(`${monitorId} ${conversationId}`, versions)
  return [...versions].map(([monitorVersion, fields]) => ({
    ...noResult,
    conversationId,
    monitorId,
    monitorVersion,
    status: 'unscored',
    fields,
    evaluatedAt: null,
    evaluator: 'test',
  }))
}

describe(`conditions on fields (seed ${seed})`, async () => {
  const count = 150
  const ids = await store(
    first,
    Array.from({ length: count }, () => null),
  )
  const startOf = (at: number) => Date.UTC(2026, 4, 1) + at * 3_600_000
  const rows = monitors.flatMap((monitorId) => ids.flatMap((conversationId) => drawRows(monitorId, conversationId)))
  await db.transaction().execute((trx) => upsertResults(trx, org, rows, server.clock.now()))

  type Range = { monitorId: string; from: number; to: number }
  const drawRange = (): Range => {
    const from = draw.below(10)
    return { monitorId: draw.one(monitors), from, to: from + draw.below(4) }
  }
  const conditionsOf = ({ monitorId, from, to }: Range): Condition[] => [
    { monitorId, field: 'amount', op: 'gte', value: String(from) },
    { monitorId, field: 'amount', op: 'lte', value: String(to) },
  ]
  const matches = (conversationId: string, { monitorId, from, to }: Range, only?: number): boolean => {
    const versions = stored.get(`${monitorId} ${conversationId}`) ?? new Map<number, Fields | null>()
    const amount = versions.get(only ?? Math.max(...versions.keys()))?.amount
    return typeof amount === 'number' && amount >= from && amount <= to
  }
  const expectSame = async (filter: Filter, isMatch: (conversationId: string, at: number) => boolean) => {
    const expected = ids.filter(isMatch).sort()
    const among = { ...filter, conversationIds: ids }
    expect((await listAll(among)).toSorted(), `seed ${seed}: ${JSON.stringify(filter)}`).toEqual(expected)
    expect(await countSelected(db, org, await resolve(server.deps, org, parseFilter(among)))).toBe(expected.length)
  }

  it('apply to the newest result, and can be combined, nested, and excluded', async () => {
    const at = (hour: number) => new Date(startOf(hour)).toISOString()
    for (let round = 0; round < 6; round++) {
      const [a, b] = [drawRange(), drawRange()]
      const times = { since: at(20), until: at(90) }
      await expectSame({ fields: conditionsOf(a) }, (one) => matches(one, a))
      await expectSame(
        { ...times, fields: [...conditionsOf(a), ...conditionsOf(b)] },
        (one, place) => place >= 20 && place < 90 && matches(one, a) && matches(one, b),
      )
      await expectSame(
        { anyOf: [{ fields: conditionsOf(a) }, { fields: conditionsOf(b) }] },
        (one) => matches(one, a) || matches(one, b),
      )
      await expectSame(
        { fields: conditionsOf(a), exclude: { fields: conditionsOf(b) } },
        (one) => matches(one, a) && !matches(one, b),
      )
    }
  })

  it('can be limited to the current version', async () => {
    const range = { monitorId: second, from: 2, to: 8 }
    const selection = await resolve(server.deps, org, parseFilter({ fields: conditionsOf(range) }))
    expect(await countSelected(db, org, selection, 'current')).toBe(ids.filter((one) => matches(one, range, 1)).length)
  })

  it('find nothing of deleted monitors or of other organizations', async () => {
    const other = await makeOrganization(server)
    const gone = await makeMonitor(server, key)
    const body = {
      results: [{ monitorId: gone.id, conversationId: ids[0], result: 'affected', fields: { amount: 5 } }],
    }
    await server.call('POST', '/v1/monitor-results', { key, body })
    const filter: Filter = { fields: [{ monitorId: gone.id, field: 'amount', op: 'eq', value: '5' }] }
    expect(await listAll(filter)).toEqual([ids[0]])
    expect(await countSelected(db, orgIdOf(other.id), await resolve(server.deps, org, parseFilter(filter)))).toBe(0)
    await server.call('DELETE', `/v1/monitors/${gone.id}`, { key })
    expect(await listAll(filter)).toEqual([])
  })
})

describe('a condition on a field', () => {
  it('is a canonical part of the filter, in words', () => {
    const monitorId = second.toUpperCase()
    const selection = parseFilter({
      fields: [
        { monitorId, field: 'amount', op: 'gte', value: '100', values: ['1'] },
        { monitorId, field: 'reason', op: 'in', values: ['wrong item', 'late'] },
        { monitorId, field: 'reason', op: 'in', values: ['late'] },
        { monitorId, field: 'until', op: 'is_unsupported', value: '' },
      ],
    })
    expect(selection).toEqual({
      fields: [
        { monitorId: second, field: 'amount', op: 'gte', value: '100' },
        { monitorId: second, field: 'reason', op: 'in', values: ['late', 'wrong item'] },
        { monitorId: second, field: 'reason', op: 'eq', value: 'late' },
        { monitorId: second, field: 'until', op: 'is_unsupported' },
      ],
    })
    expect(parseFilter({ fields: [] })).toEqual({})
    expect(explainFilter(selection, new Map([[second, 'Refunds']]))).toBe(
      'conversations, where amount of Refunds is at least “100”, reason of Refunds is “late” or “wrong item”, ' +
        'reason of Refunds is “late” and until of Refunds is unsupported',
    )
  })

  it('works wherever filters do', async () => {
    const { id: monitorId } = await makeMonitor(server, key)
    const expected = [200, 150]
    await store(monitorId, [{ amount: 90 }, { amount: 150 }, { amount: 200 }, { amount: null }, null])
    const filter = { fields: [{ monitorId, field: 'amount', op: 'gt', value: '100' }] }
    const post = async (path: string, body: object) => {
      const answer = await server.call('POST', `/v1/${path}`, { key, body })
      expect([200, 201], `${path}: ${answer.text}`).toContain(answer.status)
      return answer.body
    }
    expect((await post('conversations/count', { filter })).count).toBe(expected.length)
    const found = await post('conversations/search', { filter, include: ['results'] })
    expect(found.data.map((row: { results: { fields: Fields }[] }) => row.results[0]?.fields.amount)).toEqual(expected)
    const config = { filter, columns: [{ key: `field:${monitorId}:amount` }] }
    expect((await post('conversation-exports/preview', { config })).count).toBe(expected.length)
    const chart = { measure: { kind: 'field', monitorId, field: 'amount', statistic: 'mean' }, filter }
    expect((await post('analytics/query', chart)).groups).toMatchObject([{ n: expected.length, value: 175 }])
    expect((await post('saved-views', { name: 'Large amounts', filter })).filter).toEqual(filter)
    expect((await post('boards', { name: 'Amounts', charts: [], filter })).filter).toMatchObject(filter)
    const { id } = await makeMonitor(server, key, { kind: 'rule', definition: { expression: 'true' }, enabled: false })
    const period = { since: '2026-05-01T00:00:00Z', until: '2026-06-01T00:00:00Z' }
    const estimate = await post(`monitors/${id}/evaluations`, { ...period, filter, dryRun: true })
    expect(estimate.conversations).toBe(expected.length)
  })

  it.each([
    ['filter.fields[0].value', { op: 'eq' }],
    ['filter.fields[0].value', { op: 'gt', value: 'late' }],
    ['filter.fields[0].value', { op: 'gt', value: '2026-02-30' }],
    ['filter.fields[0].values', { op: 'in', value: 'late' }],
    ['filter.fields[0].values', { op: 'in', values: [] }],
    ['filter.fields[0].field', { op: 'is_set', field: 'the amount' }],
    ['filter.fields[0].op', { op: 'is_between' }],
    ['filter.fields[0].monitorId', { op: 'is_set', monitorId: 'x' }],
  ])('names the path %s of %j', async (path, given) => {
    const filter = { fields: [{ monitorId: first, field: 'amount', ...given }] }
    const { status, body } = await server.call('POST', '/v1/conversations/search', { key, body: { filter } })
    expect(status).toBe(400)
    expect(body.details.issues.map((issue: { path: string }) => issue.path)).toContain(path)
  })
})
