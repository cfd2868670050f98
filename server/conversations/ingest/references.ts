import { findAgents, insertMissingAgents } from '../../agents/queries.ts'
import { findCompanyIds } from '../../companies/queries.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { type ApiError, invalid } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import type { AgentReference, Incoming } from './incoming.ts'
import { resolveVersions, unknownVersion, type VersionQuestion, versionKey } from './versions.ts'

/** Finds the agents, versions, and companies for all conversations in a batch. */

type Agent = { id: string; externalId: string | null; companyId: string | null; keepsRecordings: boolean }

export type References = {
  agentId: string
  agentCompanyId: string | null
  agentVersionId: string | null
  /** Whether the agent's recordings are downloaded. */
  keepsRecordings: boolean
}

const agentKey = (agent: AgentReference): string =>
  'id' in agent ? `id ${agent.id.toLowerCase()}` : `external ${agent.externalId}`

const unknownAgent = (agent: AgentReference): ApiError => {
  if ('id' in agent) return invalid('agentId', 'must be an agent of this organization')
  return invalid('agentExternalId', 'must be an agent of this organization; send `agent` to create it')
}

const resolveAgents = async (trx: Db, org: OrgId, wanted: AgentReference[]): Promise<Map<string, Agent>> => {
  const ids = new Set<string>()
  const externalIds = new Map<string, AgentReference>()
  for (const agent of wanted) {
    if ('id' in agent) ids.add(agent.id.toLowerCase())
    else if (agent.make || !externalIds.has(agent.externalId)) externalIds.set(agent.externalId, agent)
  }
  const found = new Map<string, Agent>()
  const take = (agents: Agent[]) => {
    for (const agent of agents) {
      found.set(`id ${agent.id}`, agent)
      if (agent.externalId !== null) found.set(agentKey({ externalId: agent.externalId }), agent)
    }
  }
  take(await findAgents(trx, org, { ids: [...ids], externalIds: [...externalIds.keys()] }))
  // Missing agents are created in a fixed order, so that two batches never deadlock.
  const missing = [...externalIds.values()].flatMap((agent) =>
    'externalId' in agent && agent.make && !found.has(agentKey(agent))
      ? [{ id: newId(), externalId: agent.externalId, ...agent.make }]
      : [],
  )
  if (missing.length > 0) {
    await insertMissingAgents(
      trx,
      org,
      missing.sort((a, b) => (a.externalId < b.externalId ? -1 : 1)),
    )
    take(await findAgents(trx, org, { ids: [], externalIds: missing.map(({ externalId }) => externalId) }))
  }
  return found
}

type Named = Pick<Incoming, 'agent' | 'version' | 'companyId'>

/** Returns each conversation's references in the given order, or an error if they can't be resolved. */
export const resolveReferences = async (trx: Db, org: OrgId, items: Named[]): Promise<(References | ApiError)[]> => {
  if (items.length === 0) return []
  const companyIds = [...new Set(items.flatMap(({ companyId }) => companyId?.toLowerCase() ?? []))]
  const companies = new Set(companyIds.length > 0 ? await findCompanyIds(trx, org, companyIds) : [])
  const isSound = ({ companyId }: Named) => companyId === null || companies.has(companyId.toLowerCase())
  const sound = items.filter(isSound)
  const agents = await resolveAgents(
    trx,
    org,
    sound.map(({ agent }) => agent),
  )
  const questions = new Map<string, VersionQuestion>()
  const questionOf = ({ agent, version }: Named): VersionQuestion | undefined => {
    const agentId = agents.get(agentKey(agent))?.id
    return agentId !== undefined && version !== null ? { agentId, version } : undefined
  }
  const keys = items.map((item) => {
    const question = questionOf(item)
    const key = question && versionKey(question)
    if (question && key !== undefined && isSound(item)) questions.set(key, question)
    return key
  })
  const versions = await resolveVersions(trx, org, questions)
  return items.map((item, index) => {
    if (!isSound(item)) return invalid('companyId', 'must be a company of this organization')
    const agent = agents.get(agentKey(item.agent))
    if (!agent) return unknownAgent(item.agent)
    const agentVersionId = versions.get(keys[index] ?? '') ?? null
    if (item.version !== null && agentVersionId === null) return unknownVersion(item.version)
    const { id: agentId, companyId: agentCompanyId, keepsRecordings } = agent
    return { agentId, agentCompanyId, agentVersionId, keepsRecordings }
  })
}
