import { expect, it } from 'vitest'
import { ask, breaches, open, origin } from './browser.ts'

type Listed<T = object> = { data: ({ id: string } & T)[] }

const member = async (): Promise<string> => {
  const { data } = await ask<Listed<{ email: string; userId: string }>>('GET', '/v1/members')
  const found = data.find(({ email }) => email === 'member@example.com')
  if (!found) throw new Error('the member is missing')
  return found.userId
}

const assign = async (title: string) => ask('POST', '/v1/findings', { title, assigneeUserId: await member() })

it('shows unread notifications at the bell, and marks them as read', async () => {
  await assign('The greeting is cut off')
  await assign('The opening hours are wrong')
  const page = await open('/notifications', 'member')
  const bell = page.getByRole('link', { name: /^Notifications, \d+ unread$/ })
  await bell.waitFor()
  const row = (title: string) => page.getByRole('row').filter({ hasText: title })
  await row('The greeting is cut off').getByText('Unread').waitFor()
  expect(await breaches(page)).toEqual([])
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await breaches(page, { only: 'colors' })).toEqual([])
  await page.getByRole('button', { name: /^Mark as read: .*greeting/ }).click()
  await row('The greeting is cut off').getByText('Unread').waitFor({ state: 'detached' })
  await page.getByRole('link', { name: /assigned “The opening hours are wrong” to you/ }).click()
  await page.getByRole('heading', { level: 1, name: 'The opening hours are wrong' }).waitFor()
  await page.getByRole('link', { name: /^Notifications/ }).click()
  await row('The opening hours are wrong').getByText('Unread').waitFor({ state: 'detached' })
  await page.getByRole('radio', { name: 'Unread' }).check()
  await page.getByRole('button', { name: 'Mark all as read' }).click()
  await page.getByText('No unread notifications').waitFor()
  await page.getByRole('link', { name: 'Notifications', exact: true }).waitFor()
  await page.getByRole('combobox', { name: 'Kind' }).selectOption('Exports')
  expect(new URL(page.url()).search).toContain('kind=export')
})

it('is empty for a person without notifications', async () => {
  const page = await open('/nowhere', 'viewer')
  // Other tests may have caused notifications.
  const none = { data: [], nextCursor: null, unreadCount: 0 }
  await page.route('**/v1/notifications?*', (route) => route.fulfill({ json: none }))
  await page.goto(`${origin}/notifications`)
  await page.getByText('No notifications yet').waitFor()
})

it('stores preferences with a digest', async () => {
  const page = await open('/settings/notifications', 'viewer')
  const mentions = page.getByRole('group', { name: 'Mentions' })
  await mentions.getByLabel('In the console').uncheck()
  await mentions.getByLabel('Email about mentions').selectOption('Daily digest')
  await page.getByRole('radio', { name: 'All incidents' }).check()
  await page.getByRole('radio', { name: 'Weekly' }).check()
  await page.getByLabel('Time', { exact: true }).fill('07:15')
  await page.getByLabel('Weekday').selectOption('Friday')
  await page.getByRole('combobox', { name: 'Time zone' }).fill('Berlin')
  await page.getByRole('option', { name: 'Europe/Berlin' }).click()
  expect(await breaches(page)).toEqual([])
  await page.getByRole('button', { name: 'Save preferences' }).click()
  await page.getByText('Preferences saved').waitFor()
  await page.reload()
  expect(await mentions.getByLabel('In the console').isChecked()).toBe(false)
  expect(await mentions.getByLabel('Email about mentions').inputValue()).toBe('daily')
  expect(await page.getByLabel('Time', { exact: true }).inputValue()).toBe('07:15')
  expect(await page.getByLabel('Weekday').inputValue()).toBe('friday')
  expect(await page.getByRole('combobox', { name: 'Time zone' }).inputValue()).toBe('Europe/Berlin')
})

/** The tests' browser doesn't show notifications, so this script records them. */
const recorder = `
  window.shown = []
  window.Notification = class {
    static get permission() { return sessionStorage.getItem('permission') ?? 'default' }
    static async requestPermission() {
      sessionStorage.setItem('permission', 'granted')
      return 'granted'
    }
    constructor(title, { body }) { window.shown.push(body) }
  }`

it('asks for browser notifications only on a click, and shows new ones', async () => {
  const page = await open('/companies', 'member')
  await page.addInitScript(recorder)
  await page.goto(new URL('/settings/notifications', page.url()).href)
  const region = page.getByRole('region', { name: 'Browser notifications' })
  await region.getByRole('button', { name: 'Turn on' }).waitFor()
  expect(await page.evaluate('Notification.permission')).toBe('default')
  await region.getByRole('button', { name: 'Turn on' }).click()
  await region.getByText('On', { exact: true }).waitFor()
  expect(await page.evaluate('Notification.permission')).toBe('granted')
  await assign('Shown by the browser')
  await page.reload()
  await expect
    .poll(() => page.evaluate('window.shown'))
    .toEqual([expect.stringContaining('assigned “Shown by the browser” to you.')])
  const streaming = page.waitForResponse((response) => response.url().endsWith('/v1/stream'))
  await page.reload()
  await page.getByRole('link', { name: /^Notifications, \d+ unread$/ }).waitFor()
  expect(await page.evaluate('window.shown')).toEqual([])
  await streaming
  await page.evaluate(`
    Object.defineProperty(document, 'hidden', { value: true })
    document.dispatchEvent(new Event('visibilitychange'))`)
  await assign('Shown while the page is hidden')
  await expect
    .poll(() => page.evaluate('window.shown'))
    .toEqual([expect.stringContaining('assigned “Shown while the page is hidden” to you.')])
  await region.getByRole('button', { name: 'Turn off' }).click()
  expect(await page.evaluate("localStorage.getItem('earshot-browser-notifications')")).toBe(null)
})

it('mentions a member in a comment by keyboard, and notifies them', async () => {
  const finding = await ask<{ id: string }>('POST', '/v1/findings', { title: 'Refunds are promised twice' })
  const page = await open(`/findings/${finding.id}`, 'owner')
  await page.getByRole('button', { name: 'Add comment' }).click()
  const comment = page.getByRole('textbox', { name: 'New comment' })
  await comment.click()
  await page.keyboard.type('Please look, @vi')
  const list = page.getByRole('listbox', { name: 'Members' })
  await list.getByRole('option', { name: 'Vito Viewer' }).waitFor()
  expect(await breaches(page)).toEqual([])
  await page.keyboard.press('Escape')
  await list.waitFor({ state: 'detached' })
  await page.keyboard.type(' and @')
  await expect.poll(() => list.getByRole('option').count()).toBeGreaterThan(1)
  const first = await comment.getAttribute('aria-activedescendant')
  await page.keyboard.press('ArrowDown')
  await expect.poll(() => comment.getAttribute('aria-activedescendant')).not.toBe(first)
  await page.keyboard.press('ArrowUp')
  await page.keyboard.type('mira')
  await expect.poll(() => list.getByRole('option').allInnerTexts()).toEqual(['Mira Member'])
  await page.keyboard.press('Enter')
  await page.keyboard.type('now')
  expect(await comment.innerText()).toBe('Please look, @vi and @Mira Member now')
  await page.keyboard.press('Control+Enter')
  await page.getByText('@Mira Member', { exact: true }).waitFor()
  const inbox = await open('/notifications?kind=mention', 'member')
  await inbox
    .getByRole('link', { name: 'Olga Owner mentioned you in a comment on “Refunds are promised twice”.' })
    .waitFor()
})
