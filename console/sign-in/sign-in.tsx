import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useForm } from 'react-hook-form'
import { answer, api } from '../api/client.ts'
import { queryClient } from '../api/queries.ts'
import { Form, TextField } from '../ui/form.tsx'
import { lazy } from '../ui/lazy.tsx'
import styles from './card-page.module.css'
import { CardPage } from './card-page.tsx'
import { pageOf } from './search.ts'

const ResetPassword = lazy(async () => (await import('./reset-password.tsx')).ResetPassword)

/** Messages for the reasons why single sign-on can fail. */
const refusals: Record<string, string> = {
  declined: 'Sign-in was cancelled. Try again, or use your password.',
  expired: 'Sign-in took too long or was restarted in another tab. Try again.',
  failed: 'Sign-in failed. Try again. If it keeps failing, ask your operator to check the logs.',
  no_email: 'Your identity provider didn’t share your email address. Ask its administrator to allow the “email” scope.',
  subject_mismatch:
    'Your identity provider returned a different person’s details. Ask its administrator to check the settings.',
  token_rejected:
    'Your identity provider’s response couldn’t be verified. Ask your operator to check the issuer settings.',
  unknown: 'No account uses your email address. Ask an admin of your organization to invite you.',
  unreachable: 'Your identity provider isn’t responding. Try again in a minute, or use your password.',
  unverified: 'Your email address isn’t verified with your identity provider. Verify it there, then sign in again.',
  verification_malformed:
    'Your identity provider sent an invalid “email_verified”: it must be true or false. ' +
    'Ask its administrator to fix this.',
  verification_missing:
    'Your identity provider didn’t say whether your email address is verified. Ask its administrator to send ' +
    '“email_verified”, or your operator to set EARSHOT_OIDC_TRUST_EMAIL.',
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
    <CardPage title="Sign in">
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
          label="Email address"
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
              Forgot your password?
            </Link>{' '}
          </>
        )}
        No account? Ask an admin of your organization to invite you.
      </p>
    </CardPage>
  )
}

export const SignIn = () => (useSearch({ from: '/sign-in' }).forgotten ? <ResetPassword /> : <Entering />)
