import { useQuery } from '@tanstack/react-query'
import { MoreHorizontal } from 'lucide-react'
import { useState } from 'react'
import { answer, api } from '../api/client.ts'
import { queryClient } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'
import { useMay } from '../api/session.ts'
import { bucketsOptions } from '../buckets/queries.ts'
import { announce } from '../ui/announce.tsx'
import { IconButton } from '../ui/button.tsx'
import { copyText } from '../ui/copy.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { lazy } from '../ui/lazy.tsx'
import { Menu } from '../ui/menu.tsx'

const PickOne = lazy(async () => (await import('./pick-one.tsx')).PickOne)

const PutInBucket = ({ id, onClose }: { id: string; onClose: () => void }) => {
  const { data, error } = useQuery(bucketsOptions)
  const [bucket, setBucket] = useState<string | null>(null)
  const options = (data ?? [])
    .filter(({ type }) => type !== 'sampled')
    .map((found) => ({ value: found.id, label: found.name }))
  const send = async (bucketId: string) => {
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
    announce(outcomes[0]?.status === 'unchanged' ? 'Already in that bucket' : 'Added to bucket')
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

/** Actions on a conversation. */
export const Actions = ({
  conversation: { id, externalId },
  onErased,
}: {
  conversation: Schemas['Conversation']
  onErased: () => void
}) => {
  const [open, setOpen] = useState<'bucket' | 'erase'>()
  const mayWrite = useMay('member')
  const close = () => setOpen(undefined)
  const copy = (text: string, said: string) => void copyText(text).then(() => announce(said))
  return (
    <>
      <Menu
        trigger={<IconButton label="More actions" icon={<MoreHorizontal />} />}
        entries={[
          { label: 'Copy ID', onSelect: () => copy(id, 'ID copied') },
          {
            label: 'Copy link to this moment',
            onSelect: () => copy(location.href, 'Link copied'),
          },
          ...(mayWrite
            ? [
                { label: 'Add to bucket…', onSelect: () => setOpen('bucket') },
                { label: 'Erase conversation…', onSelect: () => setOpen('erase'), danger: true },
              ]
            : []),
        ]}
      />
      {open === 'bucket' && <PutInBucket id={id} onClose={close} />}
      <Confirm
        title="Erase this conversation?"
        action="Erase conversation"
        typed="erase"
        open={open === 'erase'}
        onClose={close}
        run={async () => {
          await api.DELETE('/v1/conversations/{id}', { params: { path: { id } } })
          onErased()
          queryClient.removeQueries({ queryKey: ['conversations', id] })
          await queryClient.invalidateQueries({ queryKey: ['conversations', 'search'] })
          announce('Conversation erased')
        }}
      >
        <p>
          This permanently deletes its transcript, recording, results, metrics, and reviews, and expires exports that
          contain it. Earshot ignores data you send for {externalId ?? 'it'} later.
        </p>
      </Confirm>
    </>
  )
}
