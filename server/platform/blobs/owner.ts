// Records which database a file store belongs to. A database deletes files that it does not reference, which must not
// happen if another database uses them.

import type { BlobStore } from './store.ts'

/** No organization has this ID. */
const folder = '00000000-0000-0000-0000-000000000000/owner/'

const markOf = (instanceId: string) => folder + instanceId

const listOwners = async (store: BlobStore): Promise<string[]> => {
  const owners: string[] = []
  for await (const { key } of store.list(folder)) owners.push(key)
  return owners
}

/** Returns whether this database's marker is in the store. */
export const hasClaimed = async (store: BlobStore, instanceId: string): Promise<boolean> =>
  (await store.head(markOf(instanceId))) !== undefined

/** Returns the keys by which other databases have claimed the store. */
export const listOtherOwners = async (store: BlobStore, instanceId: string): Promise<string[]> =>
  (await listOwners(store)).filter((key) => key !== markOf(instanceId))

/**
 * Returns the keys by which other databases have claimed the store. If there are none, claims the store for this
 * database. If two databases claim it at once, at least one of them sees the other claim.
 */
export const claimStore = async (store: BlobStore, instanceId: string): Promise<string[]> => {
  const owners = await listOwners(store)
  // The credentials may allow reading an existing claim, but not writing one.
  if (owners.length > 0) return owners.filter((key) => key !== markOf(instanceId))
  await store.put(markOf(instanceId), [], { contentType: 'application/octet-stream' })
  return listOtherOwners(store, instanceId)
}
