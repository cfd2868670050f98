// Sends the requests under load. Each kind has its own rate.

import { createHmac } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Earshot } from '../../client/src/earshot.ts'
import { type Maker, makeConversation } from '../../server/demo/conversation.ts'
import { rules } from '../rules.ts'

const sample = JSON.parse(
  await readFile(join(import.meta.dirname, '../../test/samples/ingest/vapi_end_of_call_report.json'), 'utf8'),
)
// The recordings of the sample don't exist, and downloads would be retried again and again.
for (const part of [sample.message, sample.message.artifact]) {
  for (const name of Object.keys(part ?? {})) if (/recording/i.test(name)) delete part[name]
}
const secret = 'the-secret-of-the-bench'
const batchSize = 50
const monitorCount = 20
const words = ['refund', 'appointment', 'order', 'invoice', 'colleague', 'cancel', 'delivery', 'password']
const evaluatedWithinMs = 120_000

const pick = <T>(values: readonly T[]): T => {
  const value = values[Math.floor(Math.random() * values.length)]
  if (value === undefined) throw new Error('there is nothing to pick from')
  return value
}

/** Creates everything that the traffic needs in the organization, including more monitors, so that there are twenty. */
export const prepare = async (origin: string, key: string) => {
  const earshot = new Earshot({ url: origin, key })
  const listMonitors = async () => (await earshot.monitors.list({ limit: 200 }).page()).data
  const missing = monitorCount - (await listMonitors()).length
  // The expressions alternate between kinds.
  const expressions = [0, 1, 2, 3, 4].flatMap((at) => Object.values(rules).flatMap((ofKind) => ofKind[at] ?? []))
  for (const [at, expression] of expressions.slice(0, Math.max(0, missing)).entries()) {
    await earshot.monitors.create({ name: `Rule ${at + 1}`, kind: 'rule', definition: { expression } })
  }
  const monitors = await listMonitors()
  const [experiment] = (await earshot.experiments.list({ limit: 1 }).page()).data
  if (!experiment) throw new Error('the demo has no experiment')
  const integration = await earshot.integrations.create({
    provider: 'vapi',
    name: 'Bench',
    secret,
    settings: { scheme: 'hmac' },
  })
  return { origin, key, monitors, experiment, integration }
}

export type MixedWorld = Awaited<ReturnType<typeof prepare>>

/** Reads the whole response, like a client. */
const readBody = async (response: Response): Promise<number> => {
  const text = await response.text()
  if (response.status >= 400 && ![429, 503].includes(response.status))
    throw new Error(`${response.status} ${text.slice(0, 300)}`)
  return response.status
}

export const openTraffic = ({ origin, key, monitors, experiment, integration }: MixedWorld) => {
  const headers = { authorization: `Bearer ${key}` }
  const get = (path: string) => fetch(origin + path, { headers })
  const post = (path: string, body: unknown) =>
    fetch(origin + path, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })

  const run = Date.now().toString(36)
  const maker: Maker = { seed: 11, anchor: new Date(), days: 1, companies: [] }
  let made = 0
  const { agentId, armAVersionId, armBVersionId } = experiment
  /** Returns a conversation. Half of them belong to the experiment. */
  const newConversation = () => {
    const number = made++
    const { agent, version: _, metrics: __, provider: ___, ...item } = makeConversation(maker, number)
    const given = Object.fromEntries(Object.entries(item).filter(([, value]) => value !== null))
    const arm = { agentId, agentVersionId: number % 4 < 2 ? armAVersionId : armBVersionId }
    const other = 'externalId' in agent ? { agentExternalId: agent.externalId } : { agentId: agent.id }
    const endedAt = new Date()
    const startedAt = new Date(endedAt.getTime() - 60_000 - (number % 240) * 1_000)
    return { ...given, ...(number % 2 === 0 ? arm : other), externalId: `mixed-${run}-${number}`, startedAt, endedAt }
  }
  const newReport = () => {
    const endedAt = new Date()
    const call = { ...sample.message.call, id: `mixed-${run}-report-${made++}` }
    const times = { startedAt: new Date(endedAt.getTime() - 90_000).toISOString(), endedAt: endedAt.toISOString() }
    return JSON.stringify({ message: { ...sample.message, ...times, call } })
  }

  /** The conversations that lists have returned, which are opened later. */
  let seen: string[] = []
  const keepSeen = async (response: Response): Promise<number> => {
    const { data } = (await response.json()) as { data?: { id: string }[] }
    if (data) seen = [...data.map(({ id }) => id), ...seen].slice(0, 5_000)
    return response.status
  }
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()
  const filters = [
    () => ({ channels: ['chat'] }),
    () => ({ directions: ['outbound'], minDurationSeconds: 30 + Math.floor(Math.random() * 60) }),
    () => ({ statuses: ['failed'] }),
    () => ({ since: daysAgo(1 + Math.random() * 20) }),
    () => ({ agentIds: [agentId], until: daysAgo(Math.random() * 20) }),
    () => ({ monitors: [{ id: pick(monitors).id, result: 'affected' }] }),
  ]
  let [mostSeconds, evaluated, unevaluated] = [0, 0, 0]

  /** Measures the time from the response to an ingest until each rule has a result. */
  const untilEvaluated = async () => {
    // Failed conversations are not evaluated.
    const response = await post('/v1/conversations', { ...newConversation(), status: 'completed' })
    const { id } = (await response.json()) as { id: string }
    const acknowledgedAt = performance.now()
    const rulesAsked = monitors.filter(({ kind, enabled }) => kind === 'rule' && enabled).length
    while (performance.now() - acknowledgedAt < evaluatedWithinMs) {
      const { data } = (await (await get(`/v1/conversations/${id}/results?limit=200`)).json()) as { data: object[] }
      if (data.length >= rulesAsked) {
        evaluated++
        mostSeconds = Math.max(mostSeconds, (performance.now() - acknowledgedAt) / 1_000)
        return response.status
      }
      await sleep(250)
    }
    unevaluated++
    return response.status
  }

  const asks: Record<string, () => Promise<number>> = {
    'create a conversation': async () => readBody(await post('/v1/conversations', newConversation())),
    'create a batch of 50': async () =>
      readBody(
        await post('/v1/conversations/batch', { conversations: Array.from({ length: batchSize }, newConversation) }),
      ),
    'receive a provider webhook': async () => {
      const body = newReport()
      const seconds = String(Math.floor(Date.now() / 1_000))
      const signature = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')
      const signed = { 'content-type': 'application/json', 'x-timestamp': seconds, 'x-signature': signature }
      return readBody(await fetch(origin + integration.webhookPath, { method: 'POST', headers: signed, body }))
    },
    'list the newest': async () => keepSeen(await get('/v1/conversations?limit=50')),
    'list with a filter': async () =>
      keepSeen(await post('/v1/conversations/search', { filter: pick(filters)(), limit: 50 })),
    'search text': async () =>
      keepSeen(await post('/v1/conversations/search', { filter: { text: pick(words) }, limit: 50 })),
    'count with a filter': async () => readBody(await post('/v1/conversations/count', { filter: pick(filters)() })),
    'open a conversation': async () => {
      const id = seen.length > 0 ? pick(seen) : undefined
      if (!id) return 200
      const parts = ['', '/transcript', '/results'].map((part) => get(`/v1/conversations/${id}${part}`).then(readBody))
      return Math.max(...(await Promise.all(parts)))
    },
    'get a trend': async () =>
      readBody(await get(`/v1/monitors/${pick(monitors).id}/trend?interval=day&since=${daysAgo(30)}`)),
    'get the experiment': async () => readBody(await get(`/v1/experiments/${experiment.id}`)),
    'list findings': async () => readBody(await get('/v1/findings?limit=50')),
  }

  return {
    asks,
    /** Measures one conversation until its results exist. Runs every few seconds. */
    probe: untilEvaluated,
    told: () => ({ mostSeconds, evaluated, unevaluated, made }),
  }
}
