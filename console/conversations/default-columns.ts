import type { Schemas } from '../api/schema.d.ts'

export type ViewColumn = Schemas['ViewColumn']

/** The columns for people who have not selected any. */
export const defaultColumns: ViewColumn[] = [
  { key: 'channel' },
  { key: 'startedAt' },
  { key: 'agentId' },
  { key: 'affected' },
  { key: 'customerId' },
  { key: 'companyId' },
  { key: 'durationSeconds' },
  { key: 'endReason' },
  { key: 'status' },
]
