import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { MoreHorizontal } from 'lucide-react'
import { useState } from 'react'
import { answer, api } from '../api/client.ts'
import { useMay, useMe } from '../api/session.ts'
import { IconButton } from '../ui/button.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { lazy } from '../ui/lazy.tsx'
import { Menu } from '../ui/menu.tsx'
import { FaultNote } from '../ui/states.tsx'
import { refreshViews, stateOf, type View } from './views.tsx'

const RenameView = lazy(async () => (await import('./save-view.tsx')).RenameView)

type Change = { shared: boolean } | { isDefault: boolean }

/** Shows the actions on a view. */
export const ViewActions = ({ view, onDeleted }: { view: View; onDeleted: () => void }) => {
  const [open, setOpen] = useState<'rename' | 'delete'>()
  const { member, entitlements, features } = useMe()
  const maySchedule = useMay('admin') && entitlements.monitors && features.monitorExports
  const navigate = useNavigate()
  const change = useMutation({
    mutationFn: (body: Change) =>
      answer(api.PATCH('/v1/saved-views/{id}', { params: { path: { id: view.id } }, body })),
    onSuccess: refreshViews,
  })
  const close = () => setOpen(undefined)
  const mayHide = !view.shared || view.createdByUserId === member.userId
  return (
    <>
      <Menu
        trigger={<IconButton label={`More actions for view ${view.name}`} icon={<MoreHorizontal />} />}
        entries={[
          {
            label: view.isDefault ? 'Don’t open with this view' : 'Open with this view',
            onSelect: () => change.mutate({ isDefault: !view.isDefault }),
          },
          { label: 'Rename…', onSelect: () => setOpen('rename') },
          ...(mayHide
            ? [
                {
                  label: view.shared ? 'Make personal' : 'Share with organization',
                  onSelect: () => change.mutate({ shared: !view.shared }),
                },
              ]
            : []),
          {
            label: 'Create alert…',
            onSelect: () => void navigate({ to: '/alerts/rules/new', search: { filter: view.filter } }),
          },
          ...(maySchedule
            ? [
                {
                  label: 'Schedule export…',
                  onSelect: () => void navigate({ to: '/exports/schedules/new', search: { list: stateOf(view) } }),
                },
              ]
            : []),
          { label: 'Delete view…', onSelect: () => setOpen('delete'), danger: true },
        ]}
      />
      {change.error && <FaultNote error={change.error} />}
      {open === 'rename' && <RenameView view={view} onClose={close} />}
      <Confirm
        title={`Delete view “${view.name}”?`}
        action="Delete view"
        open={open === 'delete'}
        onClose={close}
        run={async () => {
          await api.DELETE('/v1/saved-views/{id}', { params: { path: { id: view.id } } })
          await refreshViews()
          onDeleted()
        }}
      >
        {view.shared ? 'This deletes the view for everyone in your organization. ' : 'This deletes your view. '}
        Conversations are kept.
      </Confirm>
    </>
  )
}
