import type { Db, OrgId } from '../platform/db/database.ts'
import { builtIn, builtInModels, firstProviderModel } from './models.ts'
import { findModelName, findModelNumber, insertModel, retireModels } from './queries.ts'

/** Returns the number of a provider's model. Assigns one when the model is first used. */
export const numberOf = async (db: Db, org: OrgId, name: string): Promise<number> => {
  for (;;) {
    const number = await findModelNumber(db, org, name)
    if (number !== undefined) return number
    await insertModel(db, org, name, firstProviderModel)
  }
}

/**
 * The models that currently embed an organization's texts. Conversations store `number`, and their passages one of
 * `ofPassages`.
 */
export type CurrentModel = { name: string | null; number: number; ofPassages: number[] }

export const findCurrentModel = async (db: Db, org: OrgId): Promise<CurrentModel> => {
  const name = await findModelName(db, org)
  if (name === null) return { name, number: builtIn, ofPassages: Object.values(builtInModels) }
  const number = await numberOf(db, org, name)
  return { name, number, ofPassages: [number] }
}

/**
 * Gives a provider's models new numbers after its address has changed, because they may be different models. As a
 * result, all conversations are embedded again.
 */
export const renumberModels = async (
  _deps: unknown,
  trx: Db,
  org: OrgId,
  { providerId }: { providerId: string },
): Promise<void> => {
  await retireModels(trx, org, providerId)
}
