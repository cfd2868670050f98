// Aligns a judge with reviews. The model is a stand-in on this machine.

import { afterAll, expect, it } from 'vitest'
import { serveProvider, standInKey, standInModel } from '../test/support/model-providers/stand-ins.ts'
import { type Ask, makeJudge, makeReviewed, tooStrict } from './aligned.ts'
import { breaches, open } from './browser.ts'
import { startOwnDemo } from './own-demo.ts'

const demo = await startOwnDemo({ EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.0/8' })
const { elsewhere } = demo

const provider = await serveProvider('anthropic', ({ user }) => ({ text: tooStrict(user) }), afterAll)

const ask: Ask = async <T>(method: string, path: string, body?: object) => {
  const answered = await fetch(demo.origin + path, {
    method,
    headers: { authorization: `Bearer ${demo.key}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (!answered.ok) throw new Error(`${method} ${path} was answered ${answered.status}: ${await answered.text()}`)
  return (await answered.json()) as T
}

const connected = await ask<{ id: string }>('POST', '/v1/model-providers', {
  name: 'Claude',
  kind: 'anthropic',
  settings: { apiKey: standInKey, baseUrl: provider.url, model: standInModel },
})

it('says what is missing, then proposes improvements and applies one', async () => {
  const monitorId = await makeJudge(ask, 'Rudeness', `${connected.id}/${standInModel}`)
  const page = await open(`/monitors/${monitorId}?tab=alignment`, undefined, { elsewhere })
  await page.getByRole('heading', { name: 'Not enough judgments' }).waitFor()
  await page.getByText('20 judged conversations in the tuning half').waitFor()
  expect(await page.getByRole('link', { name: 'Add conversations to a bucket' }).getAttribute('href')).toBe('/buckets')
  expect(await breaches(page)).toEqual([])

  const countResults = async () =>
    (await ask<{ data: object[] }>('GET', `/v1/monitors/${monitorId}/results?limit=200`)).data.length
  const waitFor = (results: number) => expect.poll(countResults, { timeout: 60_000 }).toBe(results)
  await makeReviewed({ ask, monitorId, perHalf: 20, waitFor })
  await page.reload()
  const form = page.getByRole('form', { name: 'Start alignment' })
  await form.getByText('20 judged conversations').waitFor()
  await form.getByLabel('Maximum cost in US dollars (optional)').fill('5')
  await form.getByRole('button', { name: 'Start alignment' }).click()
  const threshold = page.getByRole('article', { name: 'Another threshold' })
  await threshold.getByText('Gain shown').waitFor({ timeout: 60_000 })
  await threshold.getByText('Affected when the score is at least 4, instead of at least 7.').waitFor()
  await threshold.getByText('+50.0').waitFor()
  await threshold.getByText('Fixed: 10').waitFor()
  expect(await threshold.getByRole('list').last().getByRole('link').count()).toBe(10)
  const guidelines = page.getByRole('article', { name: 'Guidelines' })
  await guidelines.getByText('Adds a guideline: A rude word is enough.').waitFor()
  await guidelines.getByText('No gain shown').waitFor()
  expect(await breaches(page)).toEqual([])

  await threshold.getByRole('button', { name: 'Apply' }).click()
  const confirm = page.getByRole('dialog', { name: 'Apply “Another threshold”?' })
  expect(await breaches(page)).toEqual([])
  await confirm.getByRole('button', { name: 'Create new version' }).click()
  await page.getByText('LLM judge, version 2 since').waitFor()
  await threshold.getByText('Applied as version 2.').waitFor()
  await page.getByText('The monitor has changed since then, so you can’t apply proposals.').waitFor()
  await page.getByRole('tab', { name: 'Versions' }).click()
  await page.getByText('Applied an alignment: threshold.').waitFor()
})

it('fits a phone in the dark theme', async () => {
  const { data } = await ask<{ data: { id: string; name: string }[] }>('GET', '/v1/monitors?kind=judge')
  const monitorId = data.find(({ name }) => name === 'Rudeness')?.id
  const page = await open(`/monitors/${monitorId}?tab=alignment`, undefined, {
    elsewhere,
    theme: 'dark',
    viewport: { width: 320, height: 800 },
  })
  await page.getByRole('article', { name: 'Another threshold' }).waitFor()
  expect(await breaches(page)).toEqual([])
  const [content, width] = (await page.evaluate(
    '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
  )) as [number, number]
  expect(content).toBeLessThanOrEqual(width)
})
