import { getOrganization } from '../organizations/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'

const inPhiMode = 'In PHI mode, recordings are only sent to models if an admin allows it (soundToModels).'
const unredacted = 'Recordings are only sent to models before they are redacted if an admin allows it (soundToModels).'

/**
 * Returns the reason why the organization's recordings may not be sent to models, or undefined if they may. In PHI
 * mode, and for recordings that are not redacted yet, an admin must allow it.
 */
export const whySoundStays = async (db: Db, org: OrgId, isUnredacted = false): Promise<string | undefined> => {
  const { features, soundToModels } = await getOrganization(db, org)
  if (soundToModels) return undefined
  if (features.phiMode) return inPhiMode
  return isUnredacted ? unredacted : undefined
}
