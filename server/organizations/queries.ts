import { sql } from 'kysely'
import type { Db, OrgId } from '../platform/db/database.ts'
import { violatedConstraint } from '../platform/db/errors.ts'
import { newestFirst } from '../platform/db/pages.ts'
import { ApiError, notFound } from '../platform/errors.ts'
import type { Page } from '../platform/http/paging.ts'
import type { Entitlement, Feature } from '../platform/identity/actor.ts'

// Some functions in these columns are stable, which Citus does not allow in RETURNING, so the row is read again.
const columns = [
  'id',
  'name',
  'slug',
  sql<'active' | 'suspended'>`case when suspended_at is null then 'active' else 'suspended' end`.as('status'),
  sql<Record<Entitlement, boolean>>`jsonb_build_object(
    'monitors', monitors, 'observability', observability, 'metrics', metrics)`.as('entitlements'),
  sql<Record<Feature, boolean>>`jsonb_build_object(
    'monitorExports', monitor_exports, 'exportWebhooks', export_webhooks,
    'experimentsV2', experiments_v2, 'phiMode', phi_mode)`.as('features'),
  'retention_days as retentionDays',
  'redaction',
  'measure_sound as measureSound',
  'transcription_model as transcriptionModel',
  'embedding_model as embeddingModel',
  sql<0 | 1 | null>`agent_channel`.as('agentChannel'),
  'sound_to_models as soundToModels',
  sql<'none' | 'mute' | 'beep' | null>`sound_redaction`.as('soundRedaction'),
  sql<'delete' | 'seal'>`case when seals_originals then 'seal' else 'delete' end`.as('originalRecordings'),
  'monthly_judge_budget as monthlyJudgeBudget',
  'created_at as createdAt',
  'updated_at as updatedAt',
] as const

export const listOrganizationsAllOrgs = (db: Db, page: Page) =>
  db.selectFrom('organizations').select(columns).$call(newestFirst('id', page)).execute()

export const getOrganization = (db: Db, org: OrgId) =>
  db.selectFrom('organizations').select(columns).where('id', '=', org).executeTakeFirstOrThrow(notFound)

export const findOrganizationBySlug = (db: Db, slug: string) =>
  db
    .selectFrom('organizations')
    .select('id as org')
    .where('slug', '=', slug)
    .$castTo<{ org: OrgId }>()
    .executeTakeFirst()

export const organizationExists = async (db: Db): Promise<boolean> =>
  (await db.selectFrom('organizations').select('id').limit(1).executeTakeFirst()) !== undefined

export type Switches = {
  entitlements?: { [Name in Entitlement]?: boolean } | undefined
  features?: { [Name in Feature]?: boolean } | undefined
}

/** Returns the columns for these entitlements and features with their values. */
const switchColumns = ({ entitlements = {}, features = {} }: Switches) => {
  const named = {
    monitors: entitlements.monitors,
    observability: entitlements.observability,
    metrics: entitlements.metrics,
    monitor_exports: features.monitorExports,
    export_webhooks: features.exportWebhooks,
    experiments_v2: features.experimentsV2,
    phi_mode: features.phiMode,
  }
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined)) as {
    [Column in keyof typeof named]?: boolean
  }
}

const slugTaken = (error: unknown): never => {
  if (violatedConstraint(error) === 'organizations_slug_key') {
    throw new ApiError('conflict', 'Another organization has this slug. Choose a different one.')
  }
  throw error
}

type NewOrganization = { id: OrgId; name: string; slug: string } & Switches

export const insertOrganization = async (db: Db, { id, name, slug, ...switches }: NewOrganization) => {
  await db
    .insertInto('organizations')
    .values({
      id,
      name,
      slug,
      monitors: true,
      observability: true,
      metrics: true,
      monitor_exports: true,
      export_webhooks: true,
      experiments_v2: true,
      phi_mode: false,
      ...switchColumns(switches),
    })
    .execute()
    .catch(slugTaken)
  return getOrganization(db, id)
}

type OrganizationChange = {
  name?: string
  slug?: string
  retentionDays?: number | null
  redaction?: boolean
  measureSound?: boolean
  transcriptionModel?: string | null
  embeddingModel?: string | null
  agentChannel?: 0 | 1 | null
  soundToModels?: boolean
  soundRedaction?: 'none' | 'mute' | 'beep' | null
  originalRecordings?: 'delete' | 'seal'
  monthlyJudgeBudget?: number | null
} & Switches

export const updateOrganization = async (db: Db, org: OrgId, change: OrganizationChange) => {
  await db
    .updateTable('organizations')
    .set({
      ...(change.name !== undefined && { name: change.name }),
      ...(change.slug !== undefined && { slug: change.slug }),
      ...(change.retentionDays !== undefined && { retention_days: change.retentionDays }),
      ...(change.redaction !== undefined && { redaction: change.redaction }),
      ...(change.measureSound !== undefined && { measure_sound: change.measureSound }),
      ...(change.transcriptionModel !== undefined && { transcription_model: change.transcriptionModel }),
      ...(change.embeddingModel !== undefined && { embedding_model: change.embeddingModel }),
      ...(change.agentChannel !== undefined && { agent_channel: change.agentChannel }),
      ...(change.soundToModels !== undefined && { sound_to_models: change.soundToModels }),
      ...(change.soundRedaction !== undefined && { sound_redaction: change.soundRedaction }),
      ...(change.originalRecordings !== undefined && { seals_originals: change.originalRecordings === 'seal' }),
      ...(change.monthlyJudgeBudget !== undefined && { monthly_judge_budget: change.monthlyJudgeBudget }),
      ...switchColumns(change),
      updated_at: sql`now()`,
    })
    .where('id', '=', org)
    .execute()
    .catch(slugTaken)
  return getOrganization(db, org)
}

/** Suspends an organization. If it is already suspended, keeps the first time. */
export const suspendOrganization = async (db: Db, org: OrgId) => {
  await db
    .updateTable('organizations')
    .set({ suspended_at: sql`now()`, updated_at: sql`now()` })
    .where('id', '=', org)
    .where('suspended_at', 'is', null)
    .execute()
  return getOrganization(db, org)
}

export const resumeOrganization = async (db: Db, org: OrgId) => {
  await db
    .updateTable('organizations')
    .set({ suspended_at: null, updated_at: sql`now()` })
    .where('id', '=', org)
    .where('suspended_at', 'is not', null)
    .execute()
  return getOrganization(db, org)
}

export const isSuspended = async (db: Db, org: OrgId): Promise<boolean> => {
  const found = await db.selectFrom('organizations').select('suspended_at').where('id', '=', org).executeTakeFirst()
  return found === undefined || found.suspended_at !== null
}

/** Counts everything in all organizations, for an operator. */
export const countStoredAllOrgs = async (db: Db): Promise<{ organizations: number; conversations: number }> => {
  const { rows } = await sql<{ organizations: number; conversations: number }>`
    SELECT (SELECT count(*) FROM organizations) AS organizations,
      (SELECT count(*) FROM conversations) AS conversations`.execute(db)
  return rows[0] ?? { organizations: 0, conversations: 0 }
}
