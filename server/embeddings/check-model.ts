import { readModelName } from '../model-providers/model-name.ts'
import { embeds } from '../model-providers/models.ts'
import { getProvider, lockProviderShared } from '../model-providers/queries.ts'
import type { CheckEmbeddingModel } from '../organizations/deps.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { ApiError, invalid } from '../platform/errors.ts'
import { isEmbeddingWith } from './queries.ts'

const path = 'embeddingModel'

/** Locks the provider of a model. Throws if the provider does not exist or can't embed texts. */
export const checkEmbeddingModel: CheckEmbeddingModel = async (trx, org, model) => {
  const { providerId = '' } = readModelName(model)
  if (!(await lockProviderShared(trx, org, providerId))) {
    throw invalid(path, 'names a model provider that does not exist')
  }
  const { kind, name } = await getProvider(trx, org, providerId)
  if (embeds(kind)) return
  throw invalid(path, `must name an OpenAI-compatible or Azure OpenAI provider; “${name}” cannot embed texts`)
}

/** Throws if conversations are embedded with the model provider, because deleting the provider would stop that. */
export const refuseWhileEmbedding = async (
  _deps: Deps,
  trx: Db,
  org: OrgId,
  { providerId, name }: { providerId: string; name: string },
): Promise<void> => {
  if (!(await isEmbeddingWith(trx, org, providerId))) return
  throw new ApiError('conflict', `“${name}” embeds conversations. Choose another model for embeddings first.`)
}
