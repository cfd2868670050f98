// Checks every page, for every role, in both themes, and on a small screen.

import { expect, it } from 'vitest'
import { ask, breaches, conversationIds, open, quiet, signInAs } from './browser.ts'

type Listed = { data: { id: string }[] }

/** Returns an ID from the demo, because other tests may delete what they create. */
const oldestOf = async (path: string): Promise<string> => {
  const { data } = await ask<Listed>('GET', `${path}?limit=200`)
  const oldest = data.at(-1)
  if (!oldest) throw new Error(`the demo has nothing at ${path}`)
  return oldest.id
}

const { id: findingId } = await ask<{ id: string }>('POST', '/v1/findings', { title: 'Callers are asked twice' })

const { id: boardId } = await ask<{ id: string }>('POST', '/v1/boards', { name: 'Front desk' })

const pages = [
  '/',
  '/conversations',
  `/conversations/${(await conversationIds(1))[0]}`,
  '/topics',
  '/topics?tab=uncovered',
  '/boards',
  ...(await ask<{ builtIn: { id: string }[] }>('GET', '/v1/boards')).builtIn.map(({ id }) => `/boards/${id}`),
  `/boards/${boardId}`,
  `/boards/${boardId}/charts/new`,
  '/compare',
  '/monitors',
  '/monitors/new',
  '/monitors/new?kind=scorecard',
  '/monitors/templates',
  `/monitors/${await oldestOf('/v1/monitors')}`,
  `/monitors/${await oldestOf('/v1/monitors')}/edit`,
  '/exports',
  '/exports/new',
  '/exports/schedules',
  '/exports/schedules/new',
  '/findings',
  '/findings?layout=list',
  `/findings/${findingId}`,
  '/alerts',
  '/alerts?tab=rules',
  '/alerts/rules/new',
  `/alerts/rules/${await oldestOf('/v1/alert-rules')}`,
  `/alerts/rules/${await oldestOf('/v1/alert-rules')}/edit`,
  '/notifications',
  '/review',
  '/buckets',
  `/buckets/${await oldestOf('/v1/buckets')}`,
  '/experiments',
  '/experiments/new',
  `/experiments/${await oldestOf('/v1/experiments')}`,
  '/agents',
  `/agents/${await oldestOf('/v1/agents')}`,
  '/companies',
  `/companies/${await oldestOf('/v1/companies')}`,
  ...[
    'profile',
    'notifications',
    'organization',
    'members',
    'api-keys',
    'connections',
    'destinations',
    'ownership',
    'webhooks',
    'models',
    'health',
    'audit-log',
  ].map((part) => `/settings/${part}`),
  '/start',
  '/agents/none/of/this',
]

const nameOf = (path: string) => path.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/, '…')

it.each(pages.map((path) => ({ path, name: nameOf(path) })))(
  '$name meets WCAG 2.2 AA in both themes and fits 320 pixels',
  async ({ path }) => {
    const page = await open(path, 'owner')
    const settled = async () => {
      await page.getByRole('heading', { level: 1 }).waitFor()
      await quiet(page)
    }
    await settled()
    expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1)
    expect(await page.title()).toMatch(/^.+ · Earshot$/)
    expect(await breaches(page)).toEqual([])
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await breaches(page, { only: 'colors' })).toEqual([])

    // Reusing the page is faster than opening another one, which would compile all scripts again.
    await signInAs(page, 'viewer')
    await page.setViewportSize({ width: 320, height: 640 })
    await page.reload()
    await settled()
    // Wider content scrolls inside its own element.
    const widths = await page.evaluate('[document.documentElement.scrollWidth, document.documentElement.clientWidth]')
    expect(widths).toEqual([320, 320])
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Conversations' }).waitFor()
  },
)
