import { sql } from 'kysely'
import type { Db, OrgId } from '../platform/db/database.ts'
import { violatedConstraint } from '../platform/db/errors.ts'
import { newestFirst } from '../platform/db/pages.ts'
import { ApiError, notFound } from '../platform/errors.ts'
import type { Page } from '../platform/http/paging.ts'

type Kind = 'openai-compatible' | 'anthropic' | 'google' | 'azure-openai' | 'bedrock' | 'ollama'
type Status = 'active' | 'disabled'
type Settings = Record<string, unknown>

/** Missing limits default to the operator's limits, if there are any. */
export type StoredLimits = {
  concurrency?: number
  requestsPerMinute?: number
  tokensPerMinute?: number
  contextTokens?: number
  timeoutSeconds?: number
}

/** The prices in US dollars per million tokens. */
export type Price = {
  input: number
  output: number
  cachedInput?: number
  cacheWrite?: number
  /** The fraction of the price that a batch saves. */
  batchDiscount?: number
  /** The price of sound input. Without it, sound costs the same as text. */
  audioInput?: number
  /** The price in US dollars for transcribing a minute of audio. */
  audioMinute?: number
}

const columns = [
  'id',
  'name',
  sql<Kind>`kind`.as('kind'),
  sql<Settings>`settings`.as('settings'),
  'is_default as isDefault',
  sql<StoredLimits>`limits`.as('limits'),
  sql<Record<string, Price>>`prices`.as('prices'),
  'fallback_provider_ids as fallbackProviderIds',
  sql<Status>`status`.as('status'),
  'failing_since as failingSince',
  'last_fault as lastFault',
  'created_by_user_id as createdByUserId',
  'created_at as createdAt',
  'updated_at as updatedAt',
] as const

const sealedColumns = [...columns, 'secret'] as const

const explain = (error: unknown): never => {
  if (violatedConstraint(error) !== 'model_providers_name_key') throw error
  throw new ApiError('conflict', 'Another model provider has this name.')
}

export const listProviders = (db: Db, org: OrgId, page: Page) =>
  db
    .selectFrom('model_providers')
    .select(columns)
    .where('organization_id', '=', org)
    .$call(newestFirst('id', page))
    .execute()

export const getProvider = (db: Db, org: OrgId, id: string) =>
  db
    .selectFrom('model_providers')
    .select(columns)
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .executeTakeFirstOrThrow(notFound)

/** Returns all providers with their sealed keys, which never leave the service. */
export const listSealedProviders = (db: Db, org: OrgId) =>
  db.selectFrom('model_providers').select(sealedColumns).where('organization_id', '=', org).orderBy('id').execute()

export type SealedProvider = Awaited<ReturnType<typeof listSealedProviders>>[number]

export const getSealedProvider = (db: Db, org: OrgId, id: string): Promise<SealedProvider> =>
  db
    .selectFrom('model_providers')
    .select(sealedColumns)
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .executeTakeFirstOrThrow(notFound)

/** Locks a provider against deletion until the transaction ends. Returns whether it exists. */
export const lockProviderShared = async (trx: Db, org: OrgId, id: string): Promise<boolean> => {
  const row = await trx
    .selectFrom('model_providers')
    .select('id')
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .forKeyShare()
    .executeTakeFirst()
  return row !== undefined
}

/** Locks a provider against changes, deletion, and new references to it. */
export const lockProvider = (trx: Db, org: OrgId, id: string) =>
  trx
    .selectFrom('model_providers')
    .select(sealedColumns)
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirstOrThrow(notFound)

/**
 * Locks all providers of the organization against changes, so that at most one of them is the default and fallbacks
 * only refer to existing ones. Returns their IDs.
 */
export const lockProviders = async (trx: Db, org: OrgId): Promise<string[]> => {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended('model providers of ' || ${org}::text, 0))`.execute(trx)
  const rows = await trx.selectFrom('model_providers').select('id').where('organization_id', '=', org).execute()
  return rows.map(({ id }) => id)
}

/** Removes the default role from the provider that has it. */
export const clearDefaultProvider = (trx: Db, org: OrgId) =>
  trx
    .updateTable('model_providers')
    .set({ is_default: false })
    .where('organization_id', '=', org)
    .where('is_default', '=', true)
    .execute()

type NewProvider = {
  id: string
  name: string
  kind: Kind
  settings: Settings
  /** The encrypted keys. */
  secret: string | null
  isDefault: boolean
  limits: StoredLimits
  prices: Record<string, Price>
  fallbackProviderIds: string[]
  createdByUserId: string
  now: Date
}

export const insertProvider = (trx: Db, org: OrgId, provider: NewProvider) => {
  const { id, name, kind, settings, secret, isDefault, limits, prices, fallbackProviderIds, createdByUserId, now } =
    provider
  return trx
    .insertInto('model_providers')
    .values({
      organization_id: org,
      id,
      name,
      kind,
      settings: JSON.stringify(settings),
      secret,
      is_default: isDefault,
      limits: JSON.stringify(limits),
      prices: JSON.stringify(prices),
      fallback_provider_ids: fallbackProviderIds,
      created_by_user_id: createdByUserId,
      created_at: now,
      updated_at: now,
    })
    .returning(columns)
    .executeTakeFirstOrThrow()
    .catch(explain)
}

type ProviderChange = {
  name?: string | undefined
  settings?: { shown: Settings; secret: string | null } | undefined
  isDefault?: boolean | undefined
  limits?: StoredLimits | undefined
  prices?: Record<string, Price> | undefined
  fallbackProviderIds?: string[] | undefined
  status?: Status | undefined
}

/** Updates a provider. Its new settings may work, so it no longer counts as failing. */
export const updateProvider = (trx: Db, org: OrgId, id: string, change: ProviderChange, now: Date) => {
  const { name, settings, isDefault, limits, prices, fallbackProviderIds, status } = change
  return trx
    .updateTable('model_providers')
    .set({
      ...(name !== undefined && { name }),
      ...(settings !== undefined && {
        settings: JSON.stringify(settings.shown),
        secret: settings.secret,
        failing_since: null,
        last_fault: null,
      }),
      ...(isDefault !== undefined && { is_default: isDefault }),
      ...(limits !== undefined && { limits: JSON.stringify(limits) }),
      ...(prices !== undefined && { prices: JSON.stringify(prices) }),
      ...(fallbackProviderIds !== undefined && { fallback_provider_ids: fallbackProviderIds }),
      ...(status !== undefined && { status }),
      updated_at: now,
    })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow(notFound)
    .catch(explain)
}

export const deleteProvider = (trx: Db, org: OrgId, id: string) =>
  trx
    .deleteFrom('model_providers')
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirstOrThrow(notFound)

/** Removes a provider from the fallbacks of all others. */
export const removeFallback = (trx: Db, org: OrgId, id: string, now: Date) =>
  trx
    .updateTable('model_providers')
    .set({
      fallback_provider_ids: sql<string[]>`array_remove(fallback_provider_ids, ${id}::uuid)`,
      updated_at: now,
    })
    .where('organization_id', '=', org)
    .where(sql<boolean>`${id}::uuid = ANY(fallback_provider_ids)`)
    .execute()

/** Records a failure, or that the provider works. Keeps the time of the first failure since the last answer. */
export const updateProviderHealth = (db: Db, org: OrgId, id: string, fault: string | null, now: Date) =>
  db
    .updateTable('model_providers')
    .set({
      failing_since: fault === null ? null : sql<Date>`coalesce(failing_since, ${now}::timestamptz)`,
      last_fault: fault,
    })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .execute()
