import { type CallColumn, type CallType, callColumns } from './slice.ts'

/** The columns of an export. */

export type ExportedMonitor = {
  id: string
  name: string
  /** For column names; unique within the export. */
  slug: string
  version: number
}

/** The cells of a call in the order of a slice: the shared ones, then those of each monitor. */
type CallCells = {
  /** Before all monitors. */
  columns: readonly CallColumn[]
  /** Before each monitor's result, after its slug. */
  monitorColumns: readonly CallColumn[]
}

export const cellsOfCalls: CallCells = { columns: callColumns, monitorColumns: [] }

/** An experiment's values for a conversation: its arm, and the observation of each outcome. */
export const cellsOfObservations: CallCells = {
  columns: [
    ...callColumns,
    { name: 'arm', type: 'word' },
    { name: 'arm_name', type: 'name' },
    { name: 'unit', type: 'text' },
  ],
  monitorColumns: [
    { name: 'observation', type: 'word' },
    { name: 'value', type: 'number' },
  ],
}

export type Layout = CallCells & {
  monitors: ExportedMonitor[]
  /** Which version of a monitor is shown: the current one when generation started, or the one with the result. */
  versions: 'current' | 'pinned'
  reasoning: boolean
  /** The configuration in words: the lines of the sheet About. */
  about: { label: string; value: string }[]
}

/** The result columns after the slug, in this order; `reasoning` only on request. */
export const resultColumns = ['result', 'score', 'version', 'evaluated_at', 'reasoning'] as const

const maxSlugLength = 60

const columnsOf = (slug: string, reasoning = true): string[] =>
  resultColumns.filter((column) => reasoning || column !== 'reasoning').map((column) => `${slug}_${column}`)

/** The names of all columns, in their order. */
export const columnNames = ({ columns, monitorColumns, monitors, reasoning }: Layout): string[] => [
  ...columns.map(({ name }) => name),
  ...monitors.flatMap(({ slug }) => [
    ...monitorColumns.map(({ name }) => `${slug}_${name}`),
    ...columnsOf(slug, reasoning),
  ]),
]

/** The types of a call's cells, in the order of a slice. */
export const tupleTypes = ({ columns, monitorColumns, monitors }: Layout): CallType[] =>
  [...columns, ...monitors.flatMap(() => monitorColumns)].map(({ type }) => type)

/** Letters of every script stay; accents are removed from Latin letters. */
const slugOf = (name: string): string => {
  const plain = name.normalize('NFKD').replace(/(?<=\p{Script=Latin}\p{M}*)\p{M}/gu, '')
  const letters = plain.normalize('NFKC').toLowerCase()
  const words = letters.replace(/[^\p{L}\p{N}\p{M}]+/gu, '_').replace(/^_/, '')
  return cut(words, maxSlugLength).replace(/_$/, '') || 'monitor'
}

/** Never within a character. */
const cut = (text: string, length: number): string => [...text].slice(0, length).join('')

const columnsOfCalls = new Set<string>(callColumns.map(({ name }) => name))

/** A monitor `agent` would have an `agent_version`, which the call already has. */
const isFree = (slug: string): boolean => !columnsOf(slug).some((column) => columnsOfCalls.has(column))

/**
 * Slugs of letters and digits in lower case, all different. The first one of a name keeps it; others are numbered,
 * avoiding names that already exist.
 */
export const slugsOf = (names: string[]): string[] => {
  const plain = names.map(slugOf)
  const taken = new Set(plain.filter(isFree))
  return plain.map((slug, index) => {
    if (isFree(slug) && plain.indexOf(slug) === index) return slug
    for (let number = 2; ; number++) {
      const suffix = `_${number}`
      const numbered = cut(slug, maxSlugLength - suffix.length) + suffix
      if (taken.has(numbered)) continue
      taken.add(numbered)
      return numbered
    }
  })
}
