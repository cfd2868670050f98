import { expect, it } from 'vitest'
import { breaches, open, origin } from './browser.ts'

it('makes a key, waits for a conversation, and goes to it when it comes', async () => {
  const page = await open('/start', 'owner')
  await page.getByRole('status').getByText('Waiting for the next conversation').waitFor()
  expect(await breaches(page)).toEqual([])
  await page.getByRole('button', { name: 'Make a key' }).click()
  const key = await page.getByRole('region', { name: 'A key' }).locator('code').innerText()
  expect(key).toMatch(/^ear_\w{38}$/)
  await page.getByRole('tab', { name: 'Python' }).click()
  await page.getByText(`Bearer ${key}`).waitFor()
  await page.reload()
  expect(await page.getByRole('tab', { name: 'Python' }).getAttribute('aria-selected')).toBe('true')
  expect(await page.getByText(key).count()).toBe(0)
  await page.getByRole('status').getByText('Waiting for the next conversation').waitFor()
  await page.getByText('conversations already here').waitFor()

  const sent = await fetch(`${origin}/v1/conversations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      agent: { externalId: 'front-desk', name: 'Front desk', channel: 'voice' },
      channel: 'call',
      startedAt: new Date().toISOString(),
      transcript: [{ role: 'agent', text: 'Hello, how can I help?' }],
    }),
  })
  const { id } = (await sent.json()) as { id: string }
  await page.waitForURL(`${origin}/conversations/${id}`)
})

it('says to those who make no keys who does', async () => {
  const page = await open('/start?way=provider', 'viewer', { theme: 'dark', viewport: { width: 320, height: 700 } })
  await page.getByText('Admins make keys.').waitFor()
  await page.getByText('Admins of your organization make connections.').waitFor()
  expect(await page.getByRole('button', { name: 'Make a key' }).count()).toBe(0)
  expect(await breaches(page)).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
})
