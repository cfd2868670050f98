import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useForm } from 'react-hook-form'
import { answer, api } from '../api/client.ts'
import { queryClient } from '../api/queries.ts'
import { Form, TextField } from '../ui/form.tsx'
import styles from './door.module.css'
import { Door } from './door.tsx'
import { Forgotten } from './forgotten.tsx'

/** Where to go once in: a page of this console alone, however the address is written. */
const pageOf = (to: string | undefined): string => {
  if (to === undefined || !URL.canParse(to, location.origin)) return '/'
  const { origin, pathname, search, hash } = new URL(to, location.origin)
  return origin === location.origin ? pathname + search + hash : '/'
}

const refusals: Record<string, string> = {
  unknown:
    'You are known there, but no account here has your address. Ask an admin of your organization to invite you.',
  unverified: 'Your address is not verified there. Verify it, then sign in again.',
  failed: 'Signing in did not work. Try again; tell your operator if it fails again.',
}

const Entering = () => {
  const form = useForm({ defaultValues: { email: '', password: '' } })
  const { to, refused } = useSearch({ from: '/sign-in' })
  const { data: ways } = useQuery({ queryKey: ['sign-in', 'ways'], queryFn: () => answer(api.GET('/auth/ways')) })
  const navigate = useNavigate()
  const send = async (body: { email: string; password: string }) => {
    await answer(api.POST('/auth/sign-in/email', { body }))
    queryClient.clear()
    await navigate({ href: pageOf(to), replace: true })
  }
  return (
    <Door title="Sign in">
      {refused !== undefined && <p role="alert">{refusals[refused] ?? refusals.failed}</p>}
      {ways?.oidc && (
        <>
          <a className={styles.way} href={`/auth/oidc?to=${encodeURIComponent(pageOf(to))}`}>
            Sign in with your organization’s account
          </a>
          <p className={styles.or}>or with a password</p>
        </>
      )}
      <Form form={form} send={send} submit="Sign in">
        <TextField
          name="email"
          label="E-mail address"
          type="email"
          required={true}
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
        />
        <TextField
          name="password"
          label="Password"
          type="password"
          required={true}
          maxLength={256}
          autoComplete="current-password"
        />
      </Form>
      <p>
        {ways?.forgottenPassword && (
          <>
            <Link to="/sign-in" search={{ forgotten: true }}>
              Forgotten your password?
            </Link>{' '}
          </>
        )}
        No account? An admin of your organization invites you.
      </p>
    </Door>
  )
}

export const SignIn = () => (useSearch({ from: '/sign-in' }).forgotten ? <Forgotten /> : <Entering />)
