// Which database a store of files belongs to: what that one does not name is litter, and for another one it is a treasure.

import type { BlobStore } from './store.ts'

/** Under an organization that there is not. */
const place = '00000000-0000-0000-0000-000000000000/owner/'

const markOf = (instanceId: string) => place + instanceId

const listOwners = async (store: BlobStore): Promise<string[]> => {
  const owners: string[] = []
  for await (const { key } of store.list(place)) owners.push(key)
  return owners
}

/** Whether this database has left its mark in the store. */
export const hasClaimed = async (store: BlobStore, instanceId: string): Promise<boolean> =>
  (await store.head(markOf(instanceId))) !== undefined

/** The keys by which other databases have claimed the store. */
export const listOtherOwners = async (store: BlobStore, instanceId: string): Promise<string[]> =>
  (await listOwners(store)).filter((key) => key !== markOf(instanceId))

/** The same; with none, it is claimed for this one. Of two that claim it at once at least one sees the other. */
export const claimStore = async (store: BlobStore, instanceId: string): Promise<string[]> => {
  const owners = await listOwners(store)
  // What is claimed already may be all that the credentials may read.
  if (owners.length > 0) return owners.filter((key) => key !== markOf(instanceId))
  await store.put(markOf(instanceId), [], { contentType: 'application/octet-stream' })
  return listOtherOwners(store, instanceId)
}
