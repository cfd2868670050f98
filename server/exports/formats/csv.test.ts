import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Cell, cellsOf, collect, layoutOf, type SliceRow, slicesOf } from '../../../test/support/exports/slices.ts'
import { anyText } from '../../../test/text.ts'
import { columnNames, type Layout } from '../layout.ts'
import { callColumns } from '../slice.ts'
import { csv } from './csv.ts'

/** Writes CSV in the simplest possible way, for comparison. */
const plainly = (rows: SliceRow[], layout: Layout): string => {
  const write = (cell: Cell): string => {
    if (cell === null) return ''
    if (cell instanceof Date) return cell.toISOString()
    if (typeof cell === 'number') return String(cell)
    const safe = /^ *[=+\-@\t\r\n＝＋－＠]/.test(cell) ? `'${cell}` : cell
    return safe === '' || /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
  }
  const lines = [columnNames(layout), ...rows.map((row) => cellsOf(row, layout).map(write))]
  return lines.map((line) => `${line.join(',')}\r\n`).join('')
}

const call: SliceRow['call'] = {
  conversation_id: '0198f000-abcd-7000-8000-0123456789ef',
  external_id: 'call-1',
  started_at: Date.UTC(2026, 10, 21, 9, 14, 5, 7),
  ended_at: null,
  duration_seconds: 61,
  channel: 'call',
  direction: 'inbound',
  agent_id: '0198f000-0000-7000-8000-000000000001',
  agent_name: 'Leo',
  agent_version: 2,
  company_id: null,
  company_name: null,
  customer_id: null,
  metadata: '{}',
}

const expectCsv = async (rows: SliceRow[], layout: Layout, rowsPerSlice = 3) => {
  const bytes = await collect(csv.write(layout, slicesOf(rows, layout, rowsPerSlice)))
  expect(bytes.toString()).toBe(plainly(rows, layout))
}

it.each([
  ['plain', 'plain'],
  ['', '""'],
  ['a,b', '"a,b"'],
  ['say "why"', '"say ""why"""'],
  ['"', '""""'],
  ['two\r\nlines', '"two\r\nlines"'],
  ['a;b\tc', 'a;b\tc'],
  ['größer 🎧', 'größer 🎧'],
  ['=1+1', "'=1+1"],
  ['+49 30 1', "'+49 30 1"],
  ['-2', "'-2"],
  ['@x', "'@x"],
  ['\tx', "'\tx"],
  ['\rx', `"'\rx"`],
  ['\n=x', `"'\n=x"`],
  ['  =HYPERLINK("a")', `"'  =HYPERLINK(""a"")"`],
  ['＝1', "'＝1"],
  ['＠1,', `"'＠1,"`],
  ['ｅ', 'ｅ'],
  ['a=1', 'a=1'],
  [' ', ' '],
  ["'", "'"],
])('writes the text %j as %j', async (text, cell) => {
  const layout = { ...layoutOf(0, false), monitors: [] }
  const rows = [{ call: { ...call, external_id: text }, results: [] }]
  const file = (await collect(csv.write(layout, slicesOf(rows, layout)))).toString()
  expect(file.split('\r\n').slice(1).join('\r\n')).toContain(
    `${call.conversation_id},${cell},2026-11-21T09:14:05.007Z,,61,call`,
  )
  await expectCsv(rows, layout)
})

it('only writes the header without rows, and no byte order mark', async () => {
  const layout = layoutOf(2, true)
  const file = await collect(csv.write(layout, slicesOf([], layout)))
  expect(file.toString()).toBe(`${columnNames(layout).join(',')}\r\n`)
  expect(file[0]).toBe('c'.charCodeAt(0))
})

it('writes numbers as JavaScript prints them', async () => {
  const layout = layoutOf(1, false)
  const scores = [
    0,
    -0,
    1,
    -1,
    0.5,
    0.1,
    1e-6,
    1e-7,
    0.1234567,
    1 / 3,
    0.30000000000000004,
    123456.789,
    999999999.999999,
  ]
  scores.push(1e9, 1e15, 1e21, 1.7976931348623157e308, 5e-324, -2.5, 4294967296.5, 2 ** 31, Number.POSITIVE_INFINITY)
  const rows = scores.map((score) => ({
    call,
    results: [{ version: 1, result: 'affected' as const, score, evaluatedAt: 0, reasoning: null }],
  }))
  await expectCsv(rows, layout)
  const number = fc.oneof(
    fc.double({ noNaN: true }),
    fc.integer().map((value) => value / 10_000),
  )
  const property = fc.asyncProperty(fc.array(number, { maxLength: 20 }), async (values) => {
    const some = values.map((score) => ({
      call: { ...call, duration_seconds: Math.trunc(score) | 0 },
      results: [{ version: 1, result: 'failed' as const, score, evaluatedAt: 0, reasoning: null }],
    }))
    await expectCsv(some, layout)
  })
  await fc.assert(property, { numRuns: 300 })
})

it('writes any texts and times like a simple writer', async () => {
  const text = fc.option(
    fc.oneof(
      fc.string({ unit: fc.constantFrom('"', ',', '\r', '\n', ' ', '=', 'a', 'ß', '🎧', "'"), maxLength: 30 }),
      anyText({ maxLength: 300 }),
    ),
    { nil: null },
  )
  // The times cover the years 0001 to 9999, with some times on the same day.
  const instant = fc.oneof(
    fc.integer({ min: -62135596800000, max: 253402300799999 }),
    fc.integer({ min: 0, max: 86400000 }),
  )
  const result = fc.record({
    version: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
    result: fc.constantFrom('affected', 'not_affected', 'unscored', 'failed'),
    score: fc.option(fc.double({ noNaN: true }), { nil: null }),
    evaluatedAt: instant,
    reasoning: text,
  })
  const texts = Object.fromEntries(
    callColumns
      .filter(({ type }) => type === 'text' || type === 'name' || type === 'json')
      .map(({ name }) => [name, text]),
  )
  const row = fc.record({
    call: fc.record({ ...texts, started_at: instant, ended_at: fc.option(instant, { nil: null }) }),
    results: fc.array(fc.option(result, { nil: null }), { minLength: 3, maxLength: 3 }),
  })
  const property = fc.asyncProperty(fc.array(row, { maxLength: 6 }), fc.boolean(), async (drawn, reasoning) => {
    // The generated columns overwrite the columns of the example.
    const rows = drawn.map(({ call: some, results }) => ({ call: { ...call, ...some }, results }) as SliceRow)
    await expectCsv(rows, layoutOf(3, reasoning))
  })
  await fc.assert(property, { numRuns: 200 })
})

it('handles texts larger than its blocks', async () => {
  const layout = layoutOf(2, true)
  const large = (sign: string) => ({
    version: 1,
    result: 'affected' as const,
    score: 1,
    evaluatedAt: 0,
    reasoning: sign.repeat(200_000),
  })
  await expectCsv(
    [
      { call, results: [large('"'), large('ä')] },
      { call, results: [null, large(',')] },
    ],
    layout,
    1,
  )
})
