import type { Layout } from '../layout.ts'
import type { Slice } from '../slice.ts'

/** A kind of file. `write` asks for the next slice when it has done with the last one. */
export type Format = {
  contentType: string
  write: (layout: Layout, slices: AsyncIterable<Slice>) => AsyncIterable<Uint8Array>
}
