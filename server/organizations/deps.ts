import type { Static } from 'typebox'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import type { CreatedApiKey } from '../platform/identity/schema.ts'

type Admitted = { apiKey: Static<typeof CreatedApiKey>; invitationUrl: string }

type AdmitOwner = (
  deps: Pick<Deps, 'clock' | 'baseUrl'>,
  trx: Db,
  org: OrgId,
  owner: { email: string; name: string },
) => Promise<Admitted>

/**
 * Creating an organization also adds its owner. Members and keys are on higher floors, so the function is passed in.
 */
export type OrganizationDeps = Deps & { admitOwner: AdmitOwner }
