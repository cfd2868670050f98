import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { answer, api } from '../api/client.ts'
import { asFault } from '../api/fault.ts'
import { queryClient } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'
import { Choice } from '../ui/controls.tsx'
import { Form, TextField } from '../ui/form.tsx'
import { NewPasswordField, shortPasswordFault } from '../ui/new-password.tsx'
import { Loading } from '../ui/states.tsx'
import { CardPage } from './card-page.tsx'

type Offer = Schemas['InvitationOffer']
type Values = { name: string; email: string; password: string }

const accounts = [
  { value: 'new', label: 'I’m new to Earshot' },
  { value: 'existing', label: 'I already have an account' },
]

const ExistingPassword = () => (
  <TextField
    name="password"
    label="Password"
    type="password"
    required={true}
    maxLength={256}
    autoComplete="current-password"
    hint="Your Earshot password."
  />
)

const EmailField = ({ email, setsEmail }: Pick<Offer, 'email' | 'setsEmail'>) =>
  setsEmail ? (
    <TextField
      name="email"
      label="Email address"
      type="email"
      required={true}
      autoComplete="username"
      autoCapitalize="none"
      spellCheck={false}
      hint="You’ll sign in with this address."
    />
  ) : (
    <>
      <p>
        You’ll sign in with <strong>{email}</strong>.
      </p>
      <input type="email" value={email} autoComplete="username" readOnly hidden />
    </>
  )

/** Returns whether there is nothing to see yet. If that is unknown, the overview is shown. */
const isEmpty = async (): Promise<boolean> => {
  const search = api.POST('/v1/conversations/search', { body: { filter: {}, limit: 1 } })
  return answer(search).then(
    ({ data }) => data.length === 0,
    () => false,
  )
}

const Joining = ({
  token,
  offer: { email, organization, setsPassword, setsEmail },
}: {
  token: string
  offer: Offer
}) => {
  const form = useForm<Values>({ defaultValues: { name: '', email: '', password: '' } })
  const [account, setAccount] = useState('new')
  const navigate = useNavigate()
  const choosesPassword = setsPassword || setsEmail || account === 'new'
  const fieldAtFault = (status: number) => {
    if (status === 401) return 'password'
    return status === 409 && setsEmail ? 'email' : undefined
  }
  const send = async ({ name, email: given, password }: Values) => {
    const short = choosesPassword ? shortPasswordFault(password) : undefined
    if (short !== undefined) {
      form.setError('password', { message: short }, { shouldFocus: true })
      return
    }
    const body = { token, name: name.trim(), password, ...(setsEmail && { email: given.trim() }) }
    try {
      await answer<Schemas['Session']>(api.POST('/auth/invitation', { body }))
    } catch (error) {
      const { status, message } = asFault(error)
      const field = fieldAtFault(status)
      if (!field) throw error
      form.setError(field, { message }, { shouldFocus: true })
      return
    }
    queryClient.clear()
    // The token has been used, so it is removed from the browser's history.
    await navigate({ to: (await isEmpty()) ? '/start' : '/', replace: true })
  }
  return (
    <CardPage title={`Welcome to ${organization}`}>
      {setsPassword || setsEmail ? null : (
        <Choice label="Account" value={account} options={accounts} onChange={setAccount} />
      )}
      <Form form={form} send={send} submit="Join">
        <EmailField email={email} setsEmail={setsEmail} />
        <TextField name="name" label="Your name" autoComplete="name" required={true} maxLength={255} />
        {choosesPassword ? (
          <NewPasswordField name="password" label="Password" known={[email, organization]} />
        ) : (
          <ExistingPassword />
        )}
      </Form>
    </CardPage>
  )
}

/**
 * Shows the page that opens from the link in an invitation. The token is in the URL's fragment, so it doesn't appear in
 * logs.
 */
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
      <CardPage title="This link doesn’t work">
        <p role="alert">
          {incomplete ? 'The link is incomplete, expired, or replaced by a newer one.' : asFault(error).message}
        </p>
        <p>
          <Link to="/sign-in">Sign in</Link>
        </p>
      </CardPage>
    )
  }
  return (
    <CardPage title="Loading your invitation">
      <Loading />
    </CardPage>
  )
}
