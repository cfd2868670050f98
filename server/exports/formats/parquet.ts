import { setImmediate } from 'node:timers/promises'
import { constants, zstdCompressSync } from 'node:zlib'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import { columnNames, type Layout } from '../layout.ts'
import type { Slice } from '../slice.ts'
import type { Format } from './format.ts'
import { columnsOf, schemaOf } from './parquet-columns.ts'

/** Except for long strings, a column of a row group is smaller than this, so it fits on a single page. */
const pageBytes = 2 ** 20

/** Compresses a page. The output is a single chunk, because Zstandard hardly ever makes data larger. */
const compress = (bytes: Uint8Array) =>
  zstdCompressSync(bytes, {
    chunkSize: bytes.length + 1024,
    params: { [constants.ZSTD_c_compressionLevel]: 1 },
  })

/** Returns the file's metadata: the configuration, and the monitors that the columns belong to. */
const keyValues = ({ monitors, versions, about }: Layout) => {
  const told = monitors.map(({ version, ...monitor }) => ({ ...monitor, [`${versions}Version`]: version }))
  return [
    { key: 'earshot.monitors', value: JSON.stringify(told) },
    { key: 'earshot.about', value: JSON.stringify(about) },
  ]
}

async function* write(layout: Layout, slices: AsyncIterable<Slice>): AsyncGenerator<Uint8Array> {
  const names = columnNames(layout)
  const bytes = new ByteWriter(2 ** 22)
  const take = () => {
    const taken = new Uint8Array(bytes.getBuffer())
    bytes.index = 0
    return taken
  }
  const file = new ParquetWriter({
    writer: bytes,
    schema: schemaOf(layout, names),
    codec: 'ZSTD',
    compressors: { ZSTD: compress },
    statistics: false,
    kvMetadata: keyValues(layout),
    createdBy: 'earshot version 1',
  })
  for await (const slice of slices) {
    if (slice.rows === 0) continue
    // Each slice becomes a row group, so that only one slice is in memory.
    file.write({ columnData: columnsOf(layout, names, slice), rowGroupSize: slice.rows, pageSize: pageBytes })
    yield take()
    await setImmediate()
  }
  file.finish()
  yield take()
}

export const parquet: Format = {
  contentType: 'application/vnd.apache.parquet',
  write,
}
