import { expect, it, onTestFinished } from 'vitest'
import { ask, breaches, conversationIds, monitorId, open, refuseOnce } from './browser.ts'

type CreatedFinding = { id: string; title: string }

/** Creates findings that only one test uses, and tags them. */
const file = async (tag: string, titles: string[], more: Record<string, unknown> = {}): Promise<CreatedFinding[]> => {
  const made: CreatedFinding[] = []
  for (const title of titles)
    made.push(await ask<CreatedFinding>('POST', '/v1/findings', { title, tags: [tag], ...more }))
  // Other tests see the demo without these findings.
  onTestFinished(async () => {
    for (const { id } of made) await ask('PATCH', `/v1/findings/${id}`, { tags: [] }).catch(() => undefined)
  })
  return made
}

const paragraph = (text: string) => ({ type: 'paragraph', content: [{ type: 'text', text }] })

it('triages on the board by keyboard', async () => {
  await file('triage', ['First filed', 'Second filed', 'Third filed'])
  const page = await open('/findings?tags=triage', 'member')
  const column = (name: string) => page.getByRole('region', { name, exact: true })
  await column('Open').getByRole('link', { name: 'Third filed' }).waitFor()
  expect(await breaches(page)).toEqual([])
  await page.keyboard.press('j')
  await page.keyboard.press('a')
  await column('Acknowledged').getByRole('link', { name: 'Third filed' }).waitFor()
  // The next finding is selected.
  await page.keyboard.press('1')
  await column('Open')
    .getByRole('article')
    .filter({ hasText: 'Second filed' })
    .getByRole('img', { name: 'Urgent' })
    .waitFor()
  await page.reload()
  const selected = page.locator('[aria-current=true]').and(page.getByRole('article'))
  await selected.getByText('Second filed').waitFor()
  await page.keyboard.press('r')
  await column('Resolved').getByRole('link', { name: 'Second filed' }).waitFor()
  await page.keyboard.press('l')
  await selected.getByText('Third filed').waitFor()
  await page.keyboard.press('i')
  await column('Ignored').getByRole('link', { name: 'Third filed' }).waitFor()
  await page.keyboard.press('h')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'Findings' }).first().waitFor()
  await page.getByRole('complementary', { name: 'About this finding' }).waitFor()
})

it('lists findings, opens one next to the list, and keeps it in the URL', async () => {
  await file('listed', ['Alpha', 'Beta'], { priority: 'high' })
  const page = await open('/findings', 'viewer', { theme: 'dark' })
  await page.getByRole('radio', { name: 'List' }).check()
  await page.getByRole('combobox', { name: 'Priority' }).selectOption('high')
  await page.getByLabel('Tags').fill('listed')
  await page.keyboard.press('Enter')
  const grid = page.getByRole('grid', { name: 'Findings' })
  await grid.getByText('Alpha').click()
  const panel = page.getByRole('region', { name: 'Selected finding' })
  await panel.getByRole('heading', { name: 'Alpha' }).waitFor()
  await page.reload()
  await panel.getByRole('heading', { name: 'Alpha' }).waitFor()
  await expect.poll(() => grid.getByRole('row').count()).toBe(3)
  expect(await breaches(page)).toEqual([])
  await page.getByRole('heading', { name: 'Findings', exact: true }).click()
  await page.keyboard.press('k')
  await panel.getByRole('heading', { name: 'Beta' }).waitFor()
  for (const name of ['Create finding', 'Acknowledge', 'Edit', 'Attach', 'Add comment', 'Add tags']) {
    expect(await page.getByRole('button', { name, exact: true }).count(), name).toBe(0)
  }
})

it('creates a finding with rich text, and shows errors at the fields', async () => {
  const page = await open('/findings', 'member')
  await page.getByRole('button', { name: 'Create finding' }).click()
  const dialog = page.getByRole('dialog', { name: 'Create finding' })
  await dialog.getByLabel('Title').fill('<script>alert(1)</script>')
  const description = page.getByRole('textbox', { name: 'Description' })
  await description.click()
  await page.getByRole('button', { name: 'Bold' }).click()
  await expect.poll(() => page.evaluate('document.activeElement?.ariaLabel')).toBe('Description')
  await page.keyboard.type('Heard twice')
  expect(await breaches(page)).toEqual([])
  await dialog.getByLabel('Tags').fill('x'.repeat(51))
  await page.getByRole('button', { name: 'Create finding' }).click()
  await dialog.getByText('must have at most 50 characters').waitFor()
  expect(await dialog.getByLabel('Tags').getAttribute('aria-invalid')).toBe('true')
  expect(await description.innerText()).toBe('Heard twice')
  await dialog.getByLabel('Tags').fill('filed, by hand')
  await page.getByRole('button', { name: 'Create finding' }).click()
  await page.getByRole('heading', { name: '<script>alert(1)</script>', exact: true }).waitFor()
  await page.getByRole('strong').getByText('Heard twice').waitFor()
  await page.getByRole('link', { name: 'by hand' }).waitFor()
})

it('keeps formatting that the editor cannot create, and only accepts web links', async () => {
  const [finding] = await file('rich', ['Rich'], {
    description: {
      type: 'doc',
      content: [
        { type: 'taskList', content: [{ type: 'taskItem', attrs: { checked: true }, content: [paragraph('Look')] }] },
        { type: 'paragraph', content: [{ type: 'mention', attrs: { id: 'u1', label: 'Ada' } }] },
        { type: 'codeBlock', content: [{ type: 'text', text: '<img src=x onerror=alert(1)>' }] },
      ],
    },
  })
  const page = await open(`/findings/${finding?.id}`, 'member')
  await page.getByText('@Ada').waitFor()
  await page.getByText('<img src=x onerror=alert(1)>').waitFor()
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  const description = page.getByRole('textbox', { name: 'Description' })
  await description.getByText('@Ada').waitFor()
  await page.keyboard.press('Tab')
  await description.focus()
  await page.keyboard.press('Control+End')
  await page.keyboard.type('See there')
  await page.keyboard.press('Shift+Home')
  await page.getByRole('toolbar', { name: 'Formatting' }).last().getByRole('button', { name: 'Link' }).waitFor()
  await page.getByRole('toolbar', { name: 'Formatting' }).first().getByRole('button', { name: 'Link' }).click()
  await page.getByLabel('Link URL').fill('javascript:alert(1)')
  expect(await page.getByRole('button', { name: 'Set link' }).isDisabled()).toBe(true)
  await page.getByLabel('Link URL').fill('https://example.com/policy')
  await page.getByRole('button', { name: 'Set link' }).click()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  const link = page.getByRole('link', { name: 'See there' })
  await link.waitFor()
  expect(await link.getAttribute('href')).toBe('https://example.com/policy')
  const { description: kept } = await ask<{ description: unknown }>('GET', `/v1/findings/${finding?.id}`)
  expect(JSON.stringify(kept)).toContain('"taskItem","attrs":{"checked":true}')
  expect(JSON.stringify(kept)).toContain('"label":"Ada"')
})

it('comments, edits, deletes, attaches, detaches, and changes the status with a reason', async () => {
  const [finding] = await file('worked', ['Worked on'])
  const [conversationId] = await conversationIds(1)
  const page = await open(`/findings/${finding?.id}`, 'member', { theme: 'dark' })
  const comments = page.getByRole('region', { name: 'Comments' })
  await comments.getByRole('button', { name: 'Add comment' }).click()
  await comments.getByRole('textbox', { name: 'New comment' }).click()
  await page.keyboard.type('I look at it')
  await page.keyboard.press('Control+Enter')
  await comments.getByRole('listitem').getByText('I look at it').waitFor()
  await comments.getByRole('button', { name: 'Edit comment by Mira Member' }).click()
  await comments.getByRole('textbox', { name: 'Edit comment' }).click()
  await page.keyboard.press('End')
  await page.keyboard.type(' today')
  await comments.getByRole('button', { name: 'Save comment' }).click()
  await comments.getByText('I look at it today').waitFor()
  await comments.getByText(', edited').waitFor()
  await comments.getByRole('button', { name: 'Delete comment by Mira Member' }).click()
  await page.getByRole('button', { name: 'Delete comment', exact: true }).click()
  await comments.getByRole('listitem').waitFor({ state: 'detached' })

  const attached = page.getByRole('region', { name: 'Conversations' })
  await attached.getByLabel('Conversation to attach').fill('nothing')
  await attached.getByRole('button', { name: 'Attach' }).click()
  await attached.getByRole('alert').waitFor()
  expect(await attached.getByLabel('Conversation to attach').inputValue()).toBe('nothing')
  await attached.getByLabel('Conversation to attach').fill(`http://somewhere/conversations/${conversationId}`)
  await attached.getByRole('button', { name: 'Attach' }).click()
  await attached.getByText('1 conversation', { exact: true }).waitFor()
  expect(await breaches(page)).toEqual([])
  await attached.getByRole('button', { name: /^Detach conversation/ }).click()
  await attached.getByText('No conversations yet').waitFor()

  await page.getByLabel('Reason').fill('Two customers called.')
  await page.getByRole('button', { name: 'Resolve' }).click()
  const history = page.getByRole('region', { name: 'History' })
  await history.getByText('Mira Member changed the status from open to resolved').waitFor()
  await history.getByText('Two customers called.').waitFor()
})

it('merges a finding into another, which then shows both', async () => {
  await file('merged', ['Stays', 'Goes'])
  const page = await open('/findings?layout=list&tags=merged', 'member', { viewport: { width: 320, height: 700 } })
  await page.getByRole('grid', { name: 'Findings' }).getByText('Goes').click()
  await page.getByRole('link', { name: 'Open full page' }).click()
  await page.getByRole('button', { name: 'Merge finding' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Merge finding' }).click()
  await page.getByRole('alert').getByText('Choose a finding to merge into.').waitFor()
  await page.getByRole('combobox', { name: 'Merge into' }).fill('Stays')
  await page.getByRole('option', { name: 'Stays', exact: true }).click()
  expect(await breaches(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Merge finding' }).click()
  await page.getByRole('heading', { name: 'Stays', exact: true }).waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
  await page.getByRole('region', { name: 'History' }).getByText('merged this finding into another').waitFor()
  await page.getByRole('link', { name: '(merged finding)' }).click()
  await page.getByText('This finding was merged and is closed.').waitFor()
  expect(await page.getByRole('button', { name: 'Acknowledge' }).count()).toBe(0)
})

it('loads long lists page by page', async () => {
  await file(
    'many',
    Array.from({ length: 120 }, (_, at) => `Finding ${at + 1} of many`),
  )
  const page = await open('/findings?tags=many', 'viewer')
  const column = page.getByRole('region', { name: 'Open', exact: true })
  await column.getByText('50+').waitFor()
  await column.getByRole('button', { name: 'Show more' }).click()
  await column.getByText('100+').waitFor()
  await page.getByRole('radio', { name: 'List' }).check()
  const grid = page.getByRole('grid', { name: 'Findings' })
  await grid.getByText('Finding 120 of many').waitFor()
  await expect
    .poll(async () => {
      await grid.hover()
      await page.mouse.wheel(0, 4_000)
      return grid.getByText('Finding 1 of many').count()
    })
    .toBe(1)
  expect(await grid.getByRole('row').count()).toBeLessThan(90)
})

it('keeps rejected tags in the field', async () => {
  const [made] = await file('kept', ['Tagged'])
  const page = await open(`/findings/${made?.id}`, 'member')
  await page.route('**/v1/findings/*', refuseOnce('PATCH'))
  await page.getByRole('button', { name: 'Edit tags' }).click()
  const tags = page.getByLabel('Tags, separated by commas')
  await tags.fill('kept, refund')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('Too much at once.').waitFor()
  expect(await tags.inputValue()).toBe('kept, refund')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'refund' }).waitFor()
})

it('shows rejections where they happen, and what to do if nothing matches', async () => {
  const page = await open('/findings?layout=list&tags=of+nobody', 'member')
  await page.getByRole('heading', { name: 'No findings match' }).waitFor()
  expect(await breaches(page)).toEqual([])
  const [finding] = await file('refused', ['Refused'])
  await page.goto(`${new URL(page.url()).origin}/findings/${finding?.id}`)
  await page.route('**/triage', (route) =>
    route.fulfill({ status: 409, json: { error: 'conflict', message: 'Somebody was faster.' } }),
  )
  await page.getByRole('textbox', { name: 'Reason' }).fill('My reason')
  await page.getByRole('button', { name: 'Ignore' }).click()
  await page.getByRole('alert').getByText('Somebody was faster.').waitFor()
  expect(await page.getByRole('textbox', { name: 'Reason' }).inputValue()).toBe('My reason')
})

it('links from a spike to its monitor', async () => {
  const [finding] = await file('spike', ['It rose'])
  const id = await monitorId('Tool failed')
  const page = await open('/findings', 'viewer')
  await page.route(`**/v1/findings/${finding?.id}`, async (route) => {
    const answer = await route.fetch()
    const source = { kind: 'monitor', id }
    await route.fulfill({ response: answer, json: { ...(await answer.json()), findingType: 1, source } })
  })
  await page.goto(`${new URL(page.url()).origin}/findings/${finding?.id}`)
  const about = page.getByRole('complementary', { name: 'About this finding' })
  await about.getByText('Monitor spike').waitFor()
  await about.getByRole('link', { name: 'Tool failed' }).click()
  await page.waitForURL(`**/monitors/${id}`)
})

it.each(['light', 'dark'] as const)('is accessible on a narrow screen in the %s theme', async (theme) => {
  const [finding] = await file('narrow', ['Narrow'])
  const page = await open('/findings?tags=narrow', 'owner', { theme, viewport: { width: 320, height: 700 } })
  await page.getByRole('link', { name: 'Narrow' }).waitFor()
  expect(await breaches(page)).toEqual([])
  await page.goto(`${new URL(page.url()).origin}/findings?layout=list&tags=narrow`)
  await page.getByRole('grid', { name: 'Findings' }).getByText('Narrow').waitFor()
  expect(await breaches(page)).toEqual([])
  await page.keyboard.press('j')
  await page.getByRole('region', { name: 'Selected finding' }).getByRole('heading', { name: 'Narrow' }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/findings/${finding?.id}`)
  await page.getByRole('heading', { level: 1, name: 'Narrow' }).waitFor()
  await page.keyboard.press('c')
  await page.getByRole('textbox', { name: 'New comment' }).waitFor()
  expect(await breaches(page)).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
})

it('asks before leaving an unsaved comment', async () => {
  const { id } = await ask<{ id: string }>('POST', '/v1/findings', { title: 'A draft' })
  const page = await open(`/findings/${id}`, 'member')
  await page.getByRole('heading', { name: 'A draft' }).first().waitFor()
  await page.keyboard.press('c')
  await page.getByRole('textbox', { name: 'New comment' }).fill('Half a thought')
  await page.getByRole('link', { name: 'Companies' }).click()
  await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Stay' }).click()
  await page.getByText('Half a thought').waitFor()
  // Saved input needs no confirmation, even if the page hasn't reloaded everything.
  await page.route('**/v1/findings/*/history?*', () => undefined)
  await page.getByRole('button', { name: 'Comment', exact: true }).click()
  await page.getByRole('listitem').getByText('Half a thought').waitFor()
  for (const title of ['A better title', 'The best title']) {
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    await page.getByLabel('Title').fill(title)
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('heading', { name: title }).first().waitFor()
  }
  await page.getByRole('link', { name: 'Companies' }).click()
  await page.getByRole('heading', { level: 1, name: 'Companies' }).waitFor()
})

it('shows formatting from other programs, and does not let the editor drop it', async () => {
  const cell = (text: string) => ({ type: 'tableCell', content: [paragraph(text)] })
  const image = { type: 'image', attrs: { src: 'https://cdn.example.com/chart.png', alt: 'Calls by day' } }
  const content = [
    paragraph('Before'),
    image,
    { type: 'table', content: [{ type: 'tableRow', content: [cell('Monday'), cell('12')] }] },
    { type: 'callout', attrs: { kind: 'note' }, content: [paragraph('Ask the carrier')] },
  ]
  const description = { type: 'doc', content }
  const { id } = await ask<{ id: string }>('POST', '/v1/findings', { title: 'Made elsewhere', description })
  const page = await open(`/findings/${id}`, 'member')
  const link = page.getByRole('figure').getByRole('link', { name: 'Image: Calls by day' })
  expect(await link.getAttribute('href')).toBe(image.attrs.src)
  await page.getByRole('cell', { name: 'Monday' }).waitFor()
  await page.getByRole('figure').filter({ hasText: 'callout' }).getByText('Ask the carrier').waitFor()
  expect(await breaches(page)).toEqual([])
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  await page.getByText('formatting that can’t be edited here').waitFor()
  await page.getByLabel('Title').fill('Renamed here')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('heading', { name: 'Renamed here' }).first().waitFor()
  expect((await ask<{ description: object }>('GET', `/v1/findings/${id}`)).description).toEqual(description)
})
