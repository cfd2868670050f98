import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { answer, api } from '../api/client.ts'
import { type Role, useMe } from '../api/session.ts'
import { announce } from '../ui/announce.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Form, SelectField, TextField } from '../ui/form.tsx'
import { ShownOnce } from '../ui/shown-once.tsx'
import { type Member, refresh } from './queries.ts'
import { rolesInWords, rolesUpTo } from './roles.ts'
import styles from './settings.module.css'

type Values = { email: string; name: string; role: Role }

export const Invite = ({ onClose }: { onClose: () => void }) => {
  const { role: own } = useMe()
  const [invited, setInvited] = useState<{ name: string; url: string }>()
  const form = useForm<Values>({ defaultValues: { email: '', name: '', role: 'member' } })
  const send = async ({ email, name, role }: Values) => {
    const { invitationUrl } = await answer(
      api.POST('/v1/members', { body: { email: email.trim(), name: name.trim(), role } }),
    )
    setInvited({ name: name.trim(), url: invitationUrl })
    await refresh('members')
  }
  return (
    <Dialog title="Invite member" open onClose={onClose} holds>
      {invited ? (
        <div className={styles.stack}>
          <ShownOnce name="invitation link" value={invited.url}>
            Send this link to {invited.name}. It works once. You won’t see it again.
          </ShownOnce>
          <div>
            <Button onClick={onClose}>Done</Button>
          </div>
        </div>
      ) : (
        <Form form={form} send={send} submit="Invite member">
          <TextField name="email" label="Email address" type="email" required maxLength={254} />
          <TextField name="name" label="Name" required maxLength={255} />
          <SelectField name="role" label="Role" options={rolesUpTo(own)} hint={rolesInWords} />
        </Form>
      )}
    </Dialog>
  )
}

export const Rename = ({ member, onClose }: { member: Member; onClose: () => void }) => {
  const form = useForm({ defaultValues: { name: member.name } })
  const send = async ({ name }: { name: string }) => {
    await answer(api.PATCH('/v1/members/{id}', { params: { path: { id: member.id } }, body: { name: name.trim() } }))
    await Promise.all([refresh('members'), refresh('me')])
    announce('Member renamed')
    onClose()
  }
  return (
    <Dialog title={`Rename ${member.name}`} open onClose={onClose}>
      <Form form={form} send={send} submit="Save">
        <TextField name="name" label="Name" required maxLength={255} />
      </Form>
    </Dialog>
  )
}
