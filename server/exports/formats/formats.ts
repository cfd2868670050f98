import type { Format } from './format.ts'

export const formatNames = ['csv', 'xlsx', 'parquet'] as const
export type FormatName = (typeof formatNames)[number]

const loaders: Record<FormatName, () => Promise<Format>> = {
  csv: async () => (await import('./csv.ts')).csv,
  xlsx: async () => (await import('./xlsx.ts')).xlsx,
  parquet: async () => (await import('./parquet.ts')).parquet,
}

/** Who writes one kind of file does not load what the others need. */
export const loadFormat = (name: FormatName): Promise<Format> => loaders[name]()
