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
import { late } from '../ui/late.tsx'
import { Menu } from '../ui/menu.tsx'

const ToOne = late(async () => (await import('./to-one.tsx')).ToOne)

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
    announce(outcomes[0]?.status === 'unchanged' ? 'It is in that bucket already' : 'It is in the bucket')
  }
  return (
    <ToOne
      title="Put in a bucket"
      label="Bucket"
      hint="What is put in waits there for review. Sampled buckets take nothing by hand."
      action="Put in"
      none="There is no bucket that takes conversations by hand; make one under Buckets."
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

/** What can be done with a conversation. */
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
        trigger={<IconButton label="More about this conversation" icon={<MoreHorizontal />} />}
        entries={[
          { label: 'Copy the id', onSelect: () => copy(id, 'The id is copied') },
          {
            label: 'Copy a link to this place',
            onSelect: () => copy(location.href, 'The link is copied'),
          },
          ...(mayWrite
            ? [
                { label: 'Put in a bucket…', onSelect: () => setOpen('bucket') },
                { label: 'Erase…', onSelect: () => setOpen('erase'), danger: true },
              ]
            : []),
        ]}
      />
      {open === 'bucket' && <PutInBucket id={id} onClose={close} />}
      <Confirm
        title="Erase this conversation?"
        action="Erase the conversation"
        typed="erase"
        open={open === 'erase'}
        onClose={close}
        run={async () => {
          await api.DELETE('/v1/conversations/{id}', { params: { path: { id } } })
          onErased()
          queryClient.removeQueries({ queryKey: ['conversations', id] })
          await queryClient.invalidateQueries({ queryKey: ['conversations', 'search'] })
          announce('The conversation is erased')
        }}
      >
        <p>
          Its transcript, recording, results, metrics and reviews go, and exports that hold it expire. Nothing brings
          them back, and what is sent of {externalId ?? 'it'} later is dropped.
        </p>
      </Confirm>
    </>
  )
}
