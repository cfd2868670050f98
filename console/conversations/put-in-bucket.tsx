import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, api } from '../api/client.ts'
import { queryClient } from '../api/queries.ts'
import { bucketsOptions } from '../buckets/queries.ts'
import { plural } from '../lib/format.ts'
import { announce } from '../ui/announce.tsx'
import { lazy } from '../ui/lazy.tsx'

const PickOne = lazy(async () => (await import('./pick-one.tsx')).PickOne)

/** Adds conversations to a bucket. */
export const PutInBucket = ({ ids, onClose }: { ids: string[]; onClose: () => void }) => {
  const { data, error } = useQuery(bucketsOptions)
  const [bucket, setBucket] = useState<string | null>(null)
  const options = (data ?? [])
    .filter(({ type }) => type !== 'sampled')
    .map((found) => ({ value: found.id, label: found.name }))
  const send = async (bucketId: string) => {
    const { data: outcomes } = await answer(
      api.POST('/v1/buckets/{id}/conversations', {
        params: { path: { id: bucketId } },
        body: { conversationIds: ids },
      }),
    )
    await Promise.all([
      queryClient.invalidateQueries({ queryKey: ['buckets'] }),
      ...ids.map((id) => queryClient.invalidateQueries({ queryKey: ['conversations', id] })),
    ])
    const added = outcomes.filter(({ status }) => status !== 'unchanged').length
    announce(added === 0 ? 'Already in that bucket' : `${plural(added, 'conversation')} added to bucket`)
  }
  return (
    <PickOne
      title="Add to bucket"
      label="Bucket"
      hint="Reviewers get it from there. You can’t add conversations to sampled buckets."
      action="Add to bucket"
      none="No bucket accepts conversations by hand. Create one under Buckets."
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
