import { createHash } from 'node:crypto'
import type { OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { BucketError, openBucket } from '../platform/outbound/bucket.ts'
import { findEndpoint } from '../webhooks/queries.ts'
import { sendEvent } from '../webhooks/send.ts'
import type { S3Bucket, StoredSchedule } from './queries.ts'
import { openSecret } from './secret.ts'

const testName = 'earshot-connection-test.txt'
const content = Buffer.from('Earshot wrote this file to test the connection and deletes it immediately.\n')
const sha256 = createHash('sha256').update(content).digest('base64')
const deadlineMs = 20_000

export type Tested = { ok: boolean; message: string }

/** Writes a small object to the schedule's destination and deletes it. */
export const testBucket = async (
  { outbound }: Pick<Deps, 'outbound'>,
  destination: S3Bucket,
  secretAccessKey: string,
): Promise<Tested> => {
  const bucket = await openBucket(outbound, { ...destination, secretAccessKey, quick: true })
  const key = destination.prefix === null ? testName : `${destination.prefix}/${testName}`
  try {
    const source = (async function* () {
      yield content
    })()
    await bucket.put(key, { stream: source, contentType: 'text/plain', sha256 }, AbortSignal.timeout(deadlineMs))
  } catch (error) {
    bucket.close()
    if (!(error instanceof BucketError)) throw error
    return { ok: false, message: error.message }
  }
  try {
    await bucket.delete(key)
    return { ok: true, message: 'A test object was written and deleted.' }
  } catch (error) {
    if (!(error instanceof BucketError)) throw error
    // Schedules only write files, so a key without other permissions is sufficient.
    return {
      ok: true,
      message: `A test object was written, but the key has no permission to delete it: ${key} is still in the bucket.`,
    }
  } finally {
    bucket.close()
  }
}

/** Tests a schedule's destination: a bucket immediately, and a webhook endpoint with an event. */
export const testDestination = async (
  deps: Deps,
  org: OrgId,
  { id, destination, secret }: StoredSchedule,
): Promise<Tested> => {
  const { db, secrets } = deps
  if (destination.type === 's3') return testBucket(deps, destination, openSecret(secrets, org, id, secret ?? ''))
  const endpoint = await findEndpoint(db, org, destination.webhookEndpointId)
  if (!endpoint) return { ok: false, message: 'The webhook endpoint was deleted.' }
  if (endpoint.status !== 'active') return { ok: false, message: `The webhook endpoint is ${endpoint.status}.` }
  const event = { type: 'webhook.test', data: { endpointId: endpoint.id, name: endpoint.name } } as const
  await db.transaction().execute((trx) => sendEvent(deps, trx, org, endpoint.id, event))
  return { ok: true, message: 'A webhook.test event was queued. See the endpoint’s deliveries for the result.' }
}
