// The query parameters of these pages.

import type { Schemas } from '../api/schema.d.ts'
import { readText } from '../lib/search.ts'

export type Filter = Schemas['Filter']

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The fields with several values. They must be lists, or the form can't show them. */
const lists = ['agentIds', 'agentVersionIds', 'agentGroupIds', 'companyIds', 'channels', 'directions', 'statuses']
const listsOfConditions = ['monitors', 'metadata']

const isShowable = ([name, value]: [string, unknown]): boolean => {
  if (lists.includes(name)) return Array.isArray(value) && value.every((item) => typeof item === 'string')
  if (listsOfConditions.includes(name)) return Array.isArray(value) && value.every(isObject)
  if (name === 'period') return isObject(value)
  return typeof value === 'string' || typeof value === 'number'
}

/** Returns the fields that the form can show. The API validates the values. */
const readFilter = (value: unknown): { filter?: Filter } => {
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

export type ConversationsSearch = ConversationSearch & { filter?: Filter; view?: string; open?: string }

export const readConversationsSearch = (search: Record<string, unknown>): ConversationsSearch => ({
  ...readFilter(search.filter),
  ...readText('view', search.view),
  ...readText('open', search.open),
  ...readConversationSearch(search),
})
