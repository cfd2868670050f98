import { expect, inject, it } from 'vitest'
import { ask, breaches, monitorId, open, yesterday } from './browser.ts'
import { sessionOf } from './people.ts'

it('lists conversations, shows the filter in words, and keeps it in the URL', async () => {
  const page = await open('/conversations', 'viewer')
  const grid = page.getByRole('grid', { name: 'Conversations' })
  await grid.getByRole('row').nth(5).waitFor()
  await page.getByText(/^1,5\d\d conversations$/).waitFor()
  await page.getByRole('button', { name: 'Filter' }).click()
  await page.getByLabel('Channels').fill('Chat')
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

it('adds a metadata condition by keyboard', async () => {
  const page = await open('/conversations', 'viewer')
  await page.getByRole('grid', { name: 'Conversations' }).getByRole('row').nth(5).waitFor()
  await page.keyboard.press('f')
  await page.getByRole('button', { name: 'Add metadata' }).press('Enter')
  const key = page.getByLabel('Key 1', { exact: true })
  await key.focus()
  await page.keyboard.type('plan')
  await page.keyboard.press('Tab')
  await page.waitForURL(/plan/)
  await expect.poll(() => page.evaluate("document.activeElement?.getAttribute('aria-label')")).toBe('Comparison 1')
  await page.keyboard.press('Tab')
  await page.keyboard.type('gold')
  await page.keyboard.press('Enter')
  await page.waitForURL(/gold/)
  expect(JSON.parse(new URL(page.url()).searchParams.get('filter') ?? '')).toEqual({
    metadata: [{ key: 'plan', op: 'eq', value: 'gold' }],
  })
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

it('passes its filter to a new export', async () => {
  const monitors = [{ id: await monitorId('Tool failed'), result: 'affected' }]
  const filter = encodeURIComponent(JSON.stringify({ monitors, since: '2020-01-01T00:00:00Z' }))
  const page = await open(`/conversations?filter=${filter}`, 'viewer')
  await page.getByRole('link', { name: 'Export', exact: true }).click()
  await expect.poll(() => page.getByLabel('Results of Tool failed', { exact: true }).inputValue()).toBe('affected')
  expect(await page.getByLabel('Started from').inputValue()).toBe('2020-01-01T01:00')
})

it('filters by a period that moves with the time, and passes its dates to an export', async () => {
  const page = await open('/conversations', 'viewer')
  await page.getByRole('button', { name: 'Filter', exact: true }).click()
  await page.getByLabel('Started', { exact: true }).selectOption('Last 30 days')
  await page.getByText('started in the last 30 days').waitFor()
  await page.reload()
  await page.getByText('started in the last 30 days').waitFor()
  await page.getByRole('link', { name: 'Export', exact: true }).click()
  const from = await page.getByLabel('Started from').inputValue()
  expect(Math.round((Date.now() - Date.parse(from)) / 86_400_000)).toBe(30)
  await page.goBack()
  await page.getByRole('button', { name: 'Filter', exact: true }).click()
  await page.getByLabel('Started', { exact: true }).selectOption('Dates…')
  await page.getByLabel('Started from').fill('2020-01-01T00:00')
  await page.getByText(/started since/).waitFor()
  expect(await page.getByLabel('Started', { exact: true }).inputValue()).toBe('dates')
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
  await grid.getByText('Asks for a person').first().waitFor()
  const header = grid.getByRole('columnheader', { name: 'Duration' })
  await header.getByRole('button').click()
  await expect.poll(() => header.getAttribute('aria-sort')).toBe('descending')
  const firstIs = async (direction: 'asc' | 'desc') => {
    const body = { filter: {}, limit: 1, sort: { by: 'durationSeconds', direction } }
    const { data } = await ask<{ data: { id: string }[] }>('POST', '/v1/conversations/search', body)
    await grid.locator(`#row-${data[0]?.id}[aria-rowindex="2"]`).waitFor()
  }
  await firstIs('desc')
  await header.getByRole('button').press('Enter')
  await expect.poll(() => header.getAttribute('aria-sort')).toBe('ascending')
  await firstIs('asc')
  await page.reload()
  await firstIs('asc')
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
  await expect.poll(async () => (await headers()).map((text) => text.trim()).filter(Boolean)).toEqual(wanted)
  await page.reload()
  await grid.getByRole('row').nth(5).waitFor()
  expect((await headers()).map((text) => text.trim()).filter(Boolean)).toEqual(wanted)
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

it('drags a column to another place and to another width', async () => {
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
