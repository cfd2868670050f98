// Links the values in a chart to the underlying conversations.

import type { LinkProps } from '@tanstack/react-router'
import type { Filter } from '../filters/filter.ts'
import type { Group, Query } from './queries.ts'
import { groupsOf } from './values.ts'

const lists: Record<string, keyof Filter> = {
  agent: 'agentIds',
  version: 'agentVersionIds',
  company: 'companyIds',
  topic: 'topicIds',
  channel: 'channels',
  direction: 'directions',
}

/** Returns the filter for one value of a dimension. Returns undefined if no filter can select it. */
const filterOfKey = (dimension: string, key: string | null): Filter | undefined => {
  if (dimension.startsWith('metadata:')) {
    const name = dimension.slice('metadata:'.length)
    const condition =
      key === null ? ({ key: name, op: 'is_not_set' } as const) : { key: name, op: 'eq' as const, value: key }
    return { metadata: [condition] }
  }
  if (dimension.startsWith('category:')) {
    return key === null ? undefined : { categories: { monitorId: dimension.slice('category:'.length), any: [key] } }
  }
  const field = lists[dimension]
  return field === undefined || key === null ? undefined : { [field]: [key] }
}

/** Joins two filters. Returns undefined if a filter can't express both. */
const joined = (filter: Filter, more: Filter | undefined): Filter | undefined => {
  if (!more || (filter.categories && more.categories)) return undefined
  return {
    ...filter,
    ...more,
    ...(filter.metadata && more.metadata && { metadata: [...filter.metadata, ...more.metadata] }),
  }
}

type Of = { query: Query; filter: Filter; group: Group; span?: { start: string; end: string } }

/**
 * Returns a link to the conversations behind a value. Returns undefined if no filter selects exactly these
 * conversations.
 */
export const conversationsOf = ({ query, filter, group, span }: Of): LinkProps | undefined => {
  if (group.isOther) return undefined
  const { measure } = query
  const parts = groupsOf(query).map((dimension, at) => filterOfKey(dimension, group.key[at] ?? null))
  if (measure.kind === 'category' && measure.category !== undefined) {
    parts.push(filterOfKey(`category:${measure.monitorId}`, measure.category))
  }
  let found: Filter | undefined = filter
  for (const part of parts) found &&= joined(found, part)
  if (!found) return undefined
  if (span) {
    const { period: _, ...others } = found
    found = { ...others, since: span.start, until: span.end }
  }
  if (measure.kind === 'rate') {
    found = { ...found, monitors: [...(found.monitors ?? []), { id: measure.monitorId, result: 'affected' }] }
  }
  if (measure.kind === 'field') {
    const { monitorId, field } = measure
    found = { ...found, fields: [...(found.fields ?? []), { monitorId, field, op: 'is_set' }] }
  }
  return { to: '/conversations', search: { filter: found } }
}
