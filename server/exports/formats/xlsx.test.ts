import exceljs from 'exceljs'
import { describe, expect, it } from 'vitest'
import { cellsOfSheet, readXlsx, sheetOf } from '../../../test/support/exports/file-readers.ts'
import { collect, layoutOf, type ResultValues, type SliceRow, slicesOf } from '../../../test/support/exports/slices.ts'
import type { Layout } from '../layout.ts'
import { xlsx } from './xlsx.ts'
import { columnLetters } from './xlsx-bytes.ts'

const rowOf = (reasoning: string, call: Partial<SliceRow['call']> = {}): SliceRow => {
  const result: ResultValues = { version: 2, result: 'affected', score: 0.25, evaluatedAt: 86_400_000, reasoning }
  return {
    call: {
      conversation_id: '0198f000-0000-7000-8000-0123456789ab',
      external_id: 'call-1',
      started_at: Date.UTC(2026, 5, 1, 12, 30, 15, 7),
      ended_at: null,
      duration_seconds: 61,
      channel: 'voice',
      direction: 'inbound',
      agent_id: null,
      agent_name: 'Agent',
      agent_version: null,
      company_id: null,
      company_name: null,
      customer_id: '',
      metadata: '{}',
      ...call,
    },
    results: [result],
  }
}

const fileOf = (rows: SliceRow[], layout: Layout) => collect(xlsx.write(layout, slicesOf(rows, layout)))

/** Reads a file with exceljs, which has a strict XML parser. */
const workbookOf = async (file: Buffer) => {
  const workbook = new exceljs.Workbook()
  // exceljs has types for an older version of Node, in which buffers were not generic.
  await workbook.xlsx.load(file as unknown as Parameters<typeof workbook.xlsx.load>[0])
  return workbook
}

describe('XLSX', () => {
  it('has typed cells, a frozen first row, a filter on all rows, and column widths', async () => {
    const layout = layoutOf(1, true)
    const workbook = await workbookOf(await fileOf([rowOf('a'), rowOf('b')], layout))
    expect(workbook.worksheets.map(({ name }) => name)).toEqual(['Calls', 'About'])
    const calls = workbook.getWorksheet('Calls')
    expect(calls?.views[0]).toMatchObject({ state: 'frozen', ySplit: 1 })
    expect(calls?.autoFilter).toBe('A1:S3')
    expect(calls?.getCell('A1').font).toMatchObject({ bold: true })
    expect(calls?.getColumn(1).width).toBe(38)
    expect(calls?.getCell('C2').value).toEqual(new Date('2026-06-01T12:30:15.007Z'))
    expect(calls?.getCell('C2').numFmt).toBe('yyyy-mm-dd"T"hh:mm:ss.000"Z"')
    expect(calls?.getCell('E2').value).toBe(61)
    expect(calls?.getCell('P2').value).toBe(0.25)
    expect(calls?.getCell('R2').value).toEqual(new Date('1970-01-02T00:00:00.000Z'))
  })

  it('keeps line ends, surrounding spaces, and characters that XML forbids or reserves', async () => {
    const layout = layoutOf(1, true)
    const [lines, markup] = ['one\r\ntwo\rthree\n four \n', '<&>]]>&amp;"']
    const rows = [lines, markup, '_x0041_ \u0001\u001f', '\ufffe\uffff\ufeff'].map((text) => rowOf(text))
    const workbook = await workbookOf(await fileOf(rows, layout))
    // Excel escapes these strings (ECMA-376, ST_Xstring), but this reader does not decode the escapes.
    const escaped = ['_x005F_x0041_ _x0001__x001F_', '_xFFFE__xFFFF_\ufeff']
    const read = [2, 3, 4, 5].map((row) => workbook.getWorksheet('Calls')?.getCell(row, 19).value)
    expect(read).toEqual([lines, markup, ...escaped])
  })

  it('has a cell for an empty text, and none for a missing value', async () => {
    const layout = layoutOf(1, true)
    const sheet = sheetOf(await fileOf([rowOf('')], layout), 'Calls')
    expect(sheet.M2).toMatchObject({ t: 's', v: '' })
    expect(sheet.S2).toMatchObject({ t: 's', v: '' })
    expect(sheet.L2).toBeUndefined()
  })

  it('truncates texts that are too long for a cell, never within a character, and counts them', async () => {
    const layout = layoutOf(1, true)
    const file = await fileOf(
      [
        rowOf('x'.repeat(40_000), { external_id: '😀'.repeat(20_000), agent_name: 'n'.repeat(32_768) }),
        rowOf(`x${'😀'.repeat(20_000)}`),
        rowOf('ä'.repeat(32_767)),
        rowOf('\u0001'.repeat(32_767)),
      ],
      layout,
    )
    const { rows } = readXlsx(file)
    expect(rows[0]?.[18]).toBe('x'.repeat(32_767))
    expect(rows[0]?.[1]).toBe('😀'.repeat(16_383))
    expect(rows[0]?.[8]).toBe('n'.repeat(32_767))
    expect(rows[1]?.[18]).toBe(`x${'😀'.repeat(16_383)}`)
    expect(rows[2]?.[18]).toBe('ä'.repeat(32_767))
    expect(rows[3]?.[18]).toBe('\u0001'.repeat(32_767))
    await workbookOf(file)
    const about = cellsOfSheet(file, 'About').map(([label, value]) => `${label}: ${value}`)
    expect(about).toContainEqual(expect.stringMatching(/^Long texts: .*32767 characters.*Truncated cells: 4\.$/))
  })

  it('has the configuration and the monitors on its sheet About', async () => {
    const layout = layoutOf(2, false)
    const about = cellsOfSheet(await fileOf([rowOf('a')], layout), 'About')
    const lines = about.map((row) => row.filter((cell) => cell !== null))
    expect(lines.slice(0, 3)).toEqual([
      ['Since', '2026-06-01T00:00:00.000Z'],
      ['Conditions', '=Affected & "all" <of>\nthem'],
      ['Calls', 1],
    ])
    expect(lines).toContainEqual(['Long texts', expect.stringContaining('No text in this file is truncated.')])
    expect(lines).toContainEqual(['In CSV', expect.stringContaining('could run as a formula')])
    expect(lines.slice(-3)).toEqual([
      ['Monitor', 'Name', 'Columns begin with', 'Current version'],
      [layout.monitors[0]?.id, 'Monitor "0" <&>', 'monitor_', 1],
      [layout.monitors[1]?.id, 'Monitor "1" <&>', '監視_2_', 2],
    ])
  })

  it('names columns like spreadsheets', () => {
    expect([0, 25, 26, 701, 702, 16_383].map(columnLetters)).toEqual(['A', 'Z', 'AA', 'ZZ', 'AAA', 'XFD'])
  })
})
