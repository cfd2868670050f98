import { randomInt } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { makeAgent, makeOrganization } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import type { OrgId } from '../platform/db/database.ts'
import { newId, orgIdOf } from '../platform/ids.ts'
import type { Condition } from './filter.ts'
import { parseFilter } from './filter.ts'
import { whereSelected } from './queries.ts'
import { resolve } from './resolve.ts'

/** Checks that PostgreSQL evaluates metadata conditions exactly as the API documents them. */

/** `FILTER_SEED=… vitest run server/filters` repeats a run with the same documents and conditions. */
const seed = Number(process.env.FILTER_SEED ?? randomInt(2 ** 31))

const server = await testServer()
const { db } = server.deps

type Document = Record<string, unknown>

/** Returns the JSON text of a scalar, with numbers without an exponent. Returns undefined for other values. */
const textOf = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return value ? 'true' : 'false'
  if (typeof value !== 'number') return undefined
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(JSON.stringify(value)) ?? []
  const digits = whole + fraction
  const point = whole.length + Number(exponent)
  const padded = point <= 0 ? '0'.repeat(1 - point) + digits : digits.padEnd(point, '0')
  const at = Math.max(point, 1)
  return `${sign}${padded.slice(0, at)}${padded.length > at ? `.${padded.slice(at)}` : ''}`
}

/** Returns two decimal numbers as integers of the same unit. */
const asNumbers = (a: string, b: string): [bigint, bigint] | undefined => {
  const parts = [a, b].map((text) => (text.length <= 500 ? /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) : null))
  if (parts.some((part) => part === null)) return undefined
  const places = Math.max(...parts.map((part) => part?.[3]?.length ?? 0))
  const [x, y] = parts.map((part) => {
    const units = BigInt(`${part?.[2]}${(part?.[3] ?? '').padEnd(places, '0')}`)
    return part?.[1] ? -units : units
  })
  return [x as bigint, y as bigint]
}

const daysOf = (year: number, month: number) =>
  month === 2
    ? year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
      ? 29
      : 28
    : [4, 6, 9, 11].includes(month)
      ? 30
      : 31

/** Returns an ISO timestamp as microseconds. */
const asInstant = (text: string): bigint | undefined => {
  const parts =
    /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:Z|([+-])(\d\d):(\d\d)))?$/i.exec(text) ??
    undefined
  if (!parts) return undefined
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map((part) => Number(part ?? 0)) as [
    ...[number, number, number],
    ...[number, number, number],
  ]
  const [, , , , , , , fraction = '', sign, offsetHours = '0', offsetMinutes = '0'] = parts
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) return undefined
  if (hour > 23 || minute > 59 || second > 59 || Number(offsetHours) > 15 || Number(offsetMinutes) > 59)
    return undefined
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  date.setUTCHours(hour, minute, second)
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * (sign === '-' ? -1 : 1)
  const micros = BigInt(Math.round(Number(`0.${fraction || 0}`) * 1e6))
  return BigInt(date.getTime() - offset * 60_000) * 1_000n + micros
}

/** Returns whether the document satisfies the condition, exactly as the API documents it. */
const satisfies = (document: Document, { key, op, value = '' }: Condition): boolean => {
  const held = Object.hasOwn(document, key) ? (document[key] ?? null) : null
  if (op === 'is_not_set') return held === null
  if (op === 'is_set') return held !== null
  const text = textOf(held)
  if (text === undefined) return false
  if (op === 'eq') return text === value
  if (op === 'neq') return text !== value
  if (op === 'contains') return text.toLowerCase().includes(value.toLowerCase())
  if (op === 'not_contains') return !text.toLowerCase().includes(value.toLowerCase())
  if (op === 'is_true') return text.toLowerCase() === 'true'
  if (op === 'is_false') return text.toLowerCase() === 'false'
  const instants = text.length > 500 ? [] : [asInstant(text), asInstant(value)]
  const [x, y] = asNumbers(text, value) ?? instants
  if (x === undefined || y === undefined) return false
  return { gt: x > y, gte: x >= y, lt: x < y, lte: x <= y }[op]
}

const storeAll = async (documents: Document[]): Promise<OrgId> => {
  const { id, key } = await makeOrganization(server)
  const agent = await makeAgent(server, key)
  // The API returned this ID, so it is valid.
  const org = orgIdOf(id)
  const startedAt = new Date()
  const rows = documents.map((metadata) => ({
    organization_id: org,
    id: newId(),
    agent_id: agent.id as string,
    channel: 'call',
    status: 'completed',
    started_at: startedAt,
    end_reason: null,
    metadata: JSON.stringify(metadata),
    signals: '{}',
  }))
  for (let i = 0; i < rows.length; i += 500) {
    await db
      .insertInto('conversations')
      .values(rows.slice(i, i + 500))
      .execute()
  }
  return org
}

/** Returns the documents that PostgreSQL finds, sorted. */
const find = async (org: OrgId, metadata: Condition[]): Promise<string[]> => {
  const rows = await whereSelected(
    db.selectFrom('conversations'),
    org,
    await resolve(server.deps, org, parseFilter({ metadata })),
  )
    .select('conversations.metadata')
    .execute()
  return rows.map(({ metadata: found }) => JSON.stringify(found)).sort()
}

const words = [
  '',
  'gold',
  'Gold',
  'GOLDEN',
  'ÄRGER',
  'ärger',
  'straße',
  '日本',
  '%',
  '_',
  '\\',
  '"',
  "'",
  'a b',
  'null',
  '{}',
]
const booleanWords = ['true', 'false', 'True', 'yes']
const numberTexts = [
  '0',
  '-0',
  '1',
  '1.0',
  '01',
  '10',
  '2',
  '-3',
  '-3.5',
  '1e3',
  '1e400',
  '1E5',
  'Infinity',
  'NaN',
  '0x10',
  ' 5',
  '5 ',
  '5\n',
  '+5',
  '.5',
  '5.',
  '1_000',
  '1,5',
  '12345678901234567890',
  '12345678901234567891',
  '0.0000001',
  '٣',
  '1000',
  '9'.repeat(400),
  `0.${'3'.repeat(450)}`,
  `1.${'0'.repeat(20)}1`,
  '--1',
  '-',
  '1.2.3',
  '100000000000000000000000',
]
const longNumber = '7'.repeat(501)
const instantTexts = [
  '2026-02-28',
  '2026-02-29',
  '2026-02-30',
  '2024-02-29',
  '2100-02-29',
  '2000-02-29',
  '2026-13-01',
  '2026-00-10',
  '2026-03-01T00:00:00Z',
  '2026-03-01T01:00:00+01:00',
  '2026-03-01T00:00:00.000Z',
  '2026-03-01t00:00:00z',
  '2026-03-01T00:00:00.000001Z',
  '2026-03-01T00:00:00.0000019Z',
  '2026-03-01T00:00:00',
  '2026-03-01 00:00:00Z',
  '2026-03-01T24:00:00Z',
  '2026-03-01T23:59:60Z',
  '2026-03-01T00:00:00+16:00',
  '2026-03-01T00:00:00-15:59',
  '2026',
  '0000-01-01',
  '0001-01-01T00:00:00+15:00',
  '9999-12-31T23:59:59-15:00',
  '2026-03-01T00:00:00+0100',
  'infinity',
  '2026-3-1',
  '20260301',
  '2026-03-01T00:00Z',
  'now',
  'today',
  '2026-04-31',
  '2026-03-01T00:00:00.1234567891Z',
  '2026-03-01T00:00:00.123456789Z',
  '2026-03-01\n',
]
const numbers = [0, -0, 1, 1.5, -3, 10, 2, 1e21, 1e300, 5e-324, 1e-7, 1.7976931348623157e308, 9007199254740991, 1000]
const keys = ['plan', 'a"b', 'a.b', '$', '', '0', '__proto__', 'Ä']

const texts = fc.constantFrom(...words, ...booleanWords, ...numberTexts, ...instantTexts)
const scalars: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: texts },
  { weight: 3, arbitrary: fc.constantFrom(...numbers) },
  { weight: 2, arbitrary: fc.boolean() },
  { weight: 1, arbitrary: fc.integer() },
  { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
  {
    weight: 1,
    arbitrary: fc
      .date({ noInvalidDate: true, min: new Date('0001-01-02'), max: new Date('9999-12-30') })
      .map((date) => date.toISOString()),
  },
)
const values: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 8, arbitrary: scalars },
  { weight: 1, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: scalars.map((value) => [value]) },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...keys), scalars).map(([key, value]) => ({ [key]: value })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom([], {}, 'x'.repeat(3_000), longNumber, `2026-03-01T00:00:00Z${' '.repeat(500)}`),
  },
)
const documents: fc.Arbitrary<Document> = fc
  .array(fc.tuple(fc.constantFrom(...keys), values), { maxLength: 4 })
  .map((entries) => Object.fromEntries(entries))
const ops = [
  'eq',
  'neq',
  'contains',
  'not_contains',
  'gt',
  'gte',
  'lt',
  'lte',
  'is_set',
  'is_not_set',
  'is_true',
  'is_false',
] as const
const conditionValues = fc.oneof(
  { weight: 4, arbitrary: texts },
  { weight: 1, arbitrary: scalars.map((value) => textOf(value) ?? '').filter((text) => text.length <= 500) },
)
const conditions: fc.Arbitrary<Condition> = fc.record({
  key: fc.constantFrom(...keys, 'absent'),
  op: fc.constantFrom(...ops),
  value: conditionValues,
})

describe('metadata conditions', () => {
  it('match the documentation on thousands of documents', { timeout: 120_000 }, async () => {
    process.stdout.write(`metadata conditions: FILTER_SEED=${seed}\n`)
    const drawn = fc.sample(documents, { numRuns: 2_000, seed })
    // All words have the same key, so that each condition is compared with values of every type.
    const planned = [
      ...words,
      ...booleanWords,
      ...numberTexts,
      ...instantTexts,
      ...numbers,
      true,
      false,
      null,
      longNumber,
    ]
    const all = [...drawn, ...planned.map((plan) => ({ plan }))]
    const org = await storeAll(all)
    const asked: Condition[] = [
      ...fc.sample(conditions, { numRuns: 400, seed: seed + 1 }),
      ...fc
        .sample(fc.tuple(fc.constantFrom(...ops), conditionValues), { numRuns: 400, seed: seed + 2 })
        .map(([op, value]): Condition => ({ key: 'plan', op, value })),
    ]
    let found = 0
    for (const condition of asked) {
      const expected = all
        .filter((document) => satisfies(document, condition))
        .map((document) => JSON.stringify(document))
      const actual = await find(org, [condition])
      const normal = (list: string[]) => list.map((text) => JSON.stringify(sorted(JSON.parse(text)))).sort()
      expect(normal(actual), JSON.stringify(condition)).toEqual(normal(expected))
      found += actual.length
    }
    expect(found).toBeGreaterThan(10_000)
  })

  it('are combined with AND', async () => {
    const all = [
      { plan: 'gold', seats: 12 },
      { plan: 'gold', seats: 3 },
      { plan: 'tin', seats: 12 },
      { seats: '12' },
      {},
    ]
    const org = await storeAll(all)
    expect(
      await find(org, [
        { key: 'plan', op: 'eq', value: 'gold' },
        { key: 'seats', op: 'gt', value: '3' },
      ]),
    ).toEqual([JSON.stringify(all[0])])
    expect(await find(org, [{ key: 'seats', op: 'eq', value: '12' }])).toHaveLength(3)
  })
})

/** Sorts the keys of objects, because PostgreSQL uses its own order. */
const sorted = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, part]) => [key, sorted(part)])
    : value
