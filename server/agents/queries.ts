import { sql } from 'kysely'
import type { Db, OrgId } from '../platform/db/database.ts'
import { violatedConstraint } from '../platform/db/errors.ts'
import { newestFirst } from '../platform/db/pages.ts'
import { ApiError, invalid, notFound } from '../platform/errors.ts'
import type { Page } from '../platform/http/paging.ts'

type AgentChannel = 'voice' | 'text'

type RecordingPolicy = {
  keep: 'all' | 'days' | 'transcript_only' | 'nothing'
  days: number | null
  redaction: 'none' | 'mute' | 'beep' | null
}

/** Contains only the changed settings. `keep` and `days` always change together. */
export type RecordingPolicyChange = {
  kept?: Pick<RecordingPolicy, 'keep' | 'days'>
  redaction?: RecordingPolicy['redaction']
}

type AgentFilter = {
  companyId?: string
  groupId?: string
  channel?: AgentChannel
  externalId?: string
  archived?: boolean
}

const columnsOf = (org: OrgId) =>
  [
    'agents.id',
    'external_id as externalId',
    'name',
    sql<AgentChannel>`channel`.as('channel'),
    'company_id as companyId',
    sql<string[]>`array(
    SELECT group_id FROM agent_group_members m
    WHERE m.organization_id = ${org} AND m.agent_id = agents.id ORDER BY group_id)`.as('groupIds'),
    'current_version_id as currentVersionId',
    'transcription_model as transcriptionModel',
    sql<0 | 1 | null>`agent_channel`.as('agentChannel'),
    sql<RecordingPolicy>`jsonb_build_object(
      'keep', recordings_keep, 'days', recordings_days, 'redaction', sound_redaction)`.as('recordings'),
    'archived_at as archivedAt',
    'created_at as createdAt',
    'updated_at as updatedAt',
  ] as const

const selectAgents = (db: Db, org: OrgId) =>
  db.selectFrom('agents').select(columnsOf(org)).where('agents.organization_id', '=', org)

export const listAgents = (db: Db, org: OrgId, filter: AgentFilter, page: Page) => {
  const { companyId, groupId, channel, externalId, archived = false } = filter
  return selectAgents(db, org)
    .where('archived_at', archived ? 'is not' : 'is', null)
    .$if(companyId !== undefined, (query) => query.where('company_id', '=', companyId as string))
    .$if(channel !== undefined, (query) => query.where('channel', '=', channel as string))
    .$if(externalId !== undefined, (query) => query.where('external_id', '=', externalId as string))
    .$if(groupId !== undefined, (query) =>
      query.where('agents.id', 'in', (inner) =>
        inner
          .selectFrom('agent_group_members')
          .select('agent_id')
          .where('organization_id', '=', org)
          .where('group_id', '=', groupId as string),
      ),
    )
    .$call(newestFirst('agents.id', page))
    .execute()
}

export const findAgent = (db: Db, org: OrgId, id: string) =>
  selectAgents(db, org).where('agents.id', '=', id).executeTakeFirst()

export const getAgent = (db: Db, org: OrgId, id: string) =>
  selectAgents(db, org).where('agents.id', '=', id).executeTakeFirstOrThrow(notFound)

/** Converts a constraint violation to an error message about the request. */
const explain = (error: unknown): never => {
  switch (violatedConstraint(error)) {
    case 'agents_external_id_key':
      throw new ApiError('conflict', 'Another agent has this externalId.')
    case 'agents_company_fkey':
      throw invalid('companyId', 'must be a company of this organization')
    case 'agent_group_members_group_fkey':
      throw invalid('groupIds', 'must only contain agent groups of this organization')
    case 'agent_versions_label_key':
      throw new ApiError('conflict', 'Another version of this agent has this label.')
    default:
      throw error
  }
}

type NewAgent = {
  id: string
  externalId?: string | null
  name: string
  channel: AgentChannel
  companyId?: string | null
  recordings?: RecordingPolicyChange | undefined
} & SoundSettings

type SoundSettings = { transcriptionModel?: string | null; agentChannel?: 0 | 1 | null }

const policyColumns = ({ kept, redaction }: RecordingPolicyChange = {}) => ({
  ...(kept && { recordings_keep: kept.keep, recordings_days: kept.days }),
  ...(redaction !== undefined && { sound_redaction: redaction }),
})

export const insertAgent = (db: Db, org: OrgId, agent: NewAgent) =>
  db
    .insertInto('agents')
    .values({
      organization_id: org,
      id: agent.id,
      external_id: agent.externalId ?? null,
      name: agent.name,
      channel: agent.channel,
      company_id: agent.companyId ?? null,
      transcription_model: agent.transcriptionModel ?? null,
      agent_channel: agent.agentChannel ?? null,
      ...policyColumns(agent.recordings),
    })
    .execute()
    .catch(explain)

type AgentChange = {
  externalId?: string | null
  name?: string
  companyId?: string | null
  archivedAt?: Date | null
  currentVersionId?: string
  recordings?: RecordingPolicyChange | undefined
} & SoundSettings

/** Updates an agent. Archiving an agent again keeps the original timestamp. */
export const updateAgent = (db: Db, org: OrgId, id: string, change: AgentChange) =>
  db
    .updateTable('agents')
    .set((set) => ({
      ...(change.externalId !== undefined && { external_id: change.externalId }),
      ...(change.name !== undefined && { name: change.name }),
      ...(change.companyId !== undefined && { company_id: change.companyId }),
      ...(change.currentVersionId !== undefined && { current_version_id: change.currentVersionId }),
      ...(change.transcriptionModel !== undefined && { transcription_model: change.transcriptionModel }),
      ...(change.agentChannel !== undefined && { agent_channel: change.agentChannel }),
      ...policyColumns(change.recordings),
      ...(change.archivedAt === null && { archived_at: null }),
      ...(change.archivedAt && { archived_at: set.fn.coalesce('archived_at', set.val(change.archivedAt)) }),
      updated_at: sql`now()`,
    }))
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirstOrThrow(notFound)
    .catch(explain)

/** Returns the agents' own settings for recordings. */
export const listSoundSettings = (db: Db, org: OrgId, ids: string[]) =>
  db
    .selectFrom('agents')
    .select(['id', 'transcription_model as transcriptionModel', sql<0 | 1 | null>`agent_channel`.as('agentChannel')])
    .where('organization_id', '=', org)
    .where('id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .execute()

type AgentNames = { ids: string[]; externalIds: string[] }

/** Includes archived agents, because their conversations can still arrive. */
export const findAgents = (db: Db, org: OrgId, { ids, externalIds }: AgentNames) =>
  db
    .selectFrom('agents')
    .select([
      'id',
      'external_id as externalId',
      'company_id as companyId',
      sql<boolean>`recordings_keep <> 'nothing'`.as('keepsRecordings'),
    ])
    .where('organization_id', '=', org)
    .where(({ eb, or }) =>
      or([
        eb('id', '=', sql<string>`ANY(${ids}::uuid[])`),
        eb('external_id', '=', sql<string>`ANY(${externalIds}::text[])`),
      ]),
    )
    .execute()

type NamedAgent = { id: string; externalId: string; name: string; channel: AgentChannel }

/** Omits agents if their external ID was taken in the meantime. */
export const insertMissingAgents = (db: Db, org: OrgId, agents: NamedAgent[]) =>
  db
    .insertInto('agents')
    .values(agents.map(({ externalId, ...agent }) => ({ organization_id: org, external_id: externalId, ...agent })))
    .onConflict((conflict) => conflict.constraint('agents_external_id_key').doNothing())
    .execute()

/** Replaces the agent's groups. */
export const replaceGroupsOfAgent = async (db: Db, org: OrgId, agentId: string, groupIds: string[]): Promise<void> => {
  await db
    .deleteFrom('agent_group_members')
    .where('organization_id', '=', org)
    .where('agent_id', '=', agentId)
    .execute()
  if (groupIds.length === 0) return
  const rows = groupIds.map((groupId) => ({ organization_id: org, group_id: groupId, agent_id: agentId }))
  await db.insertInto('agent_group_members').values(rows).execute().catch(explain)
}

/** Locks the agent, so that its versions are numbered one after the other. */
export const lockAgent = (db: Db, org: OrgId, id: string) =>
  db
    .selectFrom('agents')
    .select('id')
    .where('organization_id', '=', org)
    .where('id', '=', id)
    // A stronger lock would block incoming conversations.
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow(notFound)

/** Locks many agents in a fixed order, so that two batches never deadlock. */
export const lockAgents = async (db: Db, org: OrgId, ids: string[]): Promise<void> => {
  await db
    .selectFrom('agents')
    .select('id')
    .where('organization_id', '=', org)
    .where('id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute()
}

const versionColumns = [
  'id',
  'agent_id as agentId',
  'number',
  'label',
  'system_prompt as systemPrompt',
  sql<Record<string, unknown>>`config`.as('config'),
  'created_at as createdAt',
] as const

const selectVersions = (db: Db, org: OrgId, agentId: string) =>
  db
    .selectFrom('agent_versions')
    .select(versionColumns)
    .where('organization_id', '=', org)
    .where('agent_id', '=', agentId)

/** Lists an agent's versions, newest first. Numbers are assigned in order, so they sort by age. */
export const listVersions = (db: Db, org: OrgId, agentId: string, { limit, after }: Page) =>
  selectVersions(db, org, agentId)
    .$if(after !== undefined, (query) => query.where('number', '<', Number(after)))
    .orderBy('number', 'desc')
    .limit(limit + 1)
    .execute()

export const getVersion = (db: Db, org: OrgId, agentId: string, id: string) =>
  selectVersions(db, org, agentId).where('id', '=', id).executeTakeFirstOrThrow(notFound)

export const findAgentOfVersion = async (db: Db, org: OrgId, id: string): Promise<string | undefined> => {
  const version = await db
    .selectFrom('agent_versions')
    .select('agent_id as agentId')
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .executeTakeFirst()
  return version?.agentId
}

type VersionNames = { agentIds: string[]; ids: string[]; labels: string[]; hashes: string[] }

/** Returns the agents' versions that have one of these IDs, labels, or contents. */
export const findVersions = (db: Db, org: OrgId, { agentIds, ids, labels, hashes }: VersionNames) =>
  db
    .selectFrom('agent_versions')
    .select(['id', 'agent_id as agentId', 'label', 'content_hash as contentHash'])
    .where('organization_id', '=', org)
    .where('agent_id', '=', sql<string>`ANY(${agentIds}::uuid[])`)
    .where(({ eb, or }) =>
      or([
        eb('id', '=', sql<string>`ANY(${ids}::uuid[])`),
        eb('label', '=', sql<string>`ANY(${labels}::text[])`),
        eb('content_hash', '=', sql<string>`ANY(${hashes}::text[])`),
      ]),
    )
    .execute()

export const findVersionByContent = (db: Db, org: OrgId, agentId: string, contentHash: string) =>
  selectVersions(db, org, agentId).where('content_hash', '=', contentHash).executeTakeFirst()

type NewVersion = {
  id: string
  agentId: string
  label: string | null
  systemPrompt: string
  config: Record<string, unknown>
  contentHash: string
}

/** Numbers the versions in the given order, after the existing ones. The caller has locked the agents. */
export const insertVersions = async (db: Db, org: OrgId, versions: NewVersion[]): Promise<void> => {
  const column = (read: (version: NewVersion) => string | null) => versions.map(read)
  await sql`
    INSERT INTO agent_versions (organization_id, id, agent_id, number, label, system_prompt, config, content_hash)
    SELECT ${org}::uuid, given.id, given.agent_id,
      (SELECT coalesce(max(v.number), 0) FROM agent_versions v
        WHERE v.organization_id = ${org} AND v.agent_id = given.agent_id)
        + row_number() OVER (PARTITION BY given.agent_id ORDER BY given.at),
      given.label, given.system_prompt, given.config, given.content_hash
    FROM unnest(
      ${column(({ id }) => id)}::uuid[], ${column(({ agentId }) => agentId)}::uuid[],
      ${column(({ label }) => label)}::text[], ${column(({ systemPrompt }) => systemPrompt)}::text[],
      ${column(({ config }) => JSON.stringify(config))}::jsonb[], ${column(({ contentHash }) => contentHash)}::text[]
    ) WITH ORDINALITY AS given(id, agent_id, label, system_prompt, config, content_hash, at)`.execute(db)
}

/** Inserts one version and returns it. The caller has locked the agent. */
export const insertVersion = async (db: Db, org: OrgId, version: NewVersion) => {
  await insertVersions(db, org, [version]).catch(explain)
  return selectVersions(db, org, version.agentId).where('id', '=', version.id).executeTakeFirstOrThrow()
}

/** Sets the current versions of agents. `versions` maps each agent to its new current version. */
export const setCurrentVersions = async (db: Db, org: OrgId, versions: Map<string, string>): Promise<void> => {
  await sql`
    UPDATE agents SET current_version_id = given.version_id, updated_at = now()
    FROM unnest(${[...versions.keys()]}::uuid[], ${[...versions.values()]}::uuid[]) AS given(agent_id, version_id)
    WHERE organization_id = ${org} AND id = given.agent_id`.execute(db)
}
