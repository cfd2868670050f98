// Creates a round's own organization with everything that its traffic needs, before any fault begins.
import type { SeededRandom } from '../malformed.ts'
import { serviceKey } from '../server.ts'
import { insertReviewers } from './database.ts'
import type { World } from './world.ts'

const reviewers = 3

export const providerSecret = 'provider-secret-0123456789'

export const openStage = async (world: World, random: SeededRandom) => {
  const { client, database, receiver } = world
  const slug = `o-${crypto.randomUUID()}`
  const owner = { email: `${slug}@example.com`, name: 'Olga Owner' }
  const provisioned = await client.send('POST', '/v1/organizations', [201], {
    key: serviceKey,
    body: { name: 'Acme', slug, owner },
  })
  const org: string = provisioned.body.organization.id
  const key: string = provisioned.body.apiKey.key
  const make = async (path: string, body: object) => (await client.send('POST', path, [201], { key, body })).body

  const { id: agentId } = await make('/v1/agents', { name: 'Leo', channel: 'voice' })
  const armIds: string[] = []
  for (const systemPrompt of ['You are Leo.', 'Be brief.']) {
    armIds.push((await make(`/v1/agents/${agentId}/versions`, { systemPrompt })).id)
  }
  const monitors: Record<'rule' | 'judge' | 'external', string> = {
    rule: (
      await make('/v1/monitors', {
        name: 'Refunds',
        kind: 'rule',
        definition: { expression: "turns.exists(t, t.text.contains('refund'))" },
      })
    ).id,
    judge: (
      await make('/v1/monitors', {
        name: 'Anger',
        kind: 'judge',
        definition: { criteria: 'The customer was angry.', output: { type: 'boolean' } },
      })
    ).id,
    external: (await make('/v1/monitors', { name: 'Audit', kind: 'external', definition: {} })).id,
  }
  const endpoint = await make('/v1/webhook-endpoints', {
    name: 'Warehouse',
    url: receiver.url,
    events: ['monitor_export.completed', 'monitor_export.failed', 'finding.created', 'review.completed'],
  })
  await client.send('POST', `/v1/webhook-endpoints/${endpoint.id}/approve`, [200], { key })
  const experiment = await make('/v1/experiments', {
    name: 'Brevity',
    agentId,
    armAVersionId: armIds[0],
    armBVersionId: armIds[1],
    stableRoutingConfirmed: true,
    outcomeMetricIds: [monitors.rule, monitors.judge],
    primaryMetricId: monitors.rule,
  })
  const integration = async (provider: string) =>
    (await make('/v1/integrations', { provider, name: `Our ${provider}`, secret: providerSecret }))
      .webhookPath as string
  return {
    world,
    client,
    random,
    org,
    key,
    agentId: agentId as string,
    armIds,
    monitors,
    endpointId: endpoint.id as string,
    endpointSecret: endpoint.secret as string,
    experimentId: experiment.id as string,
    webhookPaths: {
      vapi: await integration('vapi'),
      retell: await integration('retell'),
      elevenlabs: await integration('elevenlabs'),
    },
    reviewers: await insertReviewers(database.query, org, reviewers),
    /** The time is measured by this process's clock, which no fault changes. */
    startedAt: new Date(experiment.startedAt),
    query: database.query,
    post: (path: string, statuses: number[], body: object) => client.send('POST', path, statuses, { key, body }),
  }
}

export type Stage = Awaited<ReturnType<typeof openStage>>

export type Traffic = {
  /** Sends one request. It is called again when that request is acknowledged. */
  send?: (number: number) => Promise<unknown>
  /** Sends a last request when everything works and is idle again. */
  finish?: () => Promise<unknown>
  /** Describes losses and duplicates. It is called when everything is idle, and again after the last round. */
  compare: () => Promise<string[]>
}
