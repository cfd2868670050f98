import { useMutation } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { answer, api } from '../api/client.ts'
import { announce } from '../ui/announce.tsx'
import { Button } from '../ui/button.tsx'
import { Check, Field, Input } from '../ui/controls.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { FaultNote } from '../ui/states.tsx'
import type { ListState } from './search.ts'
import styles from './views.module.css'
import { bodyOf, refreshViews, type View } from './views.tsx'

const NameField = ({ name, onChange }: { name: string; onChange: (name: string) => void }) => (
  <Field label="Name">
    {(ids) => (
      <Input {...ids} value={name} maxLength={255} required onChange={({ target }) => onChange(target.value)} />
    )}
  </Field>
)

type FormProps = {
  title: string
  action: string
  save: { mutate: () => void; error: unknown; isPending: boolean }
  isReady: boolean
  onClose: () => void
  children: ReactNode
}

const ViewForm = ({ title, action, save, isReady, onClose, children }: FormProps) => {
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <Dialog title={title} open onClose={onClose}>
      <form className={styles.save} onSubmit={submit}>
        {children}
        {save.error ? <FaultNote error={save.error} /> : null}
        <div>
          <Button type="submit" look="primary" busy={save.isPending} disabled={!isReady}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** Saves the current state of the list as a new view. */
export const SaveView = ({
  state,
  onSaved,
  onClose,
}: {
  state: ListState
  onSaved: (view: View) => void
  onClose: () => void
}) => {
  const [name, setName] = useState('')
  const [shared, setShared] = useState(true)
  const [isDefault, setDefault] = useState(false)
  const save = useMutation({
    mutationFn: () =>
      answer(api.POST('/v1/saved-views', { body: { name: name.trim(), ...bodyOf(state), shared, isDefault } })),
    onSuccess: async (view) => {
      await refreshViews()
      announce(`View “${view.name}” saved`)
      onSaved(view)
    },
  })
  return (
    <ViewForm title="Save view" action="Save view" save={save} isReady={name.trim() !== ''} onClose={onClose}>
      <NameField name={name} onChange={setName} />
      <Check
        label="Share with organization"
        hint="Otherwise, only you see this view."
        checked={shared}
        onChange={({ target }) => setShared(target.checked)}
      />
      <Check
        label="Open conversations with this view"
        checked={isDefault}
        onChange={({ target }) => setDefault(target.checked)}
      />
    </ViewForm>
  )
}

export const RenameView = ({ view, onClose }: { view: View; onClose: () => void }) => {
  const [name, setName] = useState(view.name)
  const save = useMutation({
    mutationFn: () =>
      answer(api.PATCH('/v1/saved-views/{id}', { params: { path: { id: view.id } }, body: { name: name.trim() } })),
    onSuccess: async () => {
      await refreshViews()
      onClose()
    },
  })
  return (
    <ViewForm title="Rename view" action="Rename" save={save} isReady={name.trim() !== ''} onClose={onClose}>
      <NameField name={name} onChange={setName} />
    </ViewForm>
  )
}
