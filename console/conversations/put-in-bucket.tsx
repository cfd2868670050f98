import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, api } from '../api/client.ts'
import { queryClient } from '../api/queries.ts'
import { bucketsOptions } from '../buckets/queries.ts'
import { announce } from '../ui/announce.tsx'
import { lazy } from '../ui/lazy.tsx'

const PickOne = lazy(async () => (await import('./pick-one.tsx')).PickOne)

/** Adds a conversation to a bucket, or starts to add the selected ones. */
export const PutInBucket = ({
  id,
  start,
  onClose,
}: { onClose: () => void } & (
  | { id: string; start?: never }
  | { id?: never; start: (bucketId: string) => Promise<void> }
)) => {
  const { data, error } = useQuery(bucketsOptions)
  const [bucket, setBucket] = useState<string | null>(null)
  const options = (data ?? [])
    .filter(({ type }) => type !== 'sampled')
    .map((found) => ({ value: found.id, label: found.name }))
  const send = async (bucketId: string) => {
    if (start) return start(bucketId)
    const { data: outcomes } = await answer(
      api.POST('/v1/buckets/{id}/conversations', {
        params: { path: { id: bucketId } },
        body: { conversationIds: [id] },
      }),
    )
    await Promise.all([
      queryClient.invalidateQueries({ queryKey: ['buckets'] }),
      queryClient.invalidateQueries({ queryKey: ['conversations', id] }),
    ])
    announce(outcomes[0]?.status === 'unchanged' ? 'Already in that bucket' : 'Conversation added to bucket')
  }
  return (
    <PickOne
      title="Add to bucket"
      label="Bucket"
      hint="You can’t add conversations to sampled buckets."
      action="Add to bucket"
      none="No bucket to add to. Create one under Buckets."
      options={options}
      error={error}
      send={send}
      onClose={onClose}
      value={bucket}
      onChange={setBucket}
      isLoaded={data !== undefined}
    />
  )
}
