import type { List, ResultsConfig } from './queries.ts'

export const formats: { value: NonNullable<ResultsConfig['format']>; label: string }[] = [
  { value: 'csv', label: 'CSV' },
  { value: 'xlsx', label: 'Excel' },
  { value: 'parquet', label: 'Parquet' },
]

/** The formats for exports of conversations. */
export const listFormats: { value: NonNullable<List['format']>; label: string }[] = [
  ...formats,
  { value: 'jsonl', label: 'JSON Lines' },
]

export const formatName = (format: List['format'] = 'csv'): string =>
  listFormats.find(({ value }) => value === format)?.label ?? format
