// Which database a store of files belongs to: what that one does not name is litter, and for another one it is a treasure.

import type { BlobStore } from './store.ts'

/** Under an organization that there is not. */
const place = '00000000-0000-0000-0000-000000000000/owner/'

const markOf = (instanceId: string) => place + instanceId

/** The keys by which other databases have claimed the store. */
export const listOtherOwners = async (store: BlobStore, instanceId: string): Promise<string[]> => {
  const others: string[] = []
  for await (const { key } of store.list(place)) if (key !== markOf(instanceId)) others.push(key)
  return others
}

/** The same; with none, it is claimed for this one. Of two that claim it at once at least one sees the other. */
export const claimStore = async (store: BlobStore, instanceId: string): Promise<string[]> => {
  const others = await listOtherOwners(store, instanceId)
  if (others.length > 0) return others
  await store.put(markOf(instanceId), [], { contentType: 'application/octet-stream' })
  return listOtherOwners(store, instanceId)
}
