import { expect, it } from 'vitest'
import { ask, breaches, open, origin } from './browser.ts'
import { password } from './people.ts'

const parts = [
  'profile',
  'organization',
  'members',
  'api-keys',
  'connections',
  'destinations',
  'webhooks',
  'models',
  'health',
  'audit-log',
]

it.each(['light', 'dark'] as const)('is accessible in all sections in the %s theme', async (theme) => {
  const page = await open('/settings', 'owner', { theme, viewport: { width: 320, height: 700 } })
  for (const part of parts) {
    await page.goto(`${origin}/settings/${part}`)
    await page.getByRole('region').first().waitFor()
    await page.getByRole('status').first().waitFor({ state: 'detached' })
    expect(await breaches(page), part).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth'), part).toBeLessThanOrEqual(320)
  }
})

it('shows each role its sections', async () => {
  const page = await open('/settings/members', 'viewer')
  await page.getByText('(you)').waitFor()
  const nav = page.getByRole('navigation', { name: 'Settings' })
  expect(await nav.getByRole('link').allInnerTexts()).toEqual([
    'Profile',
    'My notifications',
    'Organization',
    'Members',
    'Destinations',
    'Ownership',
    'Webhooks',
  ])
  expect(await page.getByRole('button', { name: 'Invite member' }).count()).toBe(0)
  await page.goto(`${origin}/settings/api-keys`)
  await page.getByText('Ask an admin to change your role').waitFor()
  await page.goto(`${origin}/settings/organization`)
  await page.getByText('Only admins can change these settings.').waitFor()
  expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0)
})

it('creates an API key that is shown once, and revokes it', async () => {
  const page = await open('/settings/api-keys', 'owner')
  await page.getByRole('button', { name: 'Create API key' }).click()
  await page.getByLabel('Name').fill('Nightly job')
  await page.getByLabel('Role').selectOption('viewer')
  await page.getByLabel('Expires').selectOption({ label: '30 days' })
  await page.getByRole('dialog').getByRole('button', { name: 'Create API key' }).click()
  await page.getByRole('button', { name: 'Copy key' }).click()
  const key = await page.evaluate<string>('navigator.clipboard.readText()')
  const me = () => fetch(`${origin}/v1/me`, { headers: { authorization: `Bearer ${key}` } })
  expect((await me()).status).toBe(200)
  expect(await breaches(page)).toEqual([])
  await page.getByRole('button', { name: 'Done' }).click()
  expect(await page.getByText(key).count()).toBe(0)
  await page.getByRole('button', { name: 'Revoke Nightly job' }).click()
  await page.getByRole('button', { name: 'Revoke key' }).click()
  const row = page.getByRole('row').filter({ hasText: 'Nightly job' })
  await row.getByText('Revoked').waitFor()
  expect((await me()).status).toBe(401)
})

it('explains API keys if there are none', async () => {
  const page = await open('/settings', 'owner')
  await page.route('**/v1/api-keys?*', (route) => route.fulfill({ json: { data: [], nextCursor: null } }))
  await page.goto(`${origin}/settings/api-keys`)
  await page.getByRole('heading', { name: 'No API keys yet' }).waitFor()
  await page.getByRole('button', { name: 'Create API key' }).click()
  await page.getByRole('dialog', { name: 'Create API key' }).waitFor()
})

it('invites a member, who joins, changes the password, and is removed', async () => {
  const page = await open('/settings/members', 'owner')
  await page.getByRole('button', { name: 'Invite member' }).click()
  await page.getByLabel('Email address').fill('petra@example.com')
  await page.getByLabel('Name').fill('Petra Person')
  await page.getByRole('combobox', { name: 'Role', exact: true }).selectOption('viewer')
  await page.getByRole('dialog').getByRole('button', { name: 'Invite member' }).click()
  await page.getByRole('button', { name: 'Copy invitation link' }).click()
  const first = await page.evaluate<string>('navigator.clipboard.readText()')
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'More for Petra Person' }).click()
  await page.getByRole('menuitem', { name: 'New invitation link' }).click()
  await page.getByRole('button', { name: 'Copy invitation link' }).click()
  const link = await page.evaluate<string>('navigator.clipboard.readText()')
  expect(link).not.toBe(first)
  await page.getByRole('button', { name: 'Close' }).click()

  const theirs = await open(link.slice(link.indexOf('/welcome')))
  await theirs.getByLabel('Your name').fill('Petra Person')
  await theirs.getByLabel('Password').fill('Password1234')
  await theirs.getByText('Easy to guess').waitFor()
  expect(await breaches(theirs)).toEqual([])
  await theirs.getByRole('button', { name: 'Join' }).click()
  await theirs.getByText('too easy to guess').waitFor()
  await theirs.getByLabel('Password').fill(password)
  await theirs.getByText('Very strong').waitFor()
  await theirs.getByRole('button', { name: 'Join' }).click()
  // The organization has conversations, so there is no need for first steps.
  await theirs.waitForURL(`${origin}/`)
  await theirs.goto(`${origin}/settings/profile`)
  await theirs.getByText('An admin of your organization can change your name.').waitFor()
  const passwordForm = theirs.getByRole('region', { name: 'Password' })
  await passwordForm.getByLabel('Current password').fill('not the password')
  await theirs.getByLabel('New password').fill('short')
  await theirs.getByRole('button', { name: 'Change password' }).click()
  await theirs.getByText('Use at least 12 characters. You entered 5.').waitFor()
  await theirs.getByLabel('New password').fill(`${password} and more`)
  await theirs.getByRole('button', { name: 'Change password' }).click()
  await expect.poll(() => passwordForm.getByLabel('Current password').getAttribute('aria-invalid')).toBe('true')
  await passwordForm.getByLabel('Current password').fill(password)
  await theirs.getByRole('button', { name: 'Change password' }).click()
  await theirs.getByText('You’re signed out everywhere else.').waitFor()
  await theirs.getByLabel('New email address').fill('petra.person@example.com')
  await theirs
    .getByRole('region', { name: 'Email address' })
    .getByLabel('Current password')
    .fill(`${password} and more`)
  await theirs.getByRole('button', { name: 'Change email address' }).click()
  // The demo sends no mail, so nobody can confirm an address.
  await theirs.getByText('Earshot cannot send email to confirm a new address.').waitFor()
  await theirs.getByRole('radio', { name: 'Dark' }).check()
  await theirs.reload()
  expect(await theirs.getByRole('radio', { name: 'Dark' }).isChecked()).toBe(true)

  await page.reload()
  await page.getByLabel('Role of Petra Person').selectOption('member')
  await page.getByText('Petra Person is now a member').waitFor()
  await page.getByRole('button', { name: 'More for Petra Person' }).click()
  await page.getByRole('menuitem', { name: 'Remove' }).click()
  await page.getByRole('button', { name: 'Remove member' }).click()
  await page.getByRole('row').filter({ hasText: 'petra@example.com' }).waitFor({ state: 'detached' })
})

it('asks before a shorter retention erases conversations, and says how many', async () => {
  const page = await open('/settings/organization', 'owner')
  await page.getByLabel('Retention').fill('many')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Enter a number or leave this empty.').waitFor()
  await page.getByLabel('Retention').fill('1')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText(/This erases [\d,]+ conversations now\./).waitFor()
  expect(await page.getByRole('button', { name: 'Erase and save' }).isDisabled()).toBe(true)
  expect(await breaches(page)).toEqual([])
  await page.getByRole('button', { name: 'Cancel' }).click()
  expect((await ask<{ retentionDays: number | null }>('GET', '/v1/organization')).retentionDays).toBe(null)

  // This period is long enough to erase nothing.
  await page.getByLabel('Retention').fill('36500')
  await page.getByLabel('Monthly LLM judge budget').fill('12.5')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByLabel(/^Type/).fill('Demo')
  await page.getByRole('button', { name: 'Erase and save' }).click()
  await page.getByText('Settings saved').waitFor()
  await page.reload()
  await expect.poll(() => page.getByLabel('Retention').inputValue()).toBe('36500')
  await page.getByLabel('Retention').fill('')
  await page.getByLabel('Monthly LLM judge budget').fill('')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Settings saved').waitFor()
  expect((await ask<{ retentionDays: number | null }>('GET', '/v1/organization')).retentionDays).toBe(null)
})

it('creates a connection, shows a delivery, and replays it', async () => {
  const page = await open('/settings/connections', 'owner')
  await page.getByRole('button', { name: 'Create connection' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Front desk')
  await page.getByLabel('Secret').fill('a-vapi-secret')
  await page.getByRole('dialog').getByRole('button', { name: 'Create connection' }).click()
  await page.getByRole('heading', { name: 'No deliveries yet' }).waitFor()
  const steps = page.getByRole('region', { name: 'Set up Vapi' })
  await steps.getByText(/can only be reached from within your network/).waitFor()
  expect(await steps.getByRole('listitem').count()).toBe(4)
  expect(await breaches(page)).toEqual([])
  await page.getByRole('button', { name: 'Copy webhook URL' }).click()
  const address = await page.evaluate<string>('navigator.clipboard.readText()')
  expect(address).toMatch(new RegExp(`^${origin}/v1/integrations/[^/]+/webhook$`))
  const sent = await fetch(address, {
    method: 'POST',
    headers: { 'x-vapi-secret': 'a-vapi-secret', 'content-type': 'application/json' },
    body: '{"what":"<script>alert(1)</script>"}',
  })
  expect(sent.status).toBe(202)
  await page.reload()
  await page.getByRole('button', { name: /^Inspect/ }).click()
  expect(await steps.count()).toBe(0)
  const dialog = page.getByRole('dialog', { name: 'Delivery' })
  await dialog.getByText('<script>alert(1)</script>').waitFor()
  await dialog.getByText('Unreadable').waitFor()
  expect(await breaches(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Replay' }).click()
  await page.getByText('New status: unreadable.').waitFor()
  await dialog.getByRole('button', { name: 'Close' }).click()
  await page.getByLabel('Delivery status').selectOption('applied')
  await page.getByRole('heading', { name: 'No deliveries with this status' }).waitFor()

  const members = await open(new URL(page.url()).pathname + new URL(page.url()).search, 'member')
  await members.getByRole('heading', { name: 'Front desk' }).waitFor()
  expect(await members.getByRole('button', { name: 'Delete' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete connection' }).click()
  await page.getByRole('heading', { name: 'No connections yet' }).waitFor()
})

it('sets up a disabled sync for a connection', async () => {
  const page = await open('/settings/connections', 'owner')
  await page.getByRole('button', { name: 'Create connection' }).click()
  await page.getByLabel('Provider').selectOption('retell')
  await page.getByLabel('Name', { exact: true }).fill('Night shift')
  await page.getByLabel('Secret').fill('a-retell-secret')
  await page.getByRole('dialog').getByRole('button', { name: 'Create connection' }).click()
  const address = new URL(page.url())
  await page.getByRole('button', { name: 'Set up sync' }).click()
  await page.getByLabel('API base URL').fill('https://localhost')
  await page.getByLabel('API key').fill('a-retell-key')
  await page.getByLabel('Enable sync').uncheck()
  await page.getByRole('dialog').getByRole('button', { name: 'Set up sync' }).click()
  await page.getByText('must be an https URL of a public host').waitFor()
  await page.getByLabel('API base URL').fill('')
  await page.getByLabel('Interval').selectOption({ label: '1 hour' })
  await page.getByRole('dialog').getByRole('button', { name: 'Set up sync' }).click()
  const sync = page.getByRole('region', { name: 'Sync' })
  await sync.getByText('Disabled', { exact: true }).waitFor()
  await sync.getByText('Complete until').waitFor()
  await sync.getByText('None yet').waitFor()
  expect(await breaches(page)).toEqual([])
  const { data } = await ask<{ data: { id: string; name: string; sync: unknown }[] }>('GET', '/v1/integrations')
  const made = data.find(({ name }) => name === 'Night shift')
  expect(made?.sync).toMatchObject({ enabled: false, intervalMinutes: 60, lookbackDays: 7, apiBaseUrl: null })

  const members = await open(address.pathname + new URL(page.url()).search, 'member')
  await members.getByText('Complete until').waitFor()
  expect(await members.getByRole('region', { name: 'Sync' }).getByRole('button', { name: 'Edit' }).count()).toBe(0)

  await sync.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete sync' }).click()
  await page.getByRole('heading', { name: 'No sync yet' }).waitFor()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete connection' }).click()
  await page.getByRole('heading', { name: 'No connections yet' }).waitFor()
})

it('proposes, approves, tests, and deletes a webhook endpoint', async () => {
  const members = await open('/settings/webhooks', 'member')
  await members.getByRole('button', { name: 'Propose endpoint' }).click()
  await members.getByLabel('Name').fill('Warehouse')
  await members.getByLabel('URL').fill('http://hooks.example.com')
  await members.getByLabel('Finding created').check()
  await members.getByRole('dialog').getByRole('button', { name: 'Propose endpoint' }).click()
  await expect.poll(() => members.getByLabel('URL').getAttribute('aria-invalid')).toBe('true')
  expect(await breaches(members)).toEqual([])
  await members.getByLabel('URL').fill('https://hooks.example.com/earshot')
  await members.getByRole('dialog').getByRole('button', { name: 'Propose endpoint' }).click()
  await members.getByText(/^whsec_/).waitFor()
  await members.getByRole('button', { name: 'Done' }).click()
  await members.getByText('Awaiting approval').waitFor()
  expect(await members.getByRole('button', { name: 'Approve endpoint' }).count()).toBe(0)

  const page = await open(new URL(members.url()).pathname + new URL(members.url()).search, 'owner')
  await page.getByRole('button', { name: 'Approve endpoint' }).click()
  await page.getByRole('button', { name: 'Send test event' }).click()
  await page.getByRole('button', { name: /^Inspect/ }).click()
  const dialog = page.getByRole('dialog', { name: 'Delivery' })
  await dialog.getByText('webhook.test').first().waitFor()
  expect(await breaches(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('button', { name: 'Rotate secret' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
  await page.getByText(/^whsec_/).waitFor()
  await page.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('button', { name: 'Disable' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Disable endpoint' }).click()
  await page.getByText('Disabled: by an admin').waitFor()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete endpoint' }).click()
  await page.getByRole('region', { name: 'Webhooks' }).waitFor()
})

it('shows the audit log', async () => {
  const page = await open('/settings/profile', 'owner')
  const link = page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Audit log' })
  await link.waitFor()
  // The log is opened immediately, because it only shows the latest events and other tests create some, too.
  await ask('POST', '/v1/agent-groups', { name: 'Audited' })
  await link.click()
  const table = page.getByRole('region', { name: 'Audit log' }).last()
  await table.getByText('agentGroup.create').first().waitFor()
  await table
    .getByText(/Olga Owner/)
    .first()
    .waitFor()
  await table.getByText('Agent group Audited').first().waitFor()
  await page.getByLabel('Resource').selectOption('Experiment')
  await table.getByText('experiment.launch').first().waitFor()
  await expect.poll(() => table.getByText('agentGroup.create').count()).toBe(0)
  await page.waitForURL(/about=experiment/)
  await page.getByLabel('To', { exact: true }).fill('2020-01-01')
  await page.getByText('No changes match').waitFor()
})

it('measures stored recordings again, and shows how many', async () => {
  const page = await open('/settings/organization', 'owner')
  const runs = page.getByRole('region', { name: 'Stored recordings' })
  await runs.getByRole('button', { name: 'Measure unmeasured recordings' }).click()
  await runs.getByText(/\d recordings? measured/).waitFor({ timeout: 60_000 })
  await runs.getByRole('button', { name: 'Measure all recordings' }).waitFor()
  expect(await breaches(page)).toEqual([])
  const viewer = await open('/settings/organization', 'viewer')
  const seen = viewer.getByRole('region', { name: 'Stored recordings' })
  await seen.getByText(/\d recordings? measured/).waitFor()
  expect(await seen.getByRole('button').count()).toBe(0)
})

it('sets how recordings are redacted', async () => {
  const page = await open('/settings/organization', 'owner')
  await page.getByLabel('Recording redaction').selectOption({ label: 'None' })
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Settings saved').waitFor()
  await page.reload()
  await expect.poll(() => page.getByLabel('Recording redaction').inputValue()).toBe('none')
  expect((await ask('GET', '/v1/organization')).soundRedaction).toBe('none')
  await ask('PATCH', '/v1/organization', { soundRedaction: null })
})
