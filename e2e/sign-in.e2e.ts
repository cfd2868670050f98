import { expect, it } from 'vitest'
import { ask, breaches, open, origin, quiet } from './browser.ts'
import { password, sessionOf } from './people.ts'

it('signs in to the requested page, and out again', async () => {
  const page = await open('/findings?layout=list')
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(await breaches(page)).toEqual([])
  await page.getByLabel('Email address').fill('member@example.com')
  await page.getByLabel('Password').fill('not the password')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').waitFor()
  expect(await page.getByLabel('Email address').inputValue()).toBe('member@example.com')
  await page.getByLabel('Password').fill(password)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Findings' }).waitFor()
  expect(page.url()).toBe(`${origin}/findings?layout=list`)

  await page.getByRole('button', { name: /Mira Member/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await page.goto(`${origin}/conversations`)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
})

it('marks missing fields', async () => {
  const page = await open('/sign-in')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('Password is required.').waitFor()
  expect(await page.getByLabel('Email address').getAttribute('aria-invalid')).toBe('true')
})

it('says what to do about an invalid invitation', async () => {
  const page = await open('/welcome#nonsense')
  await page.getByRole('heading', { name: 'This link doesn’t work' }).waitFor()
  expect(await breaches(page)).toEqual([])
})

it('says why single sign-on was rejected', async () => {
  const page = await open('/sign-in?refused=unknown')
  await page.getByRole('alert').getByText('No account uses your email address').waitFor()
  expect(await page.getByRole('link', { name: /Forgot/ }).count()).toBe(0)
})

it('returns to sign-in when the session ends, and from there to the same page', async () => {
  const page = await open('/monitors', 'member')
  await page.getByRole('heading', { name: 'Monitors' }).waitFor()
  await quiet(page)
  await page.context().clearCookies()
  await page.getByRole('link', { name: 'Companies' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(new URL(page.url()).searchParams.get('to')).toBe('/companies')
})

const join = async (email: string, name: string) => {
  const { id, invitationUrl } = await ask<{ id: string; invitationUrl: string }>('POST', '/v1/members', {
    email,
    name,
    role: 'viewer',
  })
  const cookie = await sessionOf(origin, invitationUrl.slice(invitationUrl.indexOf('#') + 1), name)
  return { id, cookie: { ...cookie, url: origin } }
}

it('signs out on all devices', async () => {
  const { cookie } = await join('two@example.com', 'Two Devices')
  const phone = await open('/sign-in')
  await phone.getByLabel('Email address').fill('two@example.com')
  await phone.getByLabel('Password').fill(password)
  await phone.getByRole('button', { name: 'Sign in' }).click()
  await phone.getByRole('heading', { name: 'Overview' }).waitFor()
  const laptop = await open('/sign-in')
  await laptop.context().addCookies([cookie])
  await laptop.goto(`${origin}/settings/profile`)
  await laptop.getByRole('button', { name: 'Sign out everywhere' }).click()
  await laptop.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click()
  await laptop.getByRole('heading', { name: 'Sign in' }).waitFor()
  // The other page notices this because its event stream ends.
  await phone.getByRole('heading', { name: 'Sign in' }).waitFor()
})

it('tells a person that they are not in any organization', async () => {
  const { id, cookie } = await join('gone@example.com', 'Gone')
  await ask('DELETE', `/v1/members/${id}`)
  const page = await open('/sign-in')
  await page.context().addCookies([cookie])
  await page.goto(`${origin}/monitors`)
  await page.getByText('You aren’t a member of any organization').waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
})

it('never redirects to another host after sign-in', async () => {
  const page = await open('/sign-in?to=%2F%5Cexample.com')
  await page.getByLabel('Email address').fill('viewer@example.com')
  await page.getByLabel('Password').fill(password)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  expect(page.url()).toBe(`${origin}/`)
})

it('asks before joining an organization after single sign-on', async () => {
  const page = await open('/sign-in', 'viewer')
  const invitation = { organizationId: crypto.randomUUID(), organization: 'Acme Voice', role: 'admin' }
  let declined = 0
  await page.route(/\/auth\/invitations$/, (route) =>
    route.fulfill({ json: { data: declined === 0 ? [{ ...invitation, invitedAt: '2026-11-20T09:00:00.000Z' }] : [] } }),
  )
  await page.route(/\/auth\/invitations\/decline$/, (route) => {
    declined++
    return route.fulfill({ status: 204 })
  })
  await page.goto(`${origin}/invitations?to=%2Fcompanies`)
  await page.getByText('Acme Voice').waitFor()
  await page.getByRole('button', { name: 'Join Acme Voice' }).waitFor()
  expect(await breaches(page)).toEqual([])
  await page.getByRole('button', { name: 'Decline the invitation to Acme Voice' }).click()
  await page.getByText('You have no pending invitations.').waitFor()
  await page.getByRole('link', { name: 'Continue' }).click()
  await page.waitForURL(`${origin}/companies`)
})
