import type { Format } from './format.ts'

export const formatNames = ['csv', 'xlsx', 'parquet'] as const
export type FormatName = (typeof formatNames)[number]

const loaders: Record<FormatName, () => Promise<Format>> = {
  csv: async () => (await import('./csv.ts')).csv,
  xlsx: async () => (await import('./xlsx.ts')).xlsx,
  parquet: async () => (await import('./parquet.ts')).parquet,
}

/** These sizes were the fastest for each format. They are here so that readers know them without loading a format. */
const sliceRows: Record<FormatName, { plain: number; reasoning: number }> = {
  csv: { plain: 4_096, reasoning: 2_048 },
  xlsx: { plain: 2_048, reasoning: 2_048 },
  parquet: { plain: 4_096, reasoning: 4_096 },
}

export const rowsPerSlice = ({ format, reasoning }: { format: FormatName; reasoning: boolean }): number =>
  sliceRows[format][reasoning ? 'reasoning' : 'plain']

/** Loads a format. Writing one format does not load the others. */
export const loadFormat = (name: FormatName): Promise<Format> => loaders[name]()
