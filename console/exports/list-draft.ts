// Converts an export of conversations between form fields and the API's format.

import { defaultColumns } from '../conversations/default-columns.ts'
import { ownZone } from '../lib/zones.ts'
import type { Option } from '../ui/controls.tsx'
import type { ListConfig } from './queries.ts'

/** Returns the configuration with defaults for empty fields. */
export const startOfList = (list: Partial<ListConfig> = {}): ListConfig => ({
  ...list,
  filter: list.filter ?? {},
  columns: list.columns ?? defaultColumns,
  timezone: list.timezone ?? ownZone(),
})

type Entitlements = { monitors: boolean; metrics: boolean }

const isExportable = (key: string, entitlements: Entitlements, monitors: Option[]): boolean => {
  const [kind, ...rest] = key.split(':')
  if (kind === 'metric') return entitlements.metrics
  if (kind === 'affected' || kind === 'cost') return entitlements.monitors
  if (kind !== 'result' && kind !== 'score') return true
  return entitlements.monitors && monitors.some(({ value }) => value === rest.join(':'))
}

/**
 * Returns the list without columns that would be empty: those for deleted monitors, and those for which the entitlement
 * is missing.
 */
export const exportable = (list: ListConfig, entitlements: Entitlements, monitors: Option[]): ListConfig => ({
  ...list,
  columns: list.columns.filter(({ key }) => isExportable(key, entitlements, monitors)),
})
