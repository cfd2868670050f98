import { loadNames } from '../api/names.ts'
import { newId } from '../lib/ids.ts'
import { exportable, startOfList } from './list-draft.ts'
import { createExport, type ListConfig } from './queries.ts'

type Entitlements = Parameters<typeof exportable>[1]

/** Returns the configuration that exports the contents of a list. */
export const exportableList = async (list: Partial<ListConfig>, entitlements: Entitlements): Promise<ListConfig> => {
  const monitors = entitlements.monitors ? await loadNames('monitors') : []
  return exportable(startOfList(list), entitlements, monitors)
}

/** Exports the contents of a list. */
export const exportList = async (
  list: Partial<ListConfig>,
  format: NonNullable<ListConfig['format']>,
  entitlements: Entitlements,
): Promise<void> => createExport(newId(), { ...(await exportableList(list, entitlements)), format })
