// Connects a model provider, and judges conversations with it. The provider is a stand-in on this machine.

import type { Page } from 'playwright-core'
import { afterAll, expect, it } from 'vitest'
import {
  type Asked,
  Failure,
  serveProvider,
  standInKey,
  standInModel,
} from '../test/support/model-providers/stand-ins.ts'
import { serveTranscription } from '../test/support/model-providers/transcription-stand-in.ts'
import { speak, toWav } from '../test/support/recordings.ts'
import { breaches, open } from './browser.ts'
import { startOwnDemo } from './own-demo.ts'

const demo = await startOwnDemo({ EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.0/8' })
const { elsewhere } = demo

/** Answers test requests, and judges every agent impolite, with a quote. */
const answer = ({ user }: Asked) => {
  const [line] = /<transcript>\n(.*)\n/.exec(user)?.slice(1) ?? []
  if (line === undefined) return { text: '{"ok":true}' }
  const { turn, text } = JSON.parse(line) as { turn: number; text: string }
  const evidence = [{ turn, quote: text }]
  return { text: JSON.stringify({ evidence, reasoning: 'It sounds curt.', score: null, result: 'affected' }) }
}

let isUp = true
const provider = await serveProvider('anthropic', (asked) => (isUp ? answer(asked) : new Failure(503)), afterAll)

const widthsOf = (page: Page) =>
  page.evaluate('[document.documentElement.scrollWidth, document.documentElement.clientWidth]')

it('connects a provider, tests it, judges conversations, and keeps the provider while it is used', async () => {
  const page = await open('/settings/models', undefined, { elsewhere })
  await page.getByText('The operator has not configured a model.').waitFor()
  await page.getByRole('heading', { name: 'No model providers yet' }).waitFor()
  expect(await breaches(page)).toEqual([])

  await page.getByRole('button', { name: 'Add provider' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add provider' })
  await dialog.getByLabel('Type').selectOption({ label: 'Google Gemini' })
  await dialog.getByText('aistudio.google.com').waitFor()
  await dialog.getByLabel('Type').selectOption({ label: 'Anthropic' })
  await dialog.getByLabel('Name').fill('Claude')
  await dialog.getByRole('button', { name: 'Add provider' }).click()
  await dialog.getByText('API key is required.').waitFor()
  await dialog.getByLabel('API key').fill('wrong key'.replace(' ', '-'))
  await dialog.getByLabel('Base URL (optional)').fill(provider.url)
  expect(await breaches(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Add provider' }).click()

  await page.getByRole('heading', { level: 2, name: 'Claude' }).waitFor()
  await page.getByText('The provider rejected the key').waitFor()
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  const editing = page.getByRole('dialog', { name: 'Edit provider' })
  await editing.getByLabel('API key').fill(standInKey)
  await editing.getByRole('button', { name: 'Save' }).click()
  await editing.waitFor({ state: 'detached' })
  expect(await page.getByText(standInKey).count()).toBe(0)

  await page.getByRole('button', { name: `Use as default: ${standInModel}` }).click()
  await page.getByRole('row').filter({ hasText: standInModel }).getByText('Default', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Test', exact: true }).click()
  await page.getByRole('status').getByText(`Connected. “${standInModel}” answered in`).waitFor()

  await page.getByRole('button', { name: `Price of ${standInModel}` }).click()
  const price = page.getByRole('dialog', { name: `Price of ${standInModel}` })
  await price.getByLabel('Input', { exact: true }).fill('3')
  await price.getByLabel('Output', { exact: true }).fill('15')
  expect(await breaches(page)).toEqual([])
  await price.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('row').filter({ hasText: standInModel }).getByText('$3 / $15').waitFor()

  await page.getByRole('button', { name: 'Edit limits' }).click()
  const limits = page.getByRole('dialog', { name: 'Edit limits' })
  await limits.getByLabel('Requests per minute (optional)').fill('600')
  await limits.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('region', { name: 'Limits' }).getByText('600', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Edit fallbacks' }).click()
  await page.getByRole('dialog', { name: 'Edit fallbacks' }).getByRole('button', { name: 'Close' }).click()
  expect(await breaches(page)).toEqual([])

  await page.goto(`${demo.origin}/monitors/new?kind=judge`)
  await page.getByLabel('Name').fill('Curt')
  await page.getByLabel('Criteria').fill('The agent sounds curt.')
  await page.getByLabel('Model provider').selectOption({ label: 'Claude' })
  expect(await page.getByLabel('Model', { exact: true }).inputValue()).toBe(standInModel)
  await page.getByText('$3 / $15 per million tokens.').waitFor()
  expect(await breaches(page)).toEqual([])
  await page.getByRole('button', { name: /^Run preview on/ }).click()
  await page.getByText('It sounds curt.').first().waitFor()
  await page.getByRole('button', { name: 'Create monitor' }).click()
  await page.getByRole('heading', { level: 1, name: 'Curt' }).waitFor()
  await page.getByRole('list', { name: 'Runs, newest first' }).getByText('Completed').waitFor({ timeout: 30_000 })
  await page.getByText(`(model: ${standInModel})`).waitFor()

  await page.goto(`${demo.origin}/settings/models`)
  await page.getByRole('link', { name: 'Claude' }).click()
  await page.getByRole('button', { name: 'Delete' }).click()
  const deletion = page.getByRole('dialog', { name: 'Delete “Claude”?' })
  await deletion.getByRole('button', { name: 'Delete provider' }).click()
  await deletion.getByText('Monitors use “Claude”: “Curt”.').waitFor()
})

const spoken = speak([
  { channel: 0, text: 'Hello, this is the clinic.', startMs: 300 },
  { channel: 1, text: 'I would like to move my appointment.', startMs: 3_600 },
])

/** Stores a conversation that has a recording but no transcript, and waits until the recording is measured. */
const record = async (): Promise<string> => {
  const headers = { authorization: `Bearer ${demo.key}` }
  const agent = { externalId: 'mia', name: 'Mia', channel: 'voice' }
  const call = { externalId: 'call-heard', agent, channel: 'call', startedAt: new Date().toISOString() }
  const created = await fetch(`${demo.origin}/v1/conversations`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(call),
  })
  const { id } = (await created.json()) as { id: string }
  const uploaded = await fetch(`${demo.origin}/v1/conversations/${id}/recording`, {
    method: 'PUT',
    headers: { ...headers, 'content-type': 'audio/wav' },
    body: new Uint8Array(toWav(spoken.channels)),
  })
  expect(uploaded.status).toBe(200)
  const statusOf = async () => {
    const answered = await fetch(`${demo.origin}/v1/conversations/${id}/sound`, { headers })
    return ((await answered.json()) as { status: string }).status
  }
  await expect.poll(statusOf, { timeout: 30_000 }).toBe('measured')
  return id
}

it('transcribes recordings with a provider, and offers judges that listen', async () => {
  const id = await record()
  const { settings } = await serveTranscription('openai-compatible', undefined, afterAll)
  const page = await open('/settings/models', undefined, { elsewhere })
  await page.getByRole('button', { name: 'Add provider' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add provider' })
  await dialog.getByLabel('Type').selectOption({ label: 'OpenAI or compatible' })
  await dialog.getByLabel('Name').fill('Speech')
  await dialog.getByLabel('API key').fill(settings.apiKey)
  await dialog.getByLabel('Base URL (optional)').fill(settings.baseUrl)
  await dialog.getByRole('button', { name: 'Add provider' }).click()
  await page.getByRole('heading', { level: 2, name: 'Speech' }).waitFor()

  await page.goto(`${demo.origin}/settings/organization`)
  await page.getByLabel('Transcribe recordings with').selectOption({ label: 'Speech' })
  expect(await page.getByLabel('Model', { exact: true }).inputValue()).toBe('whisper-1')
  await page.getByLabel('Agent’s channel in recordings').selectOption({ label: 'First (left)' })
  expect(await breaches(page)).toEqual([])
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Settings saved').waitFor()
  await page.getByRole('button', { name: 'Transcribe recordings' }).click()
  const estimate = page.getByRole('dialog', { name: 'Transcribe stored recordings?' })
  await estimate.getByText('1 recording without a transcript').waitFor()
  await estimate.getByRole('button', { name: 'Transcribe', exact: true }).click()
  await page.getByText('1 recording transcribed for $').waitFor({ timeout: 30_000 })

  await page.goto(`${demo.origin}/conversations/${id}`)
  await page.getByText('Transcribed by whisper-1').waitFor()
  await page.getByRole('list', { name: 'Turns' }).getByText('Sentence 1.').waitFor()
  expect(await breaches(page)).toEqual([])

  await page.goto(`${demo.origin}/monitors/new?kind=judge`)
  await page.getByLabel('Model input').selectOption({ label: 'Transcript and sound' })
  await page.getByLabel('Limit to turns (optional)').fill("turns.mentions('refund')")
  await page.getByLabel('Seconds before').waitFor()
  expect(await breaches(page)).toEqual([])
})

it('shows what is wrong, and fits a phone', async () => {
  isUp = false
  const page = await open('/settings/models', undefined, {
    elsewhere,
    theme: 'dark',
    viewport: { width: 320, height: 700 },
  })
  await page.getByRole('link', { name: 'Claude' }).click()
  await page.getByRole('button', { name: 'Test', exact: true }).click()
  await page.getByRole('status').getByText('The provider is failing (status 503).').waitFor()
  expect(await breaches(page)).toEqual([])
  expect(await widthsOf(page)).toEqual([320, 320])
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Edit provider' })
  await dialog.getByText('Leave empty to keep …').waitFor()
  await dialog.getByLabel('Base URL (optional)').fill('https://models.example.com')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText('must be entered again, because the address changed').waitFor()
  expect(await breaches(page)).toEqual([])
})
