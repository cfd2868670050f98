import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Ellipsis } from 'lucide-react'
import { useState } from 'react'
import { answer, api } from '../api/client.ts'
import { useMay } from '../api/session.ts'
import { announce } from '../ui/announce.tsx'
import { Button, ButtonLink, IconButton } from '../ui/button.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { lazy } from '../ui/lazy.tsx'
import { Menu } from '../ui/menu.tsx'
import { FaultNote } from '../ui/states.tsx'
import { type Board, mostCharts, refreshBoards } from './queries.ts'

const ShareDialog = lazy(async () => (await import('./share-dialog.tsx')).ShareDialog)
const BoardDialog = lazy(async () => (await import('./board-dialog.tsx')).BoardDialog)

type BoardActionsProps = {
  board: Board
  onFullScreen: () => void
  onPicture: () => void
}

/** Shows the actions on a board. Built-in boards can only be copied. */
export const BoardActions = ({ board, onFullScreen, onPicture }: BoardActionsProps) => {
  const { id, name, isBuiltIn, charts } = board
  const [asking, setAsking] = useState<'rename' | 'share' | 'delete'>()
  const mayWrite = useMay('member')
  const navigate = useNavigate()
  const duplicate = useMutation({
    mutationFn: () => answer(api.POST('/v1/boards/{id}/duplicate', { params: { path: { id } }, body: {} })),
    onSuccess: async (copy) => {
      await refreshBoards()
      announce(`Board “${copy.name}” created`)
      await navigate({ to: '/boards/$id', params: { id: copy.id } })
    },
  })
  const close = () => setAsking(undefined)
  return (
    <>
      {duplicate.error && <FaultNote error={duplicate.error} />}
      {mayWrite && !isBuiltIn && charts.length < mostCharts && (
        <ButtonLink look="primary" to="/boards/$id/charts/$chartId" params={{ id, chartId: 'new' }}>
          Add chart
        </ButtonLink>
      )}
      {mayWrite && isBuiltIn && (
        <Button busy={duplicate.isPending} onClick={() => duplicate.mutate()}>
          Duplicate to edit
        </Button>
      )}
      <Menu
        trigger={<IconButton label="More actions" icon={<Ellipsis />} />}
        entries={[
          { label: 'Full screen', onSelect: onFullScreen },
          ...(charts.length > 0 ? [{ label: 'Download PNG', onSelect: onPicture }] : []),
          ...(mayWrite ? [{ label: 'Share with a company', onSelect: () => setAsking('share') }] : []),
          ...(mayWrite && !isBuiltIn
            ? [
                { label: 'Rename', onSelect: () => setAsking('rename') },
                { label: 'Duplicate', onSelect: () => duplicate.mutate() },
                { label: 'Delete board', danger: true, onSelect: () => setAsking('delete') },
              ]
            : []),
        ]}
      />
      {asking === 'rename' && <BoardDialog board={board} onClose={close} />}
      {asking === 'share' && <ShareDialog board={board} onClose={close} />}
      <Confirm
        title={`Delete board “${name}”?`}
        action="Delete board"
        open={asking === 'delete'}
        onClose={close}
        run={async () => {
          await api.DELETE('/v1/boards/{id}', { params: { path: { id } } })
          await navigate({ to: '/boards' })
          await refreshBoards()
        }}
      >
        This deletes the board for everyone in your organization. Conversations are kept.
      </Confirm>
    </>
  )
}
