import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useForm } from 'react-hook-form'
import { answer, api } from '../api/client.ts'
import { queryClient } from '../api/queries.ts'
import { Form, TextField } from '../ui/form.tsx'
import { late } from '../ui/late.tsx'
import styles from './door.module.css'
import { Door } from './door.tsx'
import { pageOf } from './search.ts'

const Forgotten = late(async () => (await import('./forgotten.tsx')).Forgotten)

/** Why the issuer's word was not enough, by the reason that the service gives. */
const refusals: Record<string, string> = {
  declined: 'You cancelled signing in. Try again, or sign in with your password.',
  expired: 'Signing in took too long, or was started again in another tab. Try again.',
  failed: 'Signing in did not work. Try again. If it fails again, ask your operator to look at the log.',
  no_email: 'Your provider did not share your e-mail address. Ask its administrator to allow the scope “email”.',
  subject_mismatch: 'Your provider gave details of a different person. Ask its administrator to check its settings.',
  token_rejected: 'The answer of your provider could not be verified. Ask your operator to check the issuer settings.',
  unknown: 'No account has your e-mail address. Ask an admin of your organization to invite you.',
  unreachable: 'Your provider does not answer. Try again in a minute, or sign in with your password.',
  unverified: 'Your provider says that your e-mail address is not verified. Verify it there, then sign in again.',
  verification_malformed:
    'Your provider does not say clearly whether your e-mail address is verified: “email_verified” must be true or false. ' +
    'Ask its administrator to correct that.',
  verification_missing:
    'Your provider does not say whether your e-mail address is verified. Ask its administrator to send “email_verified”, ' +
    'or your operator to set EARSHOT_OIDC_TRUST_EMAIL.',
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
