// Converts a filter to a list of conditions that all match, conditions that must not match, and alternatives.

import type { Filter } from './filter.ts'
import { joinParts, type Part, splitPart } from './say-phrase.ts'

type Exclusion = NonNullable<Filter['exclude']>

export type Conditions = { all: Part[]; not: Exclusion[]; or: Part[] }

const isEmpty = (part: object): boolean => Object.keys(part).length === 0

const alternativesOf = (exclude: Exclusion | undefined): Exclusion[] => {
  if (!exclude) return []
  const { anyOf, ...own } = exclude
  return anyOf && isEmpty(own) ? anyOf : [exclude]
}

export const conditionsOf = ({ anyOf = [], exclude, ...own }: Filter): Conditions => ({
  all: splitPart(own),
  not: alternativesOf(exclude),
  or: anyOf,
})

/**
 * Returns whether another condition can be excluded. This is impossible next to an exclusion that has alternatives
 * itself.
 */
export const canExclude = ({ not }: Conditions): boolean => not.every((part) => !('anyOf' in part)) && not.length < 10

/** Returns the filter for these conditions. A single alternative becomes an ordinary condition. */
export const filterOf = ({ all, not, or }: Conditions): Filter => {
  const [only, ...more] = or
  const own = joinParts(only && more.length === 0 ? [...all, ...splitPart(only)] : all)
  return {
    ...own,
    ...(more.length > 0 && { anyOf: or }),
    ...(not[0] && { exclude: not.length === 1 ? not[0] : { anyOf: not as Part[] } }),
  }
}

export type Kind = keyof Conditions

export const without = (conditions: Conditions, kind: Kind, at: number): Conditions => ({
  ...conditions,
  [kind]: conditions[kind].toSpliced(at, 1),
})

/** Adds a condition. With the first alternative, the condition that was added last becomes an alternative, too. */
export const withCondition = (conditions: Conditions, kind: Kind, part: Part): Conditions => {
  if (kind === 'not') return canExclude(conditions) ? { ...conditions, not: [...conditions.not, part] } : conditions
  if (kind === 'all') return { ...conditions, all: [...conditions.all, part] }
  const last = conditions.all.at(-1)
  if (conditions.or.length > 0 || !last) return { ...conditions, or: [...conditions.or, part].slice(0, 10) }
  return { ...conditions, all: conditions.all.slice(0, -1), or: [last, part] }
}
