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

/** Locks the provider of a model. Throws if it can't transcribe recordings. */
export type CheckTranscriptionModel = (trx: Db, org: OrgId, model: string) => Promise<void>

/** Locks the provider of a model. Throws if it can't embed texts. */
export type CheckEmbeddingModel = (trx: Db, org: OrgId, model: string) => Promise<void>

/**
 * Functions from higher floors. Creating an organization also adds its owner, and an organization's settings name
 * models. Members, keys, and model providers are on higher floors, so their functions are passed in.
 */
export type OrganizationDeps = Deps & {
  admitOwner: AdmitOwner
  checkTranscriptionModel: CheckTranscriptionModel
  checkEmbeddingModel: CheckEmbeddingModel
}
