import type { Schemas } from '../api/schema.d.ts'

type Config = Partial<Schemas['MonitorExportConfig']>

/** The form's initial configuration: from another export or from a list. */
export type ExportSearch = { config?: Config }

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

export const readExportSearch = ({ config }: Record<string, unknown>): ExportSearch => {
  if (typeof config !== 'object' || config === null) return {}
  const shown = Object.entries(config).filter(([name, value]) => (fits[name] ?? isText)(value))
  return { config: Object.fromEntries(shown) as Config }
}
