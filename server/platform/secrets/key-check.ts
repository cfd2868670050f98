// A text that was sealed at the first start tells whether the secret key is still the same.
import type { Db } from '../db/database.ts'
import { keepKeyCheck, readKeyCheck, replaceKeyCheck } from '../db/instance.ts'
import type { Secrets } from './secrets.ts'

const context = 'instance/key-check'
const text = 'earshot'

const opens = (secrets: Secrets, sealed: string): boolean => {
  try {
    return secrets.open(sealed, context) === text
  } catch {
    return false
  }
}

const refuse = (): never => {
  throw new Error(
    'The secret key is not the one that this database was first started with, so it opens none of the stored secrets. Restore secret.key, or set EARSHOT_SECRET_KEY to the former key. If that key is lost, start once with `serve --new-secret-key`, and enter the secrets of integrations, webhooks and buckets again.',
  )
}

type Parts = { db: Db; secrets: Secrets }

/** Refuses a key that does not open what was sealed at the first start; at that start seals it. */
export const claimSecretKey = async ({ db, secrets }: Parts): Promise<void> => {
  if (!opens(secrets, await keepKeyCheck(db, secrets.seal(text, context)))) refuse()
}

export const checkSecretKey = async ({ db, secrets }: Parts): Promise<void> => {
  const sealed = await readKeyCheck(db)
  if (sealed !== null && !opens(secrets, sealed)) refuse()
}

/** Accepts the present key from now on. What was sealed under another stays closed. */
export const acceptSecretKey = ({ db, secrets }: Parts): Promise<void> =>
  replaceKeyCheck(db, secrets.seal(text, context))
