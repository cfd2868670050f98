import { useNavigate } from '@tanstack/react-router'
import { MoreHorizontal } from 'lucide-react'
import { useState } from 'react'
import { api } from '../api/client.ts'
import { queryClient } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'
import { useMay } from '../api/session.ts'
import { announce } from '../ui/announce.tsx'
import { IconButton } from '../ui/button.tsx'
import { copyText } from '../ui/copy.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { lazy } from '../ui/lazy.tsx'
import { Menu } from '../ui/menu.tsx'
import { likeThis } from './search.ts'

const PutInBucket = lazy(async () => (await import('./put-in-bucket.tsx')).PutInBucket)

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
  const navigate = useNavigate()
  const close = () => setOpen(undefined)
  const copy = (text: string, said: string) => void copyText(text).then(() => announce(said))
  return (
    <>
      <Menu
        trigger={<IconButton label="More actions" icon={<MoreHorizontal />} />}
        entries={[
          {
            label: 'More like this',
            onSelect: () => void navigate({ to: '/conversations', search: likeThis({ conversationId: id }) }),
          },
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
          contain it. Later data for {externalId ?? 'this conversation'} will be ignored.
        </p>
      </Confirm>
    </>
  )
}
