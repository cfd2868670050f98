import { notApplicable, other } from '../filters/category.ts'
import type { JudgeDefinition } from './judges/definition.ts'
import { categoryKeys } from './judges/keys.ts'

type Monitor = { kind: string; definition: Record<string, unknown> }

const outputOf = ({ kind, definition }: Monitor) => {
  if (kind !== 'judge') return undefined
  // Definitions were validated for their kind when they were stored.
  const { output } = definition as JudgeDefinition
  return output.type === 'category' ? output : undefined
}

/**
 * Returns the categories in a monitor's definition. The categories of rules and external monitors are only in results.
 */
export const definedCategories = (monitor: Monitor): string[] => {
  const output = outputOf(monitor)
  return output ? categoryKeys(output) : []
}

const reserved: [string, string][] = [
  [other, 'No category fits'],
  [notApplicable, 'Not applicable'],
]

/** Returns the labels of a monitor's categories. */
export const categoryLabels = (monitor: Monitor): Map<string, string> =>
  new Map([
    ...reserved,
    ...(outputOf(monitor)?.categories ?? []).map(({ key, label }): [string, string] => [key, label]),
  ])

/** Returns whether a rule's map has a key. Keys are literals. */
const hasKey = (map: unknown, key: string): boolean =>
  typeof map === 'string' && new RegExp(`['"]${key}['"]\\s*:`).test(map)

/** Returns an error message if a monitor can't have a category. The categories of external monitors are unknown. */
export const faultOfCategory = (monitor: Monitor, category: string): string | undefined => {
  const { kind, definition } = monitor
  if (kind === 'external') return undefined
  const isKnown =
    kind === 'rule' ? hasKey(definition.categories, category) : definedCategories(monitor).includes(category)
  return isKnown ? undefined : 'must be a category of this monitor'
}

type FieldType = 'number' | 'boolean' | 'unknown'

/** Returns whether a monitor's field contains numbers or `true` and `false`, or the reason why it can't be measured. */
export const readFieldType = (
  { kind, definition }: Monitor,
  field: string,
): { type: FieldType } | { fault: string } => {
  const unknown = { fault: 'must be a field of this monitor' }
  if (kind === 'external') return { type: 'unknown' }
  if (kind === 'rule') return hasKey(definition.fields, field) ? { type: 'unknown' } : unknown
  if (kind !== 'judge') return unknown
  const { output } = definition as JudgeDefinition
  const found = output.type === 'extract' ? output.fields.find(({ key }) => key === field) : undefined
  if (!found) return unknown
  const { type } = found
  return type === 'number' || type === 'boolean'
    ? { type }
    : { fault: 'must be a field with numbers, or true and false' }
}
