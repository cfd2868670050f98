// Checks whether the secret key is unchanged, using a string that was encrypted at the first start.
import type { Db } from '../db/database.ts'
import { keepKeyCheck, readKeyCheck, replaceKeyCheck } from '../db/instance.ts'
import type { Secrets } from './secrets.ts'

const context = 'instance/key-check'
const text = 'earshot'

export type SealedText = { sealed: string; context: string }

const opens = (secrets: Secrets, text: SealedText): boolean => {
  try {
    secrets.open(text.sealed, text.context)
    return true
  } catch {
    return false
  }
}

const refuse = (): never => {
  throw new Error(
    'The secret key differs from the one used with this database before, so it cannot decrypt the stored secrets. Restore secret.key, or set EARSHOT_SECRET_KEY to the former key. If that key is lost, start once with `serve --new-secret-key`, and enter the secrets of integrations, webhooks, and buckets again.',
  )
}

type Keyed = { db: Db; secrets: Secrets }

type Parts = Keyed & {
  /** Lists the newest values that were encrypted for other purposes. */
  listStored: (db: Db) => Promise<SealedText[]>
}

/**
 * Throws if the key can't decrypt the text from the first start. An older database has no such text, so its stored
 * secrets are used instead. Decrypting one of them is sufficient, because others may remain from a lost key.
 */
export const checkSecretKey = async ({ db, secrets, listStored }: Parts): Promise<void> => {
  const sealed = await readKeyCheck(db)
  const known = sealed === null ? await listStored(db) : [{ sealed, context }]
  if (known.length > 0 && !known.some((each) => opens(secrets, each))) refuse()
}

/** Checks the key. If it is the first one, stores a string for later checks. */
export const claimSecretKey = async (parts: Parts): Promise<void> => {
  await checkSecretKey(parts)
  const { db, secrets } = parts
  // Another process may have been faster and may use another key.
  if (!opens(secrets, { sealed: await keepKeyCheck(db, secrets.seal(text, context)), context })) refuse()
}

/** Accepts the current key from now on. Secrets that were encrypted with another key stay unreadable. */
export const acceptSecretKey = ({ db, secrets }: Keyed): Promise<void> =>
  replaceKeyCheck(db, secrets.seal(text, context))
