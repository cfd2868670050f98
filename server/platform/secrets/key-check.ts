// A text that was sealed at the first start tells whether the secret key is still the same.
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
 * Refuses a key that does not open what was sealed at the first start. A database from before that text existed is judged
 * by the secrets stored in it: one that opens is enough, since older ones may be left from a key that was lost.
 */
export const checkSecretKey = async ({ db, secrets, listStored }: Parts): Promise<void> => {
  const sealed = await readKeyCheck(db)
  const known = sealed === null ? await listStored(db) : [{ sealed, context }]
  if (known.length > 0 && !known.some((each) => opens(secrets, each))) refuse()
}

/** Checks the key, and keeps it as the one to check later starts by if it is the first. */
export const claimSecretKey = async (parts: Parts): Promise<void> => {
  await checkSecretKey(parts)
  const { db, secrets } = parts
  // Another process may have been faster, with another key.
  if (!opens(secrets, { sealed: await keepKeyCheck(db, secrets.seal(text, context)), context })) refuse()
}

/** Accepts the present key from now on. What was sealed under another stays closed. */
export const acceptSecretKey = ({ db, secrets }: Keyed): Promise<void> =>
  replaceKeyCheck(db, secrets.seal(text, context))
