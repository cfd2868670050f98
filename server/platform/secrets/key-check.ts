// A text that was sealed at the first start shows whether the secret key is still the same.
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
  /** The newest texts that were sealed for other purposes. */
  listStored: (db: Db) => Promise<SealedText[]>
}

/**
 * Rejects a key that does not decrypt what was sealed at the first start. An older database without that text is judged
 * by its stored secrets: decrypting one is enough, because others may remain from a lost key.
 */
export const checkSecretKey = async ({ db, secrets, listStored }: Parts): Promise<void> => {
  const sealed = await readKeyCheck(db)
  const known = sealed === null ? await listStored(db) : [{ sealed, context }]
  if (known.length > 0 && !known.some((each) => opens(secrets, each))) refuse()
}

/** Checks the key, and stores the first one for later checks. */
export const claimSecretKey = async (parts: Parts): Promise<void> => {
  await checkSecretKey(parts)
  const { db, secrets } = parts
  // Another process may have been faster, with another key.
  if (!opens(secrets, { sealed: await keepKeyCheck(db, secrets.seal(text, context)), context })) refuse()
}

/** Accepts the current key from now on. Secrets sealed with another stay unreadable. */
export const acceptSecretKey = ({ db, secrets }: Keyed): Promise<void> =>
  replaceKeyCheck(db, secrets.seal(text, context))
