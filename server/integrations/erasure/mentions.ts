import Type from 'typebox'
import { tombstoneHash } from '../../conversations/erasure/tombstone.ts'
import type { OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { defineJob, OrganizationId } from '../../platform/jobs/define-job.ts'
import type { Secrets } from '../../platform/secrets/secrets.ts'
import { openPayload } from '../payload.ts'
import { deleteDeliveriesById, listUnassignedDeliveries } from './queries.ts'

const longestId = 255
/** The page is small, because payloads are decrypted one by one and can be large. */
const pageSize = 50

/** Returns all possible IDs in a payload: every string and number in JSON, or every word in other text. */
const candidatesOf = (payload: string): Set<string> => {
  const candidates = new Set<string>()
  const add = (text: string) => {
    if (text.length > 0 && text.length <= longestId) candidates.add(text)
  }
  try {
    JSON.parse(payload, (_name, value: unknown) => {
      if (typeof value === 'string' || typeof value === 'number') add(String(value))
    })
  } catch {
    for (const [word] of payload.matchAll(/[^\s"'&=,;<>{}[\]()\\]+/g)) add(word)
    for (const value of new URLSearchParams(payload).values()) add(value)
  }
  return candidates
}

/** Returns whether a payload contains one of these external IDs. Only hashes of the IDs are known. */
const mentions = (org: string, payload: string, hashes: ReadonlySet<string>): boolean =>
  candidatesOf(payload)
    .values()
    .some((candidate) => hashes.has(tombstoneHash(org, candidate)))

/**
 * Decrypts a payload. Returns an empty string if the service's key has changed, because then nobody can read the
 * payload.
 */
const open = async (
  secrets: Secrets,
  org: OrgId,
  { id, payload }: { id: string; payload: string },
): Promise<string> => {
  try {
    return (await openPayload(secrets, org, id, payload)).toString('utf8')
  } catch {
    return ''
  }
}

/**
 * Deletes deliveries that contain an erased conversation but do not belong to one, because they were unreadable or
 * arrived before it. The job only contains hashes, because jobs are stored for a while after they complete.
 */
export const eraseMentions = defineJob({
  name: 'conversation.erase-mentions',
  payload: Type.Object({
    organizationId: OrganizationId,
    hashes: Type.Array(Type.String()),
  }),
  timeoutSeconds: 60 * 60,
  concurrency: 2,
  run: async ({ db, secrets }: Deps, { organizationId: org, hashes }, attempt) => {
    const erased = new Set(hashes)
    for (let after: string | undefined; ; ) {
      attempt.signal.throwIfAborted()
      const page = await listUnassignedDeliveries(db, org, pageSize, after)
      after = page.at(-1)?.id
      if (after === undefined) return
      const ids: string[] = []
      for (const delivery of page) {
        if (mentions(org, await open(secrets, org, delivery), erased)) ids.push(delivery.id)
      }
      if (ids.length > 0) await attempt.transaction((trx) => deleteDeliveriesById(trx, org, ids))
    }
  },
})
