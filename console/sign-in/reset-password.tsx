import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { answer, api } from '../api/client.ts'
import { Form, TextField } from '../ui/form.tsx'
import { CardPage } from './card-page.tsx'

/** Shows the form for requesting a link to reset a password. */
export const ResetPassword = () => {
  const form = useForm({ defaultValues: { email: '' } })
  const [sentTo, setSentTo] = useState<string>()
  const send = async (body: { email: string }) => {
    await answer(api.POST('/auth/forgotten-password', { body }))
    setSentTo(body.email)
  }
  return (
    <CardPage title="Reset your password">
      {sentTo === undefined ? (
        <>
          <p>Enter the email address you sign in with. We’ll send you a link to set a new password.</p>
          <Form form={form} send={send} submit="Send link">
            <TextField
              name="email"
              label="Email address"
              type="email"
              required
              autoComplete="username"
              autoCapitalize="none"
              spellCheck={false}
            />
          </Form>
        </>
      ) : (
        <p role="status">
          If <strong>{sentTo}</strong> has an account, we’ve sent a link to it. The link works for an hour.
        </p>
      )}
      <p>
        <Link to="/sign-in">Back to sign-in</Link>
      </p>
    </CardPage>
  )
}
