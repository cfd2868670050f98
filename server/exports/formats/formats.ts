import type { Format } from './format.ts'

/** The formats for every export. */
export const tableFormats = ['csv', 'xlsx', 'parquet'] as const
export type TableFormat = (typeof tableFormats)[number]

/** The formats for exports of conversations. */
export const formatNames = [...tableFormats, 'jsonl'] as const
export type FormatName = (typeof formatNames)[number]

const loaders: Record<FormatName, () => Promise<Format>> = {
  csv: async () => (await import('./csv.ts')).csv,
  xlsx: async () => (await import('./xlsx.ts')).xlsx,
  parquet: async () => (await import('./parquet.ts')).parquet,
  jsonl: async () => (await import('./jsonl.ts')).jsonl,
}

/** These sizes were the fastest for each format. They are here so that code can read them without loading a format. */
const sliceRows: Record<FormatName, { plain: number; reasoning: number }> = {
  csv: { plain: 4_096, reasoning: 2_048 },
  xlsx: { plain: 2_048, reasoning: 2_048 },
  parquet: { plain: 4_096, reasoning: 4_096 },
  jsonl: { plain: 4_096, reasoning: 2_048 },
}

export const rowsPerSlice = ({ format, reasoning }: { format: FormatName; reasoning: boolean }): number =>
  sliceRows[format][reasoning ? 'reasoning' : 'plain']

/** Loads a format. Writing one format does not load the others. */
export const loadFormat = (name: FormatName): Promise<Format> => loaders[name]()
