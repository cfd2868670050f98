import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { answer, api } from '../api/client.ts'
import { asFault } from '../api/fault.ts'
import { queryClient } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'
import { Field, Form, Input, TextField } from '../ui/form.tsx'
import { Loading } from '../ui/states.tsx'
import { Door } from './door.tsx'

type Offer = { email: string; organization: string; newAccount: boolean }

const leastLength = 12

const Joining = ({ token, offer: { email, organization, newAccount } }: { token: string; offer: Offer }) => {
  const form = useForm({ defaultValues: { name: '', password: '' } })
  const navigate = useNavigate()
  const send = async ({ name, password }: { name: string; password: string }) => {
    if (newAccount && [...password].length < leastLength) {
      form.setError('password', {
        message: `Use at least ${leastLength} characters; this has ${[...password].length}.`,
      })
      form.setFocus('password')
      return
    }
    try {
      await answer<Schemas['Session']>(api.POST('/auth/invitation', { body: { token, name: name.trim(), password } }))
    } catch (error) {
      if (asFault(error).status !== 401) throw error
      form.setError('password', { message: asFault(error).message }, { shouldFocus: true })
      return
    }
    queryClient.clear()
    // The token is spent, and goes from the history too.
    await navigate({ to: newAccount ? '/start' : '/', replace: true })
  }
  return (
    <Door title={`Welcome to ${organization}`}>
      <p>
        {newAccount
          ? 'Choose how you are called and how you sign in.'
          : 'You have an account already: give its password to join.'}
      </p>
      <Form form={form} send={send} submit="Join">
        <Field label="E-mail address" hint="You will sign in with this address.">
          {(ids) => <Input {...ids} value={email} type="email" autoComplete="username" readOnly />}
        </Field>
        <TextField name="name" label="Your name" autoComplete="name" required={true} maxLength={255} />
        <TextField
          name="password"
          label="Password"
          type="password"
          required={true}
          maxLength={256}
          autoComplete={newAccount ? 'new-password' : 'current-password'}
          hint={
            newAccount
              ? `At least ${leastLength} characters; a few unrelated words do well.`
              : 'The one that you sign in with.'
          }
        />
      </Form>
    </Door>
  )
}

/** Where the link of an invitation leads. Its token stands behind the `#`, where no log sees it. */
export const Welcome = () => {
  const [token] = useState(() => location.hash.slice(1))
  const { data, error } = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => answer(api.POST('/auth/invitation/check', { body: { token } })),
    enabled: token !== '',
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (data) return <Joining token={token} offer={data} />
  if (error || token === '') {
    const incomplete = token === '' || asFault(error).status === 400
    return (
      <Door title="This link does not open">
        <p role="alert">
          {incomplete ? 'The link is not whole, or a fresher one has replaced it.' : asFault(error).message}
        </p>
        <p>
          <Link to="/sign-in">Sign in</Link>
        </p>
      </Door>
    )
  }
  return (
    <Door title="Looking at your invitation">
      <Loading />
    </Door>
  )
}
