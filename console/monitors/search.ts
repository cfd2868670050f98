// Reads the query parameters of these pages.

import type { Schemas } from '../api/schema.d.ts'
import type { RangeSearch } from '../filters/range-search.ts'
import { readText } from '../lib/search.ts'

const parts = ['found', 'agreement', 'alignment', 'versions', 'runs'] as const
export const foundKinds = ['affected', 'not_affected', 'unscored', 'failed'] as const

export type MonitorTab = (typeof parts)[number]
export type ResultFilter = (typeof foundKinds)[number]
export type Kind = Schemas['Monitor']['kind']

export const kindNames: Record<Kind, string> = {
  rule: 'Rule',
  judge: 'LLM judge',
  external: 'External',
  scorecard: 'Scorecard',
}

export type MonitorSearch = Pick<RangeSearch, 'time'> & {
  /** If set, only the results of this version are shown. */
  version?: number
  tab?: MonitorTab
  /** Which results are listed. */
  result?: ResultFilter
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
  ...readText('time', search.time),
  ...readOne('result', search.result, foundKinds),
  ...readVersion('from', search.from),
  ...readVersion('to', search.to),
})

export type NewMonitorSearch = {
  kind?: Kind
  /** The key of the template with the definition that the form starts with. */
  template?: string
  /** The ID of the topic that the form starts with. */
  topic?: string
}

export const readNewMonitorSearch = ({ kind, template, topic }: Record<string, unknown>): NewMonitorSearch => ({
  ...readOne('kind', kind, ['rule', 'judge', 'external', 'scorecard'] as const),
  ...readText('template', template),
  ...readText('topic', topic),
})

export type TemplatesSearch = {
  q?: string
  type?: 'rule' | 'judge'
  /** Omits templates that only work in English. */
  words?: 'any'
}

export const readTemplatesSearch = ({ q, type, words }: Record<string, unknown>): TemplatesSearch => ({
  ...readText('q', q),
  ...readOne('type', type, ['rule', 'judge'] as const),
  ...readOne('words', words, ['any'] as const),
})
