import { readModelName } from '../model-providers/model-name.ts'
import { transcribes } from '../model-providers/models.ts'
import { getProvider, lockProviderShared } from '../model-providers/queries.ts'
import type { CheckTranscriptionModel } from '../organizations/deps.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { ApiError, invalid } from '../platform/errors.ts'
import { listUses } from './queries.ts'

const path = 'transcriptionModel'

/** Locks the provider of a model. Throws if the provider does not exist or can't transcribe recordings. */
export const checkTranscriptionModel: CheckTranscriptionModel = async (trx, org, model) => {
  const { providerId = '' } = readModelName(model)
  if (!(await lockProviderShared(trx, org, providerId))) {
    throw invalid(path, 'names a model provider that does not exist')
  }
  const { kind, name } = await getProvider(trx, org, providerId)
  if (transcribes(kind)) return
  throw invalid(path, `must name an OpenAI-compatible or Azure OpenAI provider; “${name}” cannot transcribe recordings`)
}

/**
 * Throws if recordings are transcribed with the model provider, because deleting the provider would stop transcription.
 */
export const refuseWhileTranscribing = async (
  _deps: Deps,
  trx: Db,
  org: OrgId,
  { providerId, name }: { providerId: string; name: string },
): Promise<void> => {
  const { organization, agents } = await listUses(trx, org, providerId)
  const users = [...(organization ? ['the organization'] : []), ...agents.map((agent) => `the agent “${agent}”`)]
  if (users.length === 0) return
  throw new ApiError(
    'conflict',
    `“${name}” transcribes the recordings of ${users.join(', ')}. Choose another model for transcription first.`,
  )
}
