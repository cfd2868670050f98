// The query parameters of these pages.

import type { Schemas } from '../api/schema.d.ts'

export const periods = [7, 30, 90] as const
const parts = ['found', 'agreement', 'versions', 'runs'] as const
export const foundKinds = ['affected', 'not_affected', 'unscored', 'failed'] as const

export type Part = (typeof parts)[number]
export type Found = (typeof foundKinds)[number]
export type Kind = Schemas['Monitor']['kind']

export const kindNames: Record<Kind, string> = { rule: 'Rule', judge: 'LLM judge', external: 'External' }

export type MonitorSearch = {
  /** If set, only the results of this version are shown. */
  version?: number
  tab?: Part
  /** The number of days shown. */
  days?: (typeof periods)[number]
  /** Which results are listed. */
  result?: Found
  /** The versions to compare. */
  from?: number
  to?: number
}

const readOne = <const Name extends string, T>(name: Name, value: unknown, of: readonly T[]) =>
  (of.includes(value as T) ? { [name]: value } : {}) as { [name in Name]?: T }

const readVersion = <const Name extends string>(name: Name, value: unknown) =>
  (Number.isInteger(value) && Number(value) > 0 ? { [name]: value } : {}) as { [name in Name]?: number }

export const readMonitorSearch = (search: Record<string, unknown>): MonitorSearch => ({
  ...readVersion('version', search.version),
  ...readOne('tab', search.tab, parts),
  ...readOne('days', search.days, periods),
  ...readOne('result', search.result, foundKinds),
  ...readVersion('from', search.from),
  ...readVersion('to', search.to),
})

export type NewMonitorSearch = { kind?: Kind }

export const readNewMonitorSearch = ({ kind }: Record<string, unknown>): NewMonitorSearch =>
  readOne('kind', kind, ['rule', 'judge', 'external'] as const)
