import { addConversations, requireByHand, takeOut } from '../../buckets/conversations/add-conversations.ts'
import { getBucket, lockBucketShared } from '../../buckets/queries.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { ApiError, invalid } from '../../platform/errors.ts'
import type { ActionOf } from '../schema.ts'
import { type ActionKind, listOutcomes, without } from './kind.ts'

const lock = (trx: Db, org: OrgId, id: string) =>
  lockBucketShared(trx, org, id).catch((error: unknown) => {
    if (error instanceof ApiError && error.kind === 'notFound')
      throw new ApiError('conflict', 'The bucket was deleted.')
    throw error
  })

export const addToBucket: ActionKind<ActionOf<'add_to_bucket'>> = {
  role: 'member',
  targets: ({ bucketId }) => [{ type: 'bucket', id: bucketId }],
  check: async (db, org, { bucketId }) => {
    const bucket = await getBucket(db, org, bucketId).catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error
      throw invalid('action.bucketId', 'must be a bucket of this organization')
    })
    requireByHand(bucket)
  },
  apply: async (_deps, trx, org, { ids, now, action }) => {
    const bucket = await lock(trx, org, action.bucketId)
    requireByHand(bucket)
    const { present, added } = await addConversations(trx, org, bucket, ids, now)
    return listOutcomes({ changed: added, unchanged: without(present, added) })
  },
  undo: async (_deps, trx, org, { ids, now, action }) => {
    const { id } = await lock(trx, org, action.bucketId)
    const removed = await takeOut(trx, org, id, ids, now)
    return listOutcomes({ changed: removed, unchanged: without(ids, removed) })
  },
}
