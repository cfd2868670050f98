// Takes screenshots of every page, in both themes and two widths, with demo data, for docs/screenshots. Usage: npm run
// screenshots [PAGE…]

import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Locator, Page } from 'playwright-core'
import { type Ask, makeJudge, makeReviewed, tooStrict } from './aligned.ts'
import { launchChromium, unpackChromium } from './chromium.ts'
import { startDemo } from './demo.ts'
import { sessionOf } from './people.ts'

const folder = await mkdtemp(join(tmpdir(), 'earshot-screenshots-'))
await chmod(folder, 0o711)
const chromium = await unpackChromium(folder)
const { child, origin, invitation, key } = await startDemo(join(folder, 'data'), 3_000, {
  EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.0/8',
})
const browser = await launchChromium(chromium)

type Listed = { data: { id: string; name?: string; channel?: string; recording?: unknown }[] }

const list = async (path: string): Promise<Listed['data']> => {
  const answer = await fetch(origin + path, { headers: { authorization: `Bearer ${key}` } })
  return ((await answer.json()) as Listed).data
}

const ask: Ask = async <T>(method: string, path: string, body?: object) => {
  const answer = await fetch(origin + path, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${await answer.text()}`)
  return (await answer.json()) as T
}

const make = (method: string, path: string, body?: object) => ask<{ id: string }>(method, path, body)

/** Serves a model that responds like Anthropic's, for the alignment of a judge. */
const model = createServer(async (request, response) => {
  const body = JSON.parse(await text(request)) as { messages: { content: string | { text: string }[] }[] }
  const user = body.messages.flatMap(({ content }) =>
    typeof content === 'string' ? content : content.map((part) => part.text),
  )
  const content = [{ type: 'text', text: tooStrict(user.join('')) }]
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ content, stop_reason: 'end_turn', usage: { input_tokens: 1_000, output_tokens: 100 } }))
})

const repeat = async (isDone: () => Promise<boolean>): Promise<void> => {
  while (!(await isDone())) await new Promise((resolve) => setTimeout(resolve, 500))
}

/** Creates a judge with a completed alignment, and returns its ID. */
const makeAligned = async (): Promise<string> => {
  await new Promise<void>((resolve) => model.listen(0, '127.0.0.1', resolve))
  const { port } = model.address() as AddressInfo
  const settings = {
    apiKey: 'sk-a-key-of-the-screenshots',
    baseUrl: `http://127.0.0.1:${port}`,
    model: 'claude-sonnet-5',
  }
  const provider = await make('POST', '/v1/model-providers', { name: 'Claude', kind: 'anthropic', settings })
  const monitorId = await makeJudge(ask, 'Rudeness', `${provider.id}/claude-sonnet-5`)
  const waitFor = (results: number) =>
    repeat(async () => (await list(`/v1/monitors/${monitorId}/results?limit=200`)).length === results)
  await makeReviewed({ ask, monitorId, perHalf: 40, waitFor })
  const alignment = await make('POST', `/v1/monitors/${monitorId}/alignments`, {})
  const path = `/v1/monitors/${monitorId}/alignments/${alignment.id}`
  await repeat(async () => (await ask<{ status: string }>('GET', path)).status === 'completed')
  return monitorId
}

/** Creates a connection with a sync and a schedule. The demo has neither, because they would call other hosts. */
const makeOutside = async (monitor: string) => {
  const integration = await make('POST', '/v1/integrations', {
    provider: 'elevenlabs',
    name: 'Front desk on ElevenLabs',
    secret: 'an-elevenlabs-secret',
  })
  await make('PUT', `/v1/integrations/${integration.id}/sync`, { apiKey: 'an-elevenlabs-key', lookbackDays: 7 })
  const endpoint = await make('POST', '/v1/webhook-endpoints', {
    name: 'Warehouse',
    url: 'https://hooks.example.com/earshot',
    events: ['monitor_export.completed'],
  })
  await make('POST', `/v1/webhook-endpoints/${endpoint.id}/approve`)
  const schedule = await make('POST', '/v1/export-schedules', {
    name: 'Yesterday’s refunds',
    config: { monitors: [{ id: monitor, result: 'affected' }], timezone: 'Europe/Berlin' },
    recurrence: { every: 'day', at: '02:30' },
    window: { kind: 'last', days: 1 },
    destination: { type: 'webhook', webhookEndpointId: endpoint.id },
  })
  await make('POST', `/v1/export-schedules/${schedule.id}/run`)
  return { integration, schedule }
}

/** Returns the URL of the list with custom columns, a sort, and a filter. */
const listAddress = (monitor: string): string => {
  const parts = {
    filter: {
      metadata: [{ key: 'plan', op: 'eq', value: 'gold' }],
      minDurationSeconds: 60,
      anyOf: [{ channels: ['call'] }, { monitors: [{ id: monitor, result: 'affected' }] }],
      exclude: { directions: ['outbound'] },
    },
    columns: [
      ...['channel', 'startedAt', 'agentId', 'affected', 'durationSeconds'],
      ...[`result:${monitor}`, 'signal:responseLatencyMs.p95', 'metadata:plan', 'excerpt'],
    ].map((name) => ({ key: name })),
    sort: { by: 'durationSeconds', direction: 'desc' },
  }
  return new URLSearchParams(Object.entries(parts).map(([name, value]) => [name, JSON.stringify(value)])).toString()
}

/** Creates a destination, and a rule that fires at its first check. */
const makeAlert = async (monitorId: string) => {
  const settings = { url: 'https://hooks.slack.com/services/T0000/B0000/abcdefghijklmnop' }
  const destination = await make('POST', '/v1/destinations', { name: 'On-call channel', kind: 'slack', settings })
  await make('PATCH', `/v1/destinations/${destination.id}`, { status: 'disabled' })
  await make('POST', '/v1/ownership-rules', { name: 'Refunds', tags: ['refund'], destinationIds: [destination.id] })
  const condition = { kind: 'rate', monitorId, direction: 'above', threshold: 0.02 }
  return make('POST', '/v1/alert-rules', {
    name: 'Too many callers ask for a person',
    condition,
    windowMinutes: 43_200,
    destinationIds: [destination.id],
  })
}

/** Waits until the rule is checked, and returns the incident. */
const waitForIncident = async (): Promise<string> => {
  for (;;) {
    const incident = await idOf('/v1/alert-incidents')
    if (incident) return incident
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}

const idOf = async (path: string, name?: string) => {
  const found = await list(path)
  return (found.find((item) => item.name === name) ?? found[0])?.id ?? ''
}

/** Waits for results and experiments, which are computed in the background. */
const settle = async () => {
  const experiment = await idOf('/v1/experiments')
  for (;;) {
    const answer = await fetch(`${origin}/v1/experiments/${experiment}`, {
      headers: { authorization: `Bearer ${key}` },
    })
    const { outcomes } = (await answer.json()) as { outcomes: { arms: { a: { observed: number; pending: number } } }[] }
    if (outcomes.every(({ arms: { a } }) => a.observed > 100 && a.pending === 0)) return
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}

/** Sections that are further down on some pages. */
const belowTheFold = (page: Page): Record<string, Locator> => ({
  alignment: page.getByRole('tab', { name: 'Alignment' }),
  sound: page.getByRole('heading', { name: 'Sound', exact: true }),
})

try {
  const cookie = await sessionOf(origin, invitation, 'Olga Owner')
  await settle()
  // Finds the conversation that has a recording and the most evidence.
  const sounding = (await list('/v1/conversations?limit=60')).filter(({ recording }) => recording !== null)
  const found = await Promise.all(
    sounding.map(async ({ id }) => {
      const results = (await list(`/v1/conversations/${id}/results`)) as unknown as {
        result: string
        evidence: unknown[]
      }[]
      return {
        id,
        marks: results.filter(({ result }) => result === 'affected').flatMap(({ evidence }) => evidence).length,
      }
    }),
  )
  const telling = found.toSorted((a, b) => b.marks - a.marks)[0]?.id
  const monitor = await idOf('/v1/monitors', 'Asks for a person')
  const scorecard = await idOf('/v1/monitors', 'Service quality')
  const bucket = await idOf('/v1/buckets')
  const { integration, schedule } = await makeOutside(monitor)
  const rule = await makeAlert(monitor)
  const incident = await waitForIncident()
  const pages: Record<string, string> = {
    overview: '/',
    conversations: `/conversations?open=${await idOf('/v1/conversations?limit=1')}`,
    'conversations-filtered': `/conversations?${listAddress(monitor)}`,
    conversation: `/conversations/${telling}`,
    sound: `/conversations/${telling}`,
    monitors: '/monitors',
    monitor: `/monitors/${monitor}`,
    categories: `/monitors/${await idOf('/v1/monitors', 'Reason for contact')}`,
    fields: `/monitors/${await idOf('/v1/monitors', 'Refund paid')}`,
    scorecard: `/monitors/${scorecard}`,
    'scorecard-editor': `/monitors/${scorecard}/edit`,
    templates: '/monitors/templates',
    alignment: `/monitors/${await makeAligned()}?tab=alignment`,
    editor: `/monitors/${monitor}/edit`,
    exports: '/exports',
    'new-export': `/exports/new?config=${encodeURIComponent(JSON.stringify({ monitors: [{ id: monitor, result: 'affected' }] }))}`,
    schedules: '/exports/schedules',
    schedule: `/exports/schedules/${schedule.id}`,
    'new-schedule': '/exports/schedules/new',
    findings: '/findings',
    finding: `/findings/${await idOf('/v1/findings?limit=20', 'Callers who ask for a person get more questions first')}`,
    review: '/review',
    room: `/review/${bucket}`,
    buckets: '/buckets',
    bucket: `/buckets/${bucket}`,
    experiments: '/experiments',
    experiment: `/experiments/${await idOf('/v1/experiments')}`,
    launch: '/experiments/new',
    compare: '/compare',
    agents: '/agents',
    agent: `/agents/${await idOf('/v1/agents', 'Leo, support')}`,
    companies: '/companies',
    members: '/settings/members',
    'api-keys': '/settings/api-keys',
    connections: `/settings/connections?open=${integration.id}`,
    alerts: '/alerts',
    'alert-rule': `/alerts/rules/${rule.id}/edit`,
    incident: `/alerts/incidents/${incident}`,
    destinations: '/settings/destinations',
    ownership: '/settings/ownership',
    notifications: '/notifications',
    'my-notifications': '/settings/notifications',
    health: '/settings/health',
    webhooks: '/settings/webhooks',
    models: '/settings/models',
    start: '/start',
    guide: '/docs/guide/start',
  }
  const asked = process.argv.slice(2)
  const target = join(import.meta.dirname, '../docs/screenshots')
  await mkdir(target, { recursive: true })
  for (const theme of ['light', 'dark'] as const) {
    for (const [width, height] of [
      [1440, 900],
      [390, 844],
    ] as const) {
      const context = await browser.newContext({
        viewport: { width, height },
        colorScheme: theme,
        reducedMotion: 'reduce',
        locale: 'en-GB',
        timezoneId: 'Europe/Berlin',
      })
      // The network would never be idle while the event stream is open.
      await context.route('**/v1/stream', (route) => route.abort())
      await context.addCookies([{ ...cookie, url: origin, httpOnly: true, sameSite: 'Lax' }])
      for (const [name, path] of Object.entries(pages)) {
        if (asked.length > 0 && !asked.includes(name)) continue
        const page = await context.newPage()
        await page.goto(origin + path)
        await page.getByRole('heading', { level: 1 }).waitFor()
        await page.waitForLoadState('networkidle')
        const below = belowTheFold(page)[name]
        await below?.evaluate((shown: { scrollIntoView: () => void }) => shown.scrollIntoView())
        await page.screenshot({ path: join(target, `${name}-${theme}-${width}.png`) })
        await page.close()
      }
      await context.close()
    }
  }
} finally {
  model.close()
  await browser.close()
  child.kill('SIGTERM')
  await new Promise((resolve) => child.once('close', resolve))
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
}
