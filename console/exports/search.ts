import type { Schemas } from '../api/schema.d.ts'
import { readColumns, readFilter, readSort } from '../conversations/search.ts'

type Config = Partial<Schemas['MonitorExportConfig']>
type List = Partial<Schemas['ConversationExportConfig']>

/**
 * The form's initial configuration, for monitor results or conversations. It comes from another export or from a list.
 */
export type ExportSearch = { config?: Config; list?: List }

const isListOfObjects = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => typeof item === 'object' && item !== null)

const isZone = (value: unknown): boolean => {
  try {
    return typeof value === 'string' && Intl.DateTimeFormat('en', { timeZone: value }) !== undefined
  } catch {
    return false
  }
}

/** Checks the type of each value, because the form can't show any other. */
const fits: Record<string, (value: unknown) => boolean> = {
  monitors: isListOfObjects,
  metadata: isListOfObjects,
  timezone: isZone,
  reasoning: (value) => typeof value === 'boolean',
}

const isText = (value: unknown): boolean => typeof value === 'string'

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const readConfig = (config: Record<string, unknown>): Config =>
  Object.fromEntries(Object.entries(config).filter(([name, value]) => (fits[name] ?? isText)(value))) as Config

const listFields: Record<string, (value: unknown) => boolean> = {
  results: (value) => Array.isArray(value) && value.every(isText),
  reasoning: (value) => typeof value === 'boolean',
  transcripts: (value) => typeof value === 'boolean',
  regions: (value) => typeof value === 'boolean',
  timezone: isZone,
  format: isText,
  notificationEndpointId: isText,
}

const readList = (list: Record<string, unknown>): List => {
  const others = Object.entries(list).filter(([name, value]) => listFields[name]?.(value))
  return {
    ...readFilter(list.filter),
    ...readColumns(list.columns),
    ...readSort(list.sort),
    ...Object.fromEntries(others),
  }
}

export const readExportSearch = ({ config, list }: Record<string, unknown>): ExportSearch => {
  if (isObject(list)) return { list: readList(list) }
  return isObject(config) ? { config: readConfig(config) } : {}
}
