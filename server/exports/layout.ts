import { type CallColumn, type CallType, callColumns } from './slice.ts'

/** Defines the columns of an export. */

export type ExportedMonitor = {
  id: string
  name: string
  /** The monitor's name in column names. It is unique in the export. */
  slug: string
  version: number
}

/** `width` is the width of the column in a sheet, in characters. */
type ShownColumn = CallColumn & { width?: number }

/** The cells of a call in the order of a slice: first the shared cells, then the cells of each monitor. */
type CallCells = {
  /** The columns before those of monitors. */
  columns: readonly ShownColumn[]
  /** The columns before each monitor's result. Their names start with its slug. */
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
  /** The name of the sheet with the rows. */
  rowsName: 'Calls' | 'Conversations'
  monitors: ExportedMonitor[]
  /**
   * The version of a monitor that is shown: the one that was current when generation started, or the one with the
   * result.
   */
  versions: 'current' | 'pinned'
  reasoning: boolean
  /** The configuration in words. These are the lines of the About sheet. */
  about: { label: string; value: string }[]
}

/** The columns of a result, in this order and named after the slug. `reasoning` is only included on request. */
export const resultColumns = ['result', 'score', 'version', 'evaluated_at', 'reasoning'] as const

const maxSlugLength = 60

const columnsOf = (slug: string, reasoning = true): string[] =>
  resultColumns.filter((column) => reasoning || column !== 'reasoning').map((column) => `${slug}_${column}`)

/** Returns the name. Adds a number if another column has the same name. */
export const freeName = (name: string, taken: Set<string>): string => {
  let free = name
  for (let number = 2; taken.has(free); number++) free = `${name}_${number}`
  taken.add(free)
  return free
}

type Named = Pick<Layout, 'columns' | 'monitorColumns' | 'monitors' | 'reasoning'>

/** Returns the names of all columns in order. */
export const columnNames = ({ columns, monitorColumns, monitors, reasoning }: Named): string[] => [
  ...columns.map(({ name }) => name),
  ...monitors.flatMap(({ slug }) => [
    ...monitorColumns.map(({ name }) => `${slug}_${name}`),
    ...columnsOf(slug, reasoning),
  ]),
]

/** Returns the types of a call's cells in the order of a slice. */
export const tupleTypes = ({ columns, monitorColumns, monitors }: Layout): CallType[] =>
  [...columns, ...monitors.flatMap(() => monitorColumns)].map(({ type }) => type)

/** Converts a name to a slug. Letters of all scripts stay, but Latin letters lose their accents. */
const slugOf = (name: string): string => {
  const plain = name.normalize('NFKD').replace(/(?<=\p{Script=Latin}\p{M}*)\p{M}/gu, '')
  const letters = plain.normalize('NFKC').toLowerCase()
  const words = letters.replace(/[^\p{L}\p{N}\p{M}]+/gu, '_').replace(/^_/, '')
  return cut(words, maxSlugLength).replace(/_$/, '') || 'monitor'
}

/** Shortens text without splitting a character. */
const cut = (text: string, length: number): string => [...text].slice(0, length).join('')

const columnsOfCalls = new Set<string>(callColumns.map(({ name }) => name))

/**
 * Returns whether a slug causes no conflicts between column names. For example, a monitor named `agent` would have a
 * column `agent_version`, which calls already have.
 */
const isFree = (slug: string): boolean => !columnsOf(slug).some((column) => columnsOfCalls.has(column))

/**
 * Returns distinct slugs of lowercase letters and digits. The first monitor with a name gets the plain slug. The others
 * get a number that no other name uses.
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
