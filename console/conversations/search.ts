// Reads the query parameters of these pages.

import type { Schemas } from '../api/schema.d.ts'
import { readText } from '../lib/search.ts'

export type Filter = Schemas['Filter']

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The fields with several values. They must be lists, because the form can't show anything else. */
const lists = [
  'agentIds',
  'agentVersionIds',
  'agentGroupIds',
  'companyIds',
  'channels',
  'directions',
  'statuses',
  'conversationIds',
  'findingIds',
  'tags',
  'topicIds',
]

/** The properties that each condition in these fields must have as text. */
const conditions: Record<string, string[]> = {
  monitors: ['id'],
  metadata: ['key', 'op'],
  metrics: ['key', 'op'],
  signals: ['name', 'op'],
  sound: ['name', 'op'],
  fields: ['monitorId', 'field', 'op'],
}

const isText = (value: unknown): boolean => typeof value === 'string'

const isListOf = (value: unknown, isItem: (item: unknown) => boolean): value is unknown[] =>
  Array.isArray(value) && value.every(isItem)

const hasTexts = (value: unknown, names: string[]): value is Record<string, unknown> =>
  isObject(value) && names.every((name) => isText(value[name]))

const isShowableFilter = (value: unknown): boolean => isObject(value) && Object.entries(value).every(isShowable)

const isShowable = ([name, value]: [string, unknown]): boolean => {
  const texts = conditions[name]
  if (texts) return isListOf(value, (item) => hasTexts(item, texts) && isListOf(item.values ?? [], isText))
  if (lists.includes(name)) return isListOf(value, isText)
  switch (name) {
    case 'anyOf':
      return isListOf(value, isShowableFilter)
    case 'exclude':
      return isShowableFilter(value)
    case 'period':
      return isObject(value) && [value.last, value.current, value.previous].some(isText)
    case 'similarTo':
      return isObject(value) && [value.text, value.conversationId].some(isText)
    case 'categories':
      return hasTexts(value, ['monitorId']) && isListOf(value.any, isText)
    default:
      return isText(value) || typeof value === 'number'
  }
}

/** Returns the fields that the form can show. The API validates the values. */
export const readFilter = (value: unknown): { filter?: Filter } => {
  const shown = isObject(value) ? Object.entries(value).filter(isShowable) : []
  return shown.length > 0 ? { filter: Object.fromEntries(shown) as Filter } : {}
}

const readNumber = <const Name extends string>(name: Name, value: unknown): { [name in Name]?: number } =>
  (typeof value === 'number' && value >= 0 ? { [name]: value } : {}) as { [name in Name]?: number }

/** The playback position in seconds, and the marked turn. */
export type ConversationSearch = { at?: number; turn?: number }

export const readConversationSearch = (search: Record<string, unknown>): ConversationSearch => ({
  ...readNumber('at', search.at),
  ...readNumber('turn', search.turn),
})

type Columns = NonNullable<Schemas['SavedView']['columns']>
type Sort = { by: string; direction: 'asc' | 'desc' }

const isColumn = (value: unknown): boolean =>
  isObject(value) && typeof value.key === 'string' && ['number', 'undefined'].includes(typeof value.width)

export const readColumns = (value: unknown): { columns?: Columns } => {
  const columns = Array.isArray(value) ? value.filter(isColumn) : []
  return columns.length > 0 ? { columns } : {}
}

export const readSort = (value: unknown): { sort?: Sort } => {
  if (!isObject(value) || typeof value.by !== 'string') return {}
  return { sort: { by: value.by, direction: value.direction === 'asc' ? 'asc' : 'desc' } }
}

export const mostSimilarFirst: Sort = { by: 'similarity', direction: 'desc' }

/** Returns the address of the conversations like this, most similar first. */
export const likeThis = (similarTo: NonNullable<Filter['similarTo']>) => ({
  filter: { similarTo },
  sort: mostSimilarFirst,
})

/** The state of a saved view. If the columns or the sort are missing, the defaults apply. */
export type ListState = { filter?: Filter; columns?: Columns; sort?: Sort }

export type ConversationsSearch = ConversationSearch & ListState & { view?: string; open?: string }

export const readConversationsSearch = (search: Record<string, unknown>): ConversationsSearch => ({
  ...readFilter(search.filter),
  ...readColumns(search.columns),
  ...readSort(search.sort),
  ...readText('view', search.view),
  ...readText('open', search.open),
  ...readConversationSearch(search),
})
