import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { expect, inject, it } from 'vitest'
import { ask, breaches, monitorId, open, quiet, yesterday } from './browser.ts'
import { sessionOf } from './people.ts'

it('lists conversations, shows the filter in words, and keeps it in the URL', async () => {
  const page = await open('/conversations', 'viewer')
  const grid = page.getByRole('grid', { name: 'Conversations' })
  await grid.getByRole('row').nth(5).waitFor()
  await page.getByText(/^1,5\d\d conversations$/).waitFor()
  await page.keyboard.press('f')
  await page.keyboard.type('chats')
  await page.getByRole('option', { name: 'channel: chats' }).waitFor()
  expect(await breaches(page)).toEqual([])
  await page.keyboard.press('Enter')
  await page.getByText(/conversations .*chat/i).waitFor()
  await page.reload()
  await page.getByText(/conversations .*chat/i).waitFor()
  expect(new URL(page.url()).searchParams.get('filter')).toBe('{"channels":["chat"]}')
  expect(await breaches(page)).toEqual([])
})

it('moves between rows by keyboard with the panel open', async () => {
  const page = await open('/conversations', 'member')
  await page.getByRole('grid', { name: 'Conversations' }).getByRole('row').nth(5).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await page.getByRole('complementary', { name: 'Selected conversation' }).waitFor()
  const selected = page.locator('[role=row][aria-selected=true]')
  await expect.poll(() => selected.getAttribute('aria-rowindex')).toBe('3')
  await page.keyboard.press('Escape')
  await page.getByRole('complementary', { name: 'Selected conversation' }).waitFor({ state: 'detached' })
})

const filterIn = (page: Page) => JSON.parse(new URL(page.url()).searchParams.get('filter') ?? '{}')

it('adds, edits, excludes, and removes conditions by keyboard, with suggestions and their counts', async () => {
  const page = await open('/conversations', 'viewer')
  await page.getByRole('grid', { name: 'Conversations' }).getByRole('row').nth(5).waitFor()
  const field = page.getByRole('combobox', { name: 'Add filter' })
  await page.keyboard.press('f')
  await page.keyboard.type('pla')
  await page.getByRole('option', { name: /^plan is … ?[\d,]+$/ }).waitFor()
  await page.keyboard.press('Tab')
  expect(await field.inputValue()).toBe('plan is ')
  await page.getByRole('option', { name: /^plan is basic ?\d+/ }).waitFor()
  await page.keyboard.type('gold')
  await page.keyboard.press('Enter')
  await page.waitForURL(/gold/)
  expect(filterIn(page)).toEqual({ metadata: [{ key: 'plan', op: 'eq', value: 'gold' }] })
  await page.keyboard.type('duration > 1 min')
  await page.keyboard.press('Enter')
  await page.waitForURL(/minDurationSeconds/)
  await page.keyboard.type('not affected: asks for a person')
  await page.keyboard.press('Enter')
  await page.waitForURL(/not_affected/)
  await page.keyboard.type('not direction: outbound')
  await page.keyboard.press('Enter')
  await page.waitForURL(/exclude/)
  expect(filterIn(page)).toMatchObject({ minDurationSeconds: 60, exclude: { directions: ['outbound'] } })
  await page.getByText(/except outbound$/).waitFor()
  expect(await breaches(page)).toEqual([])
  await page.getByRole('button', { name: 'Edit duration ≥ 1 min' }).press('Enter')
  await page.getByRole('combobox', { name: 'Edit filter duration ≥ 1 min' }).fill('duration > 2 min')
  await page.keyboard.press('Enter')
  await page.waitForURL(/minDurationSeconds%22%3A120/)
  await page.getByRole('button', { name: 'Exclude plan is gold' }).press('Enter')
  await page.waitForURL((url) => filterIn(page).metadata === undefined && url.search.includes('gold'))
  expect(filterIn(page).exclude).toEqual({
    anyOf: [{ directions: ['outbound'] }, { metadata: [{ key: 'plan', op: 'eq', value: 'gold' }] }],
  })
  await page.getByRole('button', { name: 'Remove not direction: outbound' }).press('Enter')
  await page.getByText(/except where plan is “gold”$/).waitFor()
  await page.reload()
  await page.getByRole('button', { name: 'Edit not plan is gold' }).waitFor()
})

it('filters by measures of recordings', async () => {
  const page = await open('/conversations', 'viewer')
  await page.getByRole('grid', { name: 'Conversations' }).getByRole('row').nth(5).waitFor()
  await page.keyboard.press('f')
  await page.keyboard.type('sound Agent response time, p95 > 0.2 s')
  await page.getByRole('option', { name: /^sound Agent response time, p95 is greater than 0.2 s/ }).waitFor()
  expect(await breaches(page)).toEqual([])
  await page.keyboard.press('Enter')
  await page.waitForURL(/responseMs/)
  expect(filterIn(page)).toEqual({ sound: [{ name: 'responseMs.agent.p95', op: 'gt', value: 200 }] })
  await page.getByRole('grid', { name: 'Conversations' }).getByRole('row').nth(2).waitFor()
  await page.reload()
  await page.getByRole('button', { name: 'Edit sound Agent response time, p95 is greater than 0.2 s' }).press('Enter')
  await page
    .getByRole('combobox', { name: 'Edit filter sound Agent response time, p95 is greater than 0.2 s' })
    .fill('sound Dropouts > 0')
  await page.keyboard.press('Enter')
  await page.waitForURL(/dropouts/)
  expect(filterIn(page)).toEqual({ sound: [{ name: 'dropouts', op: 'gt', value: 0 }] })
  await page.getByRole('button', { name: 'Remove sound Dropouts is greater than 0' }).press('Enter')
  await page.waitForURL((url) => !url.search.includes('dropouts'))
})

it('has alternatives, and searches while typing', async () => {
  const page = await open('/conversations', 'viewer')
  await page.getByRole('grid', { name: 'Conversations' }).getByRole('row').nth(5).waitFor()
  await page.getByRole('combobox', { name: 'Add filter' }).fill('channel: chats')
  await page.keyboard.press('Enter')
  await page.keyboard.type('or channel: voicemail')
  await page.keyboard.press('Enter')
  await page.getByText(/either chats or voicemails$/).waitFor()
  expect(filterIn(page)).toEqual({ anyOf: [{ channels: ['chat'] }, { channels: ['voicemail'] }] })
  expect(await breaches(page)).toEqual([])
  await page.getByRole('searchbox', { name: 'Search transcripts' }).pressSequentially('please')
  await page.getByText(/mentioning “please”/).waitFor()
  expect(filterIn(page).text).toBe('please')
})

it('filters on a narrow screen', async () => {
  const page = await open('/conversations', 'viewer', { viewport: { width: 320, height: 640 } })
  await page.getByRole('combobox', { name: 'Add filter' }).fill('chats')
  await page.getByRole('option', { name: 'channel: chats' }).click()
  await page.getByRole('button', { name: 'Edit channel: chats' }).waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320)
  expect(await breaches(page)).toEqual([])
})

it('scrolls to the row in the URL', async () => {
  // Conversations from other tests would move the rows.
  const filter = encodeURIComponent(JSON.stringify({ until: yesterday }))
  const page = await open(`/conversations?filter=${filter}`, 'viewer')
  const grid = page.getByRole('grid', { name: 'Conversations' })
  await grid.getByRole('row').nth(5).waitFor()
  for (let row = 0; row < 60; row++) await page.keyboard.press('j')
  const selected = page.locator('[role=row][aria-selected=true]')
  await expect.poll(() => selected.getAttribute('aria-rowindex')).toBe('61')
  await page.waitForURL(/open=/)
  await page.reload()
  await expect.poll(() => selected.getAttribute('aria-rowindex')).toBe('61')
  await grid.press('Enter')
  await page.waitForURL(/\/conversations\/[0-9a-f-]+/)
  await page.goBack()
  await expect.poll(() => selected.getAttribute('aria-rowindex')).toBe('61')
})

it('shows the page if the URL is incomplete', async () => {
  const filter = encodeURIComponent(JSON.stringify({ monitors: 5, channels: ['chat'] }))
  const page = await open(`/conversations?filter=${filter}&open=5`, 'viewer')
  await page.getByText(/conversations .*chat/i).waitFor()
})

it('exports exactly the list: its filter, columns, and order', async () => {
  const monitors = [{ id: await monitorId('Tool failed'), result: 'affected' }]
  const filter = { until: yesterday, monitors, exclude: { channels: ['chat'] } }
  const state = {
    filter,
    columns: [{ key: 'durationSeconds' }, { key: 'affected' }],
    sort: { by: 'durationSeconds', direction: 'asc' },
  }
  const search = Object.entries(state).map(([name, value]) => `${name}=${encodeURIComponent(JSON.stringify(value))}`)
  const page = await open(`/conversations?${search.join('&')}`, 'viewer')
  await page.getByRole('button', { name: 'Export', exact: true }).click()
  expect(await breaches(page)).toEqual([])
  await page.getByRole('menuitem', { name: 'JSON Lines' }).click()
  const row = page
    .getByRole('row')
    .filter({ hasText: 'affected: Tool failed' })
    .filter({ hasText: 'not channel: chats' })
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    row.getByRole('link', { name: 'Download' }).first().click(),
  ])
  const lines = (await readFile(await download.path(), 'utf8')).trim().split('\n')
  const rows = lines.map((line) => JSON.parse(line) as { conversation_id: string; affected: string[] })
  const body = { filter, sort: state.sort, limit: 200 }
  const { data } = await ask<{ data: { id: string }[] }>('POST', '/v1/conversations/search', body)
  expect(rows.length).toBeGreaterThan(5)
  expect(rows.slice(0, data.length).map((each) => each.conversation_id)).toEqual(data.map(({ id }) => id))
  expect(Object.keys(rows[0] ?? {})).toEqual(['conversation_id', 'duration_seconds', 'affected'])
  expect(rows.every(({ affected }) => affected.includes('Tool failed'))).toBe(true)
})

it('changes the export of a list before it is created', async () => {
  const page = await open('/conversations', 'viewer')
  await page.getByRole('button', { name: 'Export', exact: true }).click()
  await page.getByRole('menuitem', { name: 'More options…' }).click()
  await page.getByRole('heading', { level: 1, name: 'New export' }).waitFor()
  await page.getByRole('combobox', { name: 'Add filter' }).fill('last 30 days')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Edit started: last 30 days' }).waitFor()
  await page.getByRole('button', { name: 'Choose columns' }).click()
  await page.getByRole('button', { name: 'Remove Status' }).click()
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByLabel('Include transcripts').check()
  await page.getByRole('radio', { name: 'JSON Lines' }).check()
  const preview = page.getByRole('region', { name: 'Preview', exact: true })
  await preview.getByRole('columnheader', { name: 'transcript' }).waitFor()
  expect(await preview.getByRole('columnheader', { name: 'status' }).count()).toBe(0)
  // The preview is faint until the last change applies to it.
  await quiet(page)
  expect(await breaches(page)).toEqual([])
  await page.reload()
  expect(await page.getByRole('radio', { name: 'JSON Lines' }).isChecked()).toBe(true)
  await page.getByRole('button', { name: 'Edit started: last 30 days' }).waitFor()
  await page.getByRole('button', { name: 'Create export' }).click()
  await page.getByRole('row').filter({ hasText: 'started: last 30 days' }).first().waitFor()
})

it('filters by a relative period', async () => {
  const page = await open('/conversations', 'viewer')
  const field = page.getByRole('combobox', { name: 'Add filter' })
  await field.fill('last 30 days')
  await page.keyboard.press('Enter')
  await page.getByText('started in the last 30 days').waitFor()
  await page.reload()
  await page.getByText('started in the last 30 days').waitFor()
  await page.getByRole('button', { name: 'Edit started: last 30 days' }).click()
  await page.getByRole('combobox', { name: 'Edit filter' }).fill('started: from 2020-01-01')
  await page.keyboard.press('Enter')
  await page.getByText(/started since/).waitFor()
  await page.getByRole('button', { name: 'Edit started: from 2020-01-01 00:00' }).waitFor()
})

it('saves a view, updates it, renames it, and deletes it', async () => {
  const page = await open('/conversations?filter=%7B%22channels%22%3A%5B%22chat%22%5D%7D', 'member')
  const tabs = page.getByRole('navigation', { name: 'Saved views' })
  await page.getByRole('button', { name: 'Save view' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Chats of today')
  await dialog.getByLabel('Share with organization').uncheck()
  await dialog.getByRole('button', { name: 'Save view' }).click()
  await tabs.getByRole('link', { name: 'Personal Chats of today' }).waitFor()
  await page.getByRole('searchbox', { name: 'Search transcripts' }).fill('refund')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Update view' }).click()
  await page.getByRole('button', { name: 'Update view' }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'More actions for view Chats of today' }).click()
  await page.getByRole('menuitem', { name: 'Share with organization' }).click()
  await tabs.getByRole('link', { name: 'Chats of today', exact: true }).waitFor()
  const { data } = await ask<{ data: { name: string; filter: unknown }[] }>('GET', '/v1/saved-views')
  const kept = data.find(({ name }) => name === 'Chats of today')
  expect(kept?.filter).toEqual({ channels: ['chat'], text: 'refund' })
  await page.getByRole('button', { name: 'More actions for view Chats of today' }).click()
  await page.getByRole('menuitem', { name: 'Rename…' }).click()
  await dialog.getByLabel('Name').fill('Refund chats')
  await dialog.getByRole('button', { name: 'Rename' }).click()
  await tabs.getByRole('link', { name: 'Refund chats' }).waitFor()
  await page.getByRole('button', { name: 'More actions for view Refund chats' }).click()
  await page.getByRole('menuitem', { name: 'Delete view…' }).click()
  await dialog.getByRole('button', { name: 'Delete view' }).click()
  await tabs.getByRole('link', { name: 'Refund chats' }).waitFor({ state: 'detached' })
})

it('shows the monitors that affect a conversation, and sorts by a click on a header', async () => {
  const page = await open('/conversations', 'viewer')
  const grid = page.getByRole('grid', { name: 'Conversations' })
  await grid.getByRole('row').nth(5).waitFor()
  const waiting = { monitors: [{ id: await monitorId('Left waiting'), result: 'affected' }] }
  await page.goto(new URL(`/conversations?filter=${encodeURIComponent(JSON.stringify(waiting))}`, page.url()).href)
  await grid.getByText('Left waiting').first().waitFor()
  await page.goto(new URL('/conversations', page.url()).href)
  const header = grid.getByRole('columnheader', { name: 'Duration' })
  // Other tests add conversations, so the first conversation is the first one in the page's own response.
  const firstAfter = async (direction: 'asc' | 'desc', act: () => Promise<unknown>) => {
    const sorted = page.waitForResponse((response) => {
      const body = response.url().endsWith('/v1/conversations/search') && response.request().postDataJSON()
      return body?.sort?.by === 'durationSeconds' && body.sort.direction === direction
    })
    await act()
    const { data } = await (await sorted).json()
    await grid.locator(`#row-${data[0].id}[aria-rowindex="2"]`).waitFor()
  }
  await firstAfter('desc', () => header.getByRole('button').click())
  expect(await header.getAttribute('aria-sort')).toBe('descending')
  await firstAfter('asc', () => header.getByRole('button').press('Enter'))
  expect(await header.getAttribute('aria-sort')).toBe('ascending')
  await firstAfter('asc', () => page.reload())
  expect(await breaches(page)).toEqual([])
})

it('adds, moves, resizes, and removes columns by keyboard, and keeps them in the URL and a view', async () => {
  const page = await open('/conversations', 'member')
  const grid = page.getByRole('grid', { name: 'Conversations' })
  await grid.getByRole('row').nth(5).waitFor()
  await page.getByRole('button', { name: 'Choose columns' }).press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Columns' })
  const add = async (words: string) => {
    await dialog.getByRole('combobox', { name: 'Add column' }).fill(words)
    await page.getByRole('option', { name: words }).first().waitFor()
    await page.keyboard.press('Enter')
    await dialog
      .getByRole('listitem')
      .filter({ hasText: words.split(': ').at(-1) ?? words })
      .waitFor()
  }
  await add('First words')
  await add('Metadata: plan')
  await add('Result: Tool failed')
  await add('Signal: Longest silence')
  await dialog.getByRole('button', { name: 'Move plan left' }).press('Enter')
  await dialog.getByRole('button', { name: 'Remove Company' }).press('Enter')
  await dialog.getByLabel('Width of First words in pixels').fill('300')
  await page.keyboard.press('Tab')
  await page.waitForURL(/width/)
  expect(await breaches(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Done' }).click()
  const headers = () => grid.getByRole('columnheader').allInnerTexts()
  const wanted = [
    'Channel',
    'Started',
    'Agent',
    'Affected',
    'Customer',
    'Duration',
    'End reason',
    'Status',
    'plan',
    'First words',
    'Tool failed',
    'Longest silence',
  ]
  const named = async () => (await headers()).map((text) => text.trim()).filter(Boolean)
  await expect.poll(named).toEqual(wanted)
  await page.reload()
  // The names of monitors can arrive after the rows.
  await expect.poll(named).toEqual(wanted)
  await grid.getByRole('row').nth(5).waitFor()
  expect((await grid.getByRole('columnheader', { name: 'First words' }).boundingBox())?.width).toBe(300)
  expect(await breaches(page)).toEqual([])
  await page.getByRole('button', { name: 'Save view' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('With plans')
  await page.getByRole('dialog').getByRole('button', { name: 'Save view' }).click()
  await page.getByRole('link', { name: 'All conversations' }).click()
  await expect.poll(async () => (await headers()).join()).not.toContain('plan')
  await page.getByRole('link', { name: 'With plans' }).click()
  await expect.poll(async () => (await headers()).join()).toContain('plan')
  const { data } = await ask<{ data: { id: string; name: string; columns: { key: string }[] }[] }>(
    'GET',
    '/v1/saved-views',
  )
  const saved = data.find(({ name }) => name === 'With plans')
  expect(saved?.columns.map(({ key }) => key)).toContain('metadata:plan')
  await ask('DELETE', `/v1/saved-views/${saved?.id}`)
})

it('drags a column to another position and to another width', async () => {
  const page = await open('/conversations', 'viewer')
  const grid = page.getByRole('grid', { name: 'Conversations' })
  await grid.getByRole('row').nth(5).waitFor()
  const header = (name: string) => grid.getByRole('columnheader', { name })
  await header('Duration').locator('div').first().dragTo(header('Agent').locator('div').first())
  await page.waitForURL(/columns=/)
  const names = async () => (await grid.getByRole('columnheader').allInnerTexts()).join()
  await expect.poll(names).toMatch(/Duration.*Agent/)
  const handle = header('Customer').locator('div > span').last()
  const box = await handle.boundingBox()
  if (!box) throw new Error('The handle is not visible')
  await page.mouse.move(box.x + 3, box.y + 5)
  await page.mouse.down()
  await page.mouse.move(box.x + 83, box.y + 5, { steps: 4 })
  await page.mouse.up()
  await page.waitForURL(/width/)
})

it('selects rows by checkbox, with shift, and by keyboard, and adds them to a bucket', async () => {
  const page = await open('/conversations', 'member')
  const grid = page.getByRole('grid', { name: 'Conversations' })
  await grid.getByRole('row').nth(8).waitFor()
  const checks = grid.getByRole('checkbox')
  await checks.nth(1).click()
  await checks.nth(4).click({ modifiers: ['Shift'] })
  const selected = page.getByRole('region', { name: 'Selected rows' })
  await selected.getByText('4 conversations selected').waitFor()
  await selected.getByRole('button', { name: 'Clear selection' }).click()
  await selected.waitFor({ state: 'detached' })
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  await grid.focus()
  await page.keyboard.press('Shift+ArrowDown')
  await page.keyboard.press('Shift+ArrowDown')
  await selected.getByText('3 conversations selected').waitFor()
  await selected.getByRole('button', { name: 'Add to bucket' }).click()
  await page.getByRole('dialog', { name: 'Add to bucket' }).waitFor()
  expect(await breaches(page)).toEqual([])
  await page.keyboard.press('Escape')
  await page.getByRole('dialog', { name: 'Add to bucket' }).waitFor({ state: 'detached' })
  await page.keyboard.press('Escape')
  await selected.waitFor({ state: 'detached' })
})

it('opens with the default view', async () => {
  const member = { email: 'dora@example.com', name: 'Dora Default', role: 'member' }
  const { invitationUrl } = await ask<{ invitationUrl: string }>('POST', '/v1/members', member)
  const cookie = await sessionOf(inject('origin'), invitationUrl.slice(invitationUrl.indexOf('#') + 1), member.name)
  const page = await open('/sign-in')
  await page.context().addCookies([{ ...cookie, url: inject('origin'), httpOnly: true, sameSite: 'Lax' }])
  await page.goto(`${inject('origin')}/conversations?filter=${encodeURIComponent('{"channels":["voicemail"]}')}`)
  await page.getByRole('button', { name: 'Save view' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Voicemail first')
  await dialog.getByLabel('Share with organization').uncheck()
  await dialog.getByLabel('Open conversations with this view').check()
  await dialog.getByRole('button', { name: 'Save view' }).click()
  await page.getByRole('link', { name: 'Personal Voicemail first Default' }).waitFor()
  await page.goto(`${inject('origin')}/conversations`)
  await page.waitForURL(/voicemail/)
  await page.getByRole('link', { name: 'All conversations' }).click()
  await page.waitForURL(/view=all$/)
  await page.reload()
  await page.getByRole('grid', { name: 'Conversations' }).getByRole('row').nth(5).waitFor()
  expect(page.url()).toMatch(/view=all$/)
})

it('remembers the density of the rows', async () => {
  const page = await open('/conversations', 'viewer')
  await page.getByRole('grid', { name: 'Conversations' }).getByRole('row').nth(5).waitFor()
  await page.getByRole('button', { name: 'Show compact rows' }).click()
  await page.reload()
  const row = page.getByRole('grid', { name: 'Conversations' }).getByRole('row').nth(5)
  await row.waitFor()
  expect((await row.boundingBox())?.height).toBe(27)
  await page.getByRole('button', { name: 'Show taller rows' }).click()
})
