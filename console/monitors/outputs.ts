// Returns the categories and fields that monitors output in addition to their results.

import type { Option } from '../ui/controls.tsx'
import type { Monitor } from './queries.ts'

type Category = { key: string; label: string }

/** A monitor's field. The types of rules' fields are unknown. */
export type OutputField = { key: string; type?: string; options?: string[] }

/** The properties of the stored definition, which depend on the monitor's kind. */
type Stored = {
  categories?: string
  fields?: string
  output?: {
    type: string
    categories?: Category[]
    allowOther?: boolean
    allowNotApplicable?: boolean
    fields?: OutputField[]
  }
}

type Defined = Pick<Monitor, 'kind' | 'currentVersion'>

const storedOf = ({ currentVersion }: Defined): Stored => currentVersion.definition as Stored

/** Returns the keys of a map in a rule. */
const keysIn = (map = ''): string[] => [...map.matchAll(/['"]([a-z]\w{0,63})['"]\s*:/gi)].map(([, key = '']) => key)

const reservedLabels: Record<string, string> = { other: 'No category fits', not_applicable: 'Not applicable' }

const optionOf = (key: string): Option => ({ value: key, label: reservedLabels[key] ?? key })

/** Returns the categories that a monitor can return. The categories of external monitors are unknown. */
export const categoriesOf = (monitor: Defined): Option[] => {
  const { categories, output } = storedOf(monitor)
  if (monitor.kind === 'rule') return keysIn(categories).map(optionOf)
  if (output?.type !== 'category') return []
  return [
    ...(output.categories ?? []).map(({ key, label }) => ({ value: key, label })),
    ...(output.allowOther ? [optionOf('other')] : []),
    ...(output.allowNotApplicable ? [optionOf('not_applicable')] : []),
  ]
}

/** Returns the label of a category. */
export const categoryLabel = (monitor: Defined | undefined, key: string): string =>
  (monitor && categoriesOf(monitor).find(({ value }) => value === key)?.label) ?? optionOf(key).label

/** Returns a monitor's fields. The fields of external monitors are unknown. */
export const fieldsOf = (monitor: Defined): OutputField[] => {
  const { fields, output } = storedOf(monitor)
  if (monitor.kind === 'rule') return keysIn(fields).map((key) => ({ key }))
  if (output?.type !== 'extract') return []
  return (output.fields ?? []).map(({ key, type, options }) => ({
    key,
    ...(type !== undefined && { type }),
    ...(options && { options }),
  }))
}

/** Returns a monitor's fields that may be numbers. The fields of external monitors are unknown. */
export const measuredFieldsOf = (monitor: Defined): string[] =>
  fieldsOf(monitor).flatMap(({ key, type = 'number' }) => (['number', 'boolean'].includes(type) ? [key] : []))

export const mayNameCategories = (monitor: Defined): boolean =>
  monitor.kind === 'external' || categoriesOf(monitor).length > 0

export const mayHaveFields = (monitor: Defined): boolean =>
  monitor.kind === 'external' || measuredFieldsOf(monitor).length > 0

export const mayHave = (monitor: Defined, output: 'category' | 'field'): boolean =>
  output === 'category' ? mayNameCategories(monitor) : mayHaveFields(monitor)
