import { callColumns } from './slice.ts'

/** What an export shows, and in which columns. */

export type ExportedMonitor = {
  id: string
  name: string
  /** Of the columns' names; unique within the export. */
  slug: string
  /** Current when generation started. */
  currentVersion: number
}

export type Layout = {
  monitors: ExportedMonitor[]
  reasoning: boolean
  /** The configuration in words: the lines of the About sheet. */
  about: { label: string; value: string }[]
}

/** What follows the slug, in this order; `reasoning` only when asked for. */
export const monitorColumns = ['result', 'score', 'version', 'evaluated_at', 'reasoning'] as const

const maxSlugLength = 60

const columnsOf = (slug: string, reasoning = true): string[] =>
  monitorColumns.filter((column) => reasoning || column !== 'reasoning').map((column) => `${slug}_${column}`)

/** The names of all columns, in their order. */
export const columnNames = ({ monitors, reasoning }: Layout): string[] => [
  ...callColumns.map(({ name }) => name),
  ...monitors.flatMap(({ slug }) => columnsOf(slug, reasoning)),
]

const slugOf = (name: string): string => {
  const letters = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  const words = letters.replace(/[^a-z0-9]+/g, '_').replace(/^_/, '')
  return words.slice(0, maxSlugLength).replace(/_$/, '') || 'monitor'
}

const columnsOfCalls = new Set<string>(callColumns.map(({ name }) => name))

/** An `agent` would have an `agent_version`, which the call has. */
const isFree = (slug: string): boolean => !columnsOf(slug).some((column) => columnsOfCalls.has(column))

/**
 * Lower case ASCII of each name, so that no two are alike. The first of a name keeps it; others are numbered past the
 * names that exist by themselves.
 */
export const slugsOf = (names: string[]): string[] => {
  const plain = names.map(slugOf)
  const taken = new Set(plain.filter(isFree))
  return plain.map((slug, index) => {
    if (isFree(slug) && plain.indexOf(slug) === index) return slug
    for (let number = 2; ; number++) {
      const suffix = `_${number}`
      const numbered = slug.slice(0, maxSlugLength - suffix.length) + suffix
      if (taken.has(numbered)) continue
      taken.add(numbered)
      return numbered
    }
  })
}
