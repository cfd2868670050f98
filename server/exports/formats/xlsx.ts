import { once } from 'node:events'
import { Readable } from 'node:stream'
import ZipStream from 'zip-stream'
import { columnNames, type Layout } from '../layout.ts'
import type { Slice } from '../slice.ts'
import type { Format } from './format.ts'
import {
  contentTypes,
  packageRelationships,
  sharedStrings,
  styleSheet,
  workbook,
  workbookRelationships,
} from './xlsx-parts.ts'
import { aboutSheet, filterArea, rowsSheet, type Written } from './xlsx-sheets.ts'

/** The sizes are in bytes. Larger chunks mean fewer switches between this thread and the one that compresses. */
const streams = { highWaterMark: 2 ** 21, chunkSize: 2 ** 19 }

/** All entries have this date, so that the same export always produces the same file. */
const entryDate = new Date(Date.UTC(2000, 0))

const add = (zip: ZipStream, name: string, source: Readable | Buffer | string) =>
  new Promise<void>((resolve, reject) => {
    zip.entry(source, { name, date: entryDate }, (error) => (error ? reject(error) : resolve()))
  })

/** Adds all parts. The last parts depend on the calls that were written. */
const addParts = async (zip: ZipStream, sheet: Readable, after: () => Record<string, Buffer | string>) => {
  await add(zip, '[Content_Types].xml', contentTypes)
  await add(zip, '_rels/.rels', packageRelationships)
  await add(zip, 'xl/_rels/workbook.xml.rels', workbookRelationships)
  await add(zip, 'xl/styles.xml', styleSheet)
  await add(zip, 'xl/worksheets/sheet1.xml', sheet)
  for (const [name, part] of Object.entries(after())) await add(zip, name, part)
  zip.finalize()
}

async function* write(layout: Layout, slices: AsyncIterable<Slice>): AsyncGenerator<Uint8Array> {
  const strings = sharedStrings()
  const written: Written = { rows: 0, cutCells: 0 }
  const zip = new ZipStream({ zlib: { level: 1, chunkSize: streams.chunkSize }, highWaterMark: streams.highWaterMark })
  const sheet = Readable.from(rowsSheet(layout, slices, strings, written), {
    objectMode: false,
    highWaterMark: streams.highWaterMark,
  })
  addParts(zip, sheet, () => ({
    'xl/worksheets/sheet2.xml': aboutSheet(layout, written),
    'xl/sharedStrings.xml': strings.part(),
    'xl/workbook.xml': workbook(
      layout.rowsName,
      filterArea(columnNames(layout).length, written.rows).replace(/[A-Z]+|\d+/g, '$$$&'),
    ),
  })).catch((error: Error) => zip.destroy(error))
  try {
    for await (const chunk of zip) yield chunk
  } finally {
    // If the reader stops early, the slices end before this function returns.
    if (!sheet.closed) {
      sheet.destroy()
      await once(sheet, 'close')
    }
  }
}

export const xlsx: Format = {
  contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  write,
}
