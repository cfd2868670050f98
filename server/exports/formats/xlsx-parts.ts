/** Creates the small parts of a workbook (ECMA-376, Office Open XML), and the bytes of its shared strings. */
import { SheetBytes } from './xlsx-bytes.ts'

const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const relationships = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const packageNames = 'http://schemas.openxmlformats.org/package/2006'
const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml'

export const contentTypes = `${head}<Types xmlns="${packageNames}/content-types">\
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>\
<Default Extension="xml" ContentType="application/xml"/>\
<Override PartName="/xl/workbook.xml" ContentType="${type}.sheet.main+xml"/>\
<Override PartName="/xl/worksheets/sheet1.xml" ContentType="${type}.worksheet+xml"/>\
<Override PartName="/xl/worksheets/sheet2.xml" ContentType="${type}.worksheet+xml"/>\
<Override PartName="/xl/sharedStrings.xml" ContentType="${type}.sharedStrings+xml"/>\
<Override PartName="/xl/styles.xml" ContentType="${type}.styles+xml"/>\
</Types>`

const relationship = (id: number, kind: string, target: string) =>
  `<Relationship Id="rId${id}" Type="${relationships}/${kind}" Target="${target}"/>`

export const packageRelationships = `${head}<Relationships xmlns="${packageNames}/relationships">\
${relationship(1, 'officeDocument', 'xl/workbook.xml')}</Relationships>`

export const workbookRelationships = `${head}<Relationships xmlns="${packageNames}/relationships">\
${relationship(1, 'worksheet', 'worksheets/sheet1.xml')}\
${relationship(2, 'worksheet', 'worksheets/sheet2.xml')}\
${relationship(3, 'sharedStrings', 'sharedStrings.xml')}\
${relationship(4, 'styles', 'styles.xml')}</Relationships>`

/**
 * Returns the workbook. `name` is the name of the first sheet, and `area` is its filtered range, such as `$A$1:$C$9`.
 */
export const workbook = (name: string, area: string) => `${head}<workbook xmlns="${main}" xmlns:r="${relationships}">\
<bookViews><workbookView activeTab="0"/></bookViews>\
<sheets><sheet name="${name}" sheetId="1" r:id="rId1"/><sheet name="About" sheetId="2" r:id="rId2"/></sheets>\
<definedNames><definedName name="_xlnm._FilterDatabase" localSheetId="0" hidden="1">${name}!${area}</definedName>\
</definedNames></workbook>`

/** The cell formats in the order of `styles` in `xlsx-bytes.ts`. */
export const styleSheet = `${head}<styleSheet xmlns="${main}">\
<numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy-mm-dd&quot;T&quot;hh:mm:ss.000&quot;Z&quot;"/></numFmts>\
<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>\
<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>\
<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>\
<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>\
<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>\
<cellXfs count="3"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>\
<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>\
<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/></cellXfs>\
<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`

/** Returns the beginning of a sheet. `widths` are in characters. `frozen` keeps the first row in view. */
export const sheetStart = (widths: number[], frozen: boolean) => {
  const pane = frozen ? '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>' : ''
  const selected = frozen ? ' tabSelected="1"' : ''
  const columns = widths.map((width, i) => `<col min="${i + 1}" max="${i + 1}" width="${width}" customWidth="1"/>`)
  return `${head}<worksheet xmlns="${main}">\
<sheetViews><sheetView${selected} workbookViewId="0">${pane}</sheetView></sheetViews>\
<sheetFormatPr defaultRowHeight="15"/><cols>${columns.join('')}</cols><sheetData>`
}

/** Returns the end of a sheet. `filter` is the range with filter buttons, such as `A1:C9`. */
export const sheetEnd = (filter?: string) => `</sheetData>${filter ? `<autoFilter ref="${filter}"/>` : ''}</worksheet>`

/**
 * Shared strings stay in memory until the sheet is written, so their size is limited. Once the limit is reached,
 * strings are written into their cells.
 */
const maxSharedBytes = 16 * 2 ** 20
/** The maximum length of a shared string. Longer strings rarely repeat, and cells count how often they truncate one. */
const maxSharedItemBytes = 1024

export type SharedStrings = {
  /** Returns undefined if the text is too long or no space is left. */
  indexOf: (source: Buffer, start: number, length: number) => number | undefined
  part: () => Buffer
}

export const sharedStrings = (): SharedStrings => {
  // The keys are bytes as Latin-1, which decodes faster than UTF-8.
  const indexes = new Map<string, number>()
  let bytes = 0
  return {
    indexOf: (source, start, length) => {
      if (length > maxSharedItemBytes) return undefined
      const key = source.toString('latin1', start, start + length)
      const known = indexes.get(key)
      if (known !== undefined || bytes + length > maxSharedBytes) return known
      bytes += length
      indexes.set(key, indexes.size)
      return indexes.size - 1
    },
    part: () => {
      const part = new SheetBytes(0)
      part.xml(`${head}<sst xmlns="${main}" uniqueCount="${indexes.size}">`)
      for (const key of indexes.keys()) part.sharedItem(Buffer.from(key, 'latin1'))
      part.xml('</sst>')
      return Buffer.concat(part.takeAll())
    },
  }
}
