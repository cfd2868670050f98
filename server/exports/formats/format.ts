import type { Layout } from '../layout.ts'
import type { Slice } from '../slice.ts'

/** A file format. `write` requests the next slice when it is done with the last one. */
export type Format = {
  contentType: string
  write: (layout: Layout, slices: AsyncIterable<Slice>) => AsyncIterable<Uint8Array>
}
