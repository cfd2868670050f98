// Measures alerts under load: how long it takes from sending a conversation that meets a rule until the incident
// arrives at a webhook endpoint. Each rule is used once and needs a single conversation. Half of the rules count
// conversations, and half count their results.

import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { Earshot } from '../../client/src/earshot.ts'
import type { MixedWorld } from './traffic.ts'

const deliveredWithinMs = 180_000

/** The properties of an event that are read. */
type IncidentEvent = { type: string; data: { alertRuleId?: string } }

/** Receives the events of incidents and assigns them to their rules. */
const openReceiver = async (certificate: { key: string; cert: string }) => {
  const waiting = new Map<string, () => void>()
  const server = createServer(certificate, async (request, response) => {
    const { type, data } = (await json(request)) as IncidentEvent
    response.writeHead(204).end()
    if (type === 'alert_incident.opened') waiting.get(data.alertRuleId ?? '')?.()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `https://127.0.0.1:${port}/`,
    /** Resolves with true when the incident of the rule arrives, or with false if it does not arrive in time. */
    arrival: (ruleId: string): Promise<boolean> =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, deliveredWithinMs, false)
        waiting.set(ruleId, () => {
          clearTimeout(timer)
          resolve(true)
        })
      }),
    close: () => server.close(),
  }
}

/** Creates `count` rules, and sends a conversation that meets one of them, each in turn. */
export const openAlertProbes = async (
  { origin, key }: MixedWorld,
  count: number,
  certificate: { key: string; cert: string },
) => {
  const earshot = new Earshot({ url: origin, key })
  const receiver = await openReceiver(certificate)
  const { id: endpointId } = await earshot.webhookEndpoints.create({ name: 'Alerts', url: receiver.url, events: [] })
  await earshot.webhookEndpoints.approve(endpointId, { url: receiver.url })
  const { id: destinationId } = await earshot.destinations.create({
    name: 'Alerts',
    kind: 'webhook',
    settings: { endpointId },
  })
  const makeProbe = async (at: number) => {
    const name = `Alert ${at + 1}`
    const { id: agentId } = await earshot.agents.create({ name, channel: 'voice' })
    const ofAgent = { agentIds: [agentId] }
    const condition =
      at % 2 === 0
        ? ({ kind: 'volume', direction: 'above', threshold: 0 } as const)
        : ({
            kind: 'rate',
            monitorId: await earshot.monitors
              .create({ name, kind: 'rule', definition: { expression: 'turns.size() > 0' }, scope: ofAgent })
              .then(({ id }) => id),
            direction: 'above',
            threshold: 0.5,
            certainty: 'point',
          } as const)
    const asked = { name, condition, filter: ofAgent, windowMinutes: 5, minimumSample: 1 }
    const { id: ruleId } = await earshot.alertRules.create({ ...asked, destinationIds: [destinationId] })
    return { agentId, ruleId }
  }
  const probes: { agentId: string; ruleId: string }[] = []
  for (let at = 0; at < count; at++) probes.push(await makeProbe(at))
  const seconds: number[] = []
  let missing = 0

  const probe = async (): Promise<number> => {
    const next = probes.shift()
    if (!next) return 200
    const endedAt = new Date()
    const startedAt = new Date(endedAt.getTime() - 60_000)
    const transcript = [
      { role: 'agent', text: 'Acme Dental, how can I help?', startMs: 0, endMs: 1_900 },
      { role: 'customer', text: 'I want to move my appointment.', startMs: 2_300, endMs: 4_100 },
    ]
    const sentAt = performance.now()
    const arrived = receiver.arrival(next.ruleId)
    await earshot.conversations.create({
      agentId: next.agentId,
      channel: 'call',
      status: 'completed',
      startedAt: startedAt.toISOString(),
      endedAt: endedAt.toISOString(),
      transcript,
    })
    if (await arrived) seconds.push((performance.now() - sentAt) / 1_000)
    else missing++
    return 201
  }
  return { probe, told: () => ({ seconds, missing }), close: receiver.close }
}
