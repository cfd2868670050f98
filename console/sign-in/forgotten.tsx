import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { answer, api } from '../api/client.ts'
import { Form, TextField } from '../ui/form.tsx'
import { Door } from './door.tsx'

/** Asks for a link to a new password. */
export const Forgotten = () => {
  const form = useForm({ defaultValues: { email: '' } })
  const [sentTo, setSentTo] = useState<string>()
  const send = async (body: { email: string }) => {
    await answer(api.POST('/auth/forgotten-password', { body }))
    setSentTo(body.email)
  }
  return (
    <Door title="A new password">
      {sentTo === undefined ? (
        <>
          <p>Give the address that you sign in with. A link to a new password comes by mail.</p>
          <Form form={form} send={send} submit="Send the link">
            <TextField
              name="email"
              label="E-mail address"
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
          If an account has the address <strong>{sentTo}</strong>, a link is on its way. It works for an hour.
        </p>
      )}
      <p>
        <Link to="/sign-in">Back to signing in</Link>
      </p>
    </Door>
  )
}
