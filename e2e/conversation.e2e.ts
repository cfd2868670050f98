import type { Page } from 'playwright-core'
import { expect, inject, it } from 'vitest'
import { soundOf } from '../server/demo/recording.ts'
import { speak, toMp3 } from '../test/support/recordings.ts'
import { ask, breaches, open, origin, refuseOnce } from './browser.ts'

type Turn = Record<string, unknown>

const hostile = '<img src=x onerror="document.title=\'run\'"><script>document.title="run"</script>'

const spoken = (role: 'agent' | 'customer', text: string, startMs: number, endMs: number) => ({
  role,
  kind: 'message' as const,
  text,
  startMs,
  endMs,
})

const hello = spoken('agent', 'Hello, how can I help?', 500, 2_000)
const turns = [
  hello,
  spoken('customer', `I want my money back. ${hostile}`, 2_400, 6_000),
  {
    role: 'agent',
    kind: 'tool_call',
    startMs: 6_100,
    tool: { callId: 't1', name: 'refund_order', arguments: { order: '4711' } },
  },
  {
    role: 'tool',
    kind: 'tool_result',
    startMs: 6_440,
    tool: { callId: 't1', name: 'refund_order', result: { error: 'timeout' }, isError: true },
  },
  spoken('agent', 'I am sorry, that did not work. Let me', 9_000, 12_000),
  spoken('customer', 'Can I speak to a real person?', 11_400, 14_000),
  spoken('agent', 'I put you through.', 14_500, 16_000),
]

const send = (transcript: unknown, more: Record<string, unknown> = {}) =>
  ask<{ id: string }>('POST', '/v1/conversations', {
    agent: { externalId: 'e2e', name: 'Eve', channel: 'voice' },
    channel: 'call',
    startedAt: new Date().toISOString(),
    transcript,
    customerId: `of-${crypto.randomUUID().slice(0, 8)}`,
    ...more,
  })

/** Waits for the monitors' results. */
const judged = (id: string) =>
  expect
    .poll(async () => (await ask<{ data: unknown[] }>('GET', `/v1/conversations/${id}/results`)).data.length)
    .toBeGreaterThan(5)

const upload = async (id: string, recording: Buffer, type: string) => {
  const answer = await fetch(`${origin}/v1/conversations/${id}/recording`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${inject('key')}`, 'content-type': type },
    body: new Uint8Array(recording),
  })
  expect(answer.status).toBe(200)
}

const withSound = async () => {
  const { id } = await send(turns)
  const said = turns.flatMap((turn) => ('text' in turn ? [turn] : []))
  const voices = { agent: 'rms', customer: 'slt' } as const
  await upload(id, await soundOf({ turns: said, durationMs: 17_000, voices }), 'audio/wav')
  await judged(id)
  return id
}

const marked = (page: Page) => page.locator('li[data-marked]')
const speedOf = (page: Page) => page.evaluate("document.querySelector('audio')?.playbackRate")
const searchOf = (page: Page) => new URL(page.url()).searchParams

it('plays, follows the recording, jumps between marks, and keeps the position in the URL', async () => {
  const id = await withSound()
  const page = await open(`/conversations/${id}`, 'viewer')
  await page.getByRole('button', { name: 'Play' }).waitFor()
  await page.keyboard.press(' ')
  await page.getByRole('button', { name: 'Pause' }).waitFor()
  await page.locator('li[data-current]', { hasText: 'Hello, how can I help?' }).waitFor()
  await page.keyboard.press(' ')
  await page.getByRole('button', { name: 'Play' }).waitFor()
  await expect.poll(() => Number(searchOf(page).get('at'))).toBeGreaterThan(0.4)

  await page.getByText(/^\d+ marks?$/).waitFor()
  await page.keyboard.press(']')
  await expect.poll(() => searchOf(page).get('turn')).not.toBeNull()
  const place = page.getByRole('slider', { name: 'Playback position' })
  await page.getByText('I put you through.').click()
  await expect.poll(() => searchOf(page).get('turn')).toBe('6')
  await expect.poll(() => place.getAttribute('aria-valuenow')).toBe('14')
  await page.keyboard.press('ArrowLeft')
  await expect.poll(() => place.getAttribute('aria-valuenow')).toBe('9')
  await page.keyboard.press(',')
  await expect.poll(() => searchOf(page).get('at')).toBe('2.4')
  await page.reload()
  await marked(page).getByText('I want my money back.').waitFor()
  await expect.poll(() => place.getAttribute('aria-valuenow')).toBe('2')
  await page.getByLabel('Playback speed').selectOption('1.5')
  await expect.poll(() => speedOf(page)).toBe(1.5)
  // The playback speed is remembered.
  await page.reload()
  await expect.poll(() => speedOf(page)).toBe(1.5)
  await page.keyboard.press('<')
  await expect.poll(() => speedOf(page)).toBe(1.25)
  // Some keyboards need AltGr to type brackets, which sets these modifiers.
  await page.getByText(/^\d+ marks?$/).waitFor()
  const address = page.url()
  await page.evaluate("dispatchEvent(new KeyboardEvent('keydown', { key: ']', ctrlKey: true, altKey: true }))")
  await expect.poll(() => page.url()).not.toBe(address)
})

it('plays from evidence, and shows tool calls, overlap, and slow responses', async () => {
  const id = await withSound()
  const page = await open(`/conversations/${id}`, 'viewer')
  const about = page.getByRole('complementary', { name: 'About this conversation' })
  const first = about.getByRole('region', { name: 'Monitors' }).getByRole('listitem').first()
  await first.getByText('Affected', { exact: true }).first().waitFor()
  await about
    .getByRole('button', { name: /real person/ })
    .first()
    .click()
  await page.getByRole('button', { name: 'Pause' }).waitFor()
  await marked(page).getByText('Can I speak to a').waitFor()
  // The clicked button must not receive the player's keys.
  await page.keyboard.press(' ')
  await page.getByRole('button', { name: 'Play', exact: true }).waitFor()
  await page.getByText('overlaps at 0:11').waitFor()
  await page.locator('summary').getByText('340 ms').waitFor()
  const tool = page.locator('summary', { hasText: 'refund_order' })
  await tool.getByText('failed').waitFor()
  await tool.click()
  await page.getByText('"4711"').waitFor()
  await page.getByText('"timeout"').waitFor()
  await page.getByTitle(/Response time 3 s/).waitFor()
  await page.getByText(hostile, { exact: false }).waitFor()
  expect(await page.title()).toContain('Eve')
  expect(await page.getByRole('button', { name: 'Create finding' }).count()).toBe(0)
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Copy ID' }).click()
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(id)
  expect(await page.getByRole('menuitem', { name: /Erase/ }).count()).toBe(0)
})

it.each(['light', 'dark'] as const)('meets WCAG 2.2 AA (%s) and fits 320 pixels', async (theme) => {
  const id = await withSound()
  const page = await open(`/conversations/${id}?turn=5`, 'member', { theme })
  await marked(page).waitFor()
  await page
    .getByRole('button', { name: /real person/ })
    .first()
    .waitFor()
  await page.locator('summary').first().click()
  expect(await breaches(page)).toEqual([])
  await page.setViewportSize({ width: 320, height: 640 })
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
  await page.getByRole('button', { name: 'Play' }).waitFor()
  expect(await breaches(page)).toEqual([])
})

it('creates a finding from selected words', async () => {
  const { id } = await send(turns)
  await judged(id)
  const page = await open(`/conversations/${id}`, 'member')
  // The page must have highlighted the words already: highlighting them later would remove the selection.
  await page
    .getByRole('button', { name: /real person/ })
    .first()
    .waitFor()
  await page.getByText('Can I speak to a').selectText()
  await page.getByRole('button', { name: 'Create finding' }).nth(1).waitFor()
  await page.keyboard.press('q')
  const form = page.getByRole('dialog', { name: 'Create finding' })
  await form.getByText('Customer at 0:11').waitFor()
  await page.keyboard.press('Enter')
  await form.getByText('Title is required.').waitFor()
  await page.keyboard.type('People ask for people')
  await form.getByLabel('Notes').fill('Again.')
  await form.getByRole('button', { name: 'Create finding' }).click()
  await page.getByRole('link', { name: 'People ask for people' }).waitFor()
  const { data } = await ask<{ data: { id: string; title: string; description: unknown }[] }>(
    ...(['GET', `/v1/conversations/${id}/findings`] as const),
  )
  expect(data).toHaveLength(1)
  expect(JSON.stringify(data[0]?.description)).toContain('speak to a real person')
  expect(JSON.stringify(data[0]?.description)).toContain(`/conversations/${id}?turn=5`)

  const other = await send(turns)
  await page.goto(`${origin}/conversations/${other.id}`)
  await page.getByRole('button', { name: 'Attach to finding' }).click()
  await page.getByLabel('Finding', { exact: true }).fill('People ask')
  await page.getByRole('option', { name: 'People ask for people' }).first().click()
  await page.getByRole('button', { name: 'Attach', exact: true }).click()
  await page.getByRole('link', { name: 'People ask for people' }).waitFor()
})

it('creates a finding once even if attaching it is retried', async () => {
  const { id } = await send(turns)
  const page = await open(`/conversations/${id}`, 'member')
  await page.route('**/v1/findings/*/conversations', refuseOnce())
  await page.getByRole('button', { name: 'Create finding' }).click()
  const form = page.getByRole('dialog', { name: 'Create finding' })
  const title = `Filed once ${id}`
  await form.getByLabel('Title').fill(title)
  await form.getByRole('button', { name: 'Create finding' }).click()
  await form.getByRole('alert').getByText('Too much at once.').waitFor()
  await form.getByRole('button', { name: 'Create finding' }).click()
  await page.getByRole('link', { name: title }).waitFor()
  const { data } = await ask<{ data: { title: string }[] }>('GET', '/v1/findings?limit=200')
  expect(data.filter((finding) => finding.title === title)).toHaveLength(1)
})

it('says what is missing: a recording, timestamps, a known transcript format', async () => {
  const chat = await send([{ role: 'customer', text: 'Hi' }], { channel: 'chat' })
  const page = await open(`/conversations/${chat.id}`, 'viewer')
  await page.getByText('Chats have no recording.').waitFor()
  const asking = await send([{ role: 'customer', text: 'Can I speak to a real person?' }, hello], { channel: 'chat' })
  await judged(asking.id)
  await page.goto(`${origin}/conversations/${asking.id}`)
  // There may be several marks, because another test's monitor searches for a greeting.
  await page.getByText(/^[1-9]\d* marks?$/).waitFor()
  await page.keyboard.press(']')
  await marked(page).getByText('real person').waitFor()
  const strange = await send({ strange: ['form'] })
  await page.goto(`${origin}/conversations/${strange.id}`)
  await page.getByRole('heading', { name: 'Unknown transcript format' }).waitFor()
  await page.getByText('"strange"').waitFor()
  expect(await breaches(page)).toEqual([])
  const silent = await send(undefined)
  await page.goto(`${origin}/conversations/${silent.id}`)
  await page.getByRole('heading', { name: 'No transcript' }).waitFor()
  await page.goto(`${origin}/conversations/${crypto.randomUUID()}`)
  await page.getByRole('alert').waitFor()
})

it('shows new turns while the conversation is in progress', async () => {
  const externalId = `live-${crypto.randomUUID()}`
  const live = { externalId, status: 'in_progress', startedAt: new Date(Date.now() - 60_000).toISOString() }
  const { id } = await send(turns.slice(0, 2), live)
  const page = await open(`/conversations/${id}`, 'viewer')
  await page.getByText('In progress', { exact: true }).first().waitFor()
  await page.getByText('I want my money back.').waitFor()
  await send(turns, { ...live, status: 'completed' })
  await page.getByText('I put you through.').waitFor()
})

it('hides a conversation that is erased while it is open', async () => {
  const live = { externalId: `gone-${crypto.randomUUID()}`, status: 'in_progress' }
  const { id } = await send(turns.slice(0, 1), live)
  const page = await open(`/conversations/${id}`, 'viewer')
  await page.getByText('Hello, how can I help?').waitFor()
  await ask('DELETE', `/v1/conversations/${id}`)
  await page.getByText('Hello, how can I help?').waitFor({ state: 'detached' })
  await page.getByRole('alert').waitFor()
})

it('scrolls to one of thousands of turns, and only renders visible turns', async () => {
  const many: Turn[] = Array.from({ length: 3_000 }, (_, at) =>
    spoken(at % 2 === 0 ? 'agent' : 'customer', `This is turn ${at} of a long call.`, at * 3_000, at * 3_000 + 2_500),
  )
  const { id } = await send(many)
  const page = await open(`/conversations/${id}?turn=2900`, 'viewer')
  await page.getByText('This is turn 2900 of').waitFor()
  const row = page.locator('[data-turn="2900"]')
  await expect.poll(() => row.evaluate((element) => Math.round(element.getBoundingClientRect().top))).toBeLessThan(900)
  await page.keyboard.press('.')
  await page.keyboard.press('.')
  await page.locator('[data-turn="2902"][data-marked]').waitFor()
  const isDrawn = (turn: number) =>
    page
      .locator(`[data-turn="${turn}"] >> nth=0`)
      .evaluate((element) =>
        Array.from(element.children).every((child) => child.checkVisibility({ contentVisibilityAuto: true })),
      )
  await expect.poll(() => isDrawn(2_902)).toBe(true)
  expect(await isDrawn(5)).toBe(false)
})

it('adds a conversation to a bucket, and erases it', async () => {
  const { id } = await send(turns)
  const name = `By hand ${id.slice(-6)}`
  await ask('POST', '/v1/buckets', { name, type: 'static' })
  const page = await open(`/conversations/${id}`, 'member')
  const more = page.getByRole('button', { name: 'More actions' })
  await more.click()
  await page.getByRole('menuitem', { name: 'Add to bucket…' }).click()
  await page.getByLabel('Bucket', { exact: true }).fill(name)
  await page.getByRole('option', { name }).click()
  await page.getByRole('button', { name: 'Add to bucket', exact: true }).click()
  await page.getByText('Added to bucket').waitFor()
  await more.click()
  await page.getByRole('menuitem', { name: 'Erase conversation…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Erase this conversation?' })
  const erase = dialog.getByRole('button', { name: 'Erase conversation' })
  expect(await erase.isDisabled()).toBe(true)
  await dialog.getByRole('textbox').fill('erase')
  await erase.click()
  await page.getByRole('grid', { name: 'Conversations' }).waitFor()
  await expect(ask('GET', `/v1/conversations/${id}`)).rejects.toThrow('404')
})

it('shows the measures of the recording, and plays its slowest response', async () => {
  const { channels, lines } = speak([
    { channel: 0, text: 'Hello, this is the clinic, how can I help you today?', startMs: 500 },
    { channel: 1, text: 'I would like to move my appointment to next Friday please.', startMs: 4_400 },
    { channel: 0, text: 'I can offer you ten thirty in the morning.', startMs: 11_000 },
  ])
  const roles = ['agent', 'customer']
  const turnsOfLines = lines.map(({ channel, text, startMs, endMs }) => ({
    role: roles[channel],
    text,
    startMs: Math.round(startMs),
    // The provider reports shorter response times than the recording shows.
    endMs: Math.round(channel === 1 ? startMs + 6_000 : endMs),
  }))
  const { id } = await send({ turns: turnsOfLines })
  await upload(id, await toMp3(channels), 'audio/mpeg')
  const page = await open(`/conversations/${id}`, 'viewer')
  const sound = page.getByRole('region', { name: 'Sound' })
  await sound.getByRole('row', { name: /^Response time, median/ }).waitFor()
  await sound.getByText(/less than measured$/).waitFor()
  expect(await breaches(page)).toEqual([])
  await sound.getByRole('button', { name: /Agent responds after/ }).click()
  await expect.poll(() => Number(searchOf(page).get('at'))).toBeGreaterThan(5)
})

it('shows what is redacted, and lets admins open the original for a reason', async () => {
  await ask('PATCH', '/v1/organization', { originalRecordings: 'seal' })
  const recordings = { keep: 'all', redaction: 'mute' }
  const agent = await ask<{ id: string }>('POST', '/v1/agents', { name: 'Discreet', channel: 'voice', recordings })
  const said = [
    spoken('agent', 'What is your number?', 500, 2_000),
    spoken('customer', 'It is 555 010 0199.', 3_000, 6_000),
    spoken('agent', 'Thank you very much for calling.', 7_000, 9_000),
  ]
  const { id } = await send(said, { agent: undefined, agentId: agent.id })
  const voices = { agent: 'rms', customer: 'slt' } as const
  await upload(id, await soundOf({ turns: said, durationMs: 10_000, voices }), 'audio/wav')
  const page = await open(`/conversations/${id}`, 'owner')
  const sound = page.getByRole('region', { name: 'Sound' })
  await sound.getByText('1 span redacted, 4 s in total.').waitFor()
  await sound.getByRole('button', { name: 'Open original recording…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Open original' }).click()
  await dialog.getByText('Reason is required.').waitFor()
  expect(await breaches(page)).toEqual([])
  await dialog.getByLabel('Reason').fill('The customer disputes the call.')
  await dialog.getByRole('button', { name: 'Open original' }).click()
  const link = await dialog.getByRole('link', { name: 'Play the original' }).getAttribute('href')
  expect((await fetch(link ?? '')).headers.get('content-type')).toBe('audio/wav')
  await page.goto(`${origin}/settings/audit-log?about=conversation`)
  await page.getByText('The customer disputes the call.').waitFor()
})

it('marks a region of the recording, plays it, and shows the spectrogram', async () => {
  const id = await withSound()
  const page = await open(`/conversations/${id}`, 'member')
  await page.getByRole('button', { name: 'Mark region' }).click()
  const form = page.getByRole('form', { name: 'Mark region' })
  await form.getByLabel('From (s)').fill('2.5')
  await form.getByLabel('To (s)').fill('4')
  await form.getByLabel('Channel').selectOption({ label: '2' })
  await form.getByLabel('Note').fill('The customer is angry.')
  await form.getByRole('button', { name: 'Save region' }).click()
  const regions = page.getByRole('region', { name: 'Regions' })
  const note = regions.getByRole('button', { name: /The customer is angry/ })
  await note.waitFor()
  const listed = async () => (await ask<{ data: object[] }>('GET', `/v1/conversations/${id}/regions`)).data
  expect(await listed()).toMatchObject([{ startMs: 2_500, endMs: 4_000, channel: 1, note: 'The customer is angry.' }])
  await note.click()
  await expect.poll(() => Number(searchOf(page).get('at'))).toBeGreaterThan(1)
  await page.keyboard.press(' ')
  await page.getByRole('button', { name: 'Spectrogram' }).click()
  await page.getByRole('img', { name: 'Spectrogram of channel 2' }).waitFor()
  expect(await breaches(page)).toEqual([])
  await regions.getByRole('button', { name: 'Delete region' }).click()
  await expect.poll(listed).toEqual([])
  await regions.waitFor({ state: 'detached' })
})
