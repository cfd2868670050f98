import { findAgents, listVersions } from '../agents/queries.ts'
import type { ServiceDeps } from '../deps.ts'
import { launch } from '../experiments/launch.ts'
import { listExperiments } from '../experiments/queries.ts'
import { getFirstOwner } from '../members/queries.ts'
import { listMonitors } from '../monitors/queries.ts'
import type { OrgId } from '../platform/db/database.ts'
import { newId } from '../platform/ids.ts'
import { cast } from './cast.ts'
import { splitSince } from './conversation.ts'

const ofActor = {
  ...({ kind: 'user', keyId: null, role: 'owner', suspended: false } as const),
  entitlements: { monitors: true, observability: true, metrics: true },
  features: { monitorExports: true, exportWebhooks: true, experimentsV2: true, phiMode: false },
}

/** Launches an experiment with the two parallel prompts, unless it already exists. */
export const makeExperiment = async (
  deps: ServiceDeps,
  org: OrgId,
  { anchor, calls }: { anchor: Date; calls: number },
) => {
  const split = cast.find(({ splits }) => splits)
  if (!split) return
  await deps.db.transaction().execute(async (trx) => {
    const present = await listExperiments(trx, org, {}, { limit: 1, after: undefined })
    const [agent] = await findAgents(trx, org, { ids: [], externalIds: [split.externalId] })
    if (present.length > 0 || !agent) return
    const versions = await listVersions(trx, org, agent.id, { limit: 10, after: undefined })
    const [a, b] = split.prompts.slice(-2).map((prompt) => versions.find(({ label }) => label === prompt.label))
    const monitors = await listMonitors(trx, org, {}, { limit: 20, after: undefined })
    const primary = monitors.find(({ name }) => name === 'Asks for a person')
    if (!a || !b || !primary) return
    const { userId } = await getFirstOwner(trx, org)
    // The experiment starts when the second prompt does.
    const clock = { now: () => splitSince(anchor, calls) }
    const actor = { ...ofActor, org, userId, requestId: `demo ${newId()}` }
    await launch({ ...deps, clock }, trx, actor, {
      name: 'Offer a colleague sooner',
      description: 'Fewer callers should have to ask for a person.',
      agentId: agent.id,
      armAVersionId: a.id,
      armBVersionId: b.id,
      armAName: 'Current',
      armBName: 'Sooner',
      outcomeMetricIds: monitors.map(({ id }) => id),
      primaryMetricId: primary.id,
      stableRoutingConfirmed: true,
      expectedArmAPercent: 50,
    })
  })
}
