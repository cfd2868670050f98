import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { answer, api } from '../api/client.ts'
import { queryClient } from '../api/queries.ts'
import { useMay, useMe } from '../api/session.ts'
import { applyTheme, readTheme, type Theme } from '../layout/theme.ts'
import { sentenceCase } from '../lib/format.ts'
import { announce } from '../ui/announce.tsx'
import { Button } from '../ui/button.tsx'
import { Choice } from '../ui/controls.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { Form, TextField } from '../ui/form.tsx'
import { NewPasswordField, shortPasswordFault } from '../ui/new-password.tsx'
import { Facts, Section } from '../ui/page.tsx'
import { refresh } from './queries.ts'
import styles from './settings.module.css'

const NameForm = () => {
  const { member } = useMe()
  const form = useForm({ defaultValues: { name: member.name } })
  const send = async ({ name }: { name: string }) => {
    await answer(api.PATCH('/v1/members/{id}', { params: { path: { id: member.id } }, body: { name: name.trim() } }))
    await Promise.all([refresh('me'), refresh('members')])
    announce('Name changed')
  }
  return (
    <Form form={form} send={send} submit="Save name">
      <TextField name="name" label="Name" autoComplete="name" required maxLength={255} />
    </Form>
  )
}

const EmailForm = () => {
  const { member } = useMe()
  const form = useForm({ defaultValues: { email: '', password: '' } })
  const [sentTo, setSentTo] = useState<string>()
  const send = async ({ email, password }: { email: string; password: string }) => {
    const body = { email: email.trim(), currentPassword: password }
    await answer(api.POST('/auth/address', { body }))
    form.reset()
    setSentTo(body.email)
  }
  return (
    <div className={styles.stack}>
      <p className={styles.soft}>You sign in with {member.email}.</p>
      {sentTo !== undefined && (
        <p role="status">
          Open the link we sent to <strong>{sentTo}</strong> to confirm it. The link works for an hour.
        </p>
      )}
      <Form
        form={form}
        send={send}
        submit="Change email address"
        fieldOf={(path) => (path === 'currentPassword' ? 'password' : path)}
      >
        <TextField
          name="email"
          label="New email address"
          type="email"
          required
          autoComplete="email"
          autoCapitalize="none"
          spellCheck={false}
        />
        <TextField
          name="password"
          label="Current password"
          type="password"
          autoComplete="current-password"
          required
          maxLength={256}
        />
      </Form>
    </div>
  )
}

const PasswordForm = () => {
  const { member } = useMe()
  const form = useForm({ defaultValues: { currentPassword: '', newPassword: '' } })
  const send = async (body: { currentPassword: string; newPassword: string }) => {
    const short = shortPasswordFault(body.newPassword)
    if (short !== undefined) {
      form.setError('newPassword', { message: short }, { shouldFocus: true })
      return
    }
    await answer(api.POST('/auth/change-password', { body }))
    form.reset()
    announce('Password changed', 'You’re signed out everywhere else.')
  }
  return (
    <Form form={form} send={send} submit="Change password">
      <input type="email" value={member.email} autoComplete="username" readOnly hidden />
      <TextField
        name="currentPassword"
        label="Current password"
        type="password"
        autoComplete="current-password"
        required
        maxLength={256}
      />
      <NewPasswordField name="newPassword" label="New password" known={[member.email, member.name]} />
    </Form>
  )
}

const themes = [
  { value: 'system', label: 'System' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
]

/** Ends all sessions, including this one. */
const EndSessions = () => {
  const [asking, setAsking] = useState(false)
  const navigate = useNavigate()
  return (
    <>
      <Button onClick={() => setAsking(true)}>Sign out everywhere</Button>
      <Confirm
        title="Sign out everywhere?"
        action="Sign out everywhere"
        open={asking}
        onClose={() => setAsking(false)}
        run={async () => {
          await answer(api.POST('/auth/sign-out-everywhere', { body: {} }))
          queryClient.clear()
          await navigate({ to: '/sign-in' })
        }}
      >
        This ends all your sessions, including this one. API keys keep working.
      </Confirm>
    </>
  )
}

export const Profile = () => {
  const { member, organization, role } = useMe()
  const isAdmin = useMay('admin')
  const [theme, setTheme] = useState<string>(readTheme())
  return (
    <>
      <Section title="Profile">
        <div className={styles.stack}>
          <Facts
            facts={[
              ...(isAdmin ? [] : ([['Name', member.name]] as [string, string][])),
              ['Organization', organization.name],
              ['Role', sentenceCase(role)],
            ]}
          />
          {isAdmin ? <NameForm /> : <p className={styles.soft}>An admin of your organization can change your name.</p>}
        </div>
      </Section>
      <Section title="Appearance">
        <Choice
          label="Theme"
          value={theme}
          options={themes}
          onChange={(value) => {
            setTheme(value)
            // The options above only have themes as values.
            applyTheme(value as Theme)
          }}
        />
      </Section>
      <Section title="Email address">
        <EmailForm />
      </Section>
      <Section title="Password">
        <div className={styles.stack}>
          <p className={styles.soft}>Changing your password signs you out everywhere else.</p>
          <PasswordForm />
        </div>
      </Section>
      <Section title="Sessions">
        <EndSessions />
      </Section>
    </>
  )
}
