import { getOrganization } from '../organizations/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'

/**
 * Returns the reason why the organization's recordings may not be sent to models, or undefined if they may. In PHI
 * mode, an admin must allow it.
 */
export const whySoundStays = async (db: Db, org: OrgId): Promise<string | undefined> => {
  const { features, soundToModels } = await getOrganization(db, org)
  if (!features.phiMode || soundToModels) return undefined
  return 'In PHI mode, recordings are only sent to models if an admin allows it (soundToModels).'
}
