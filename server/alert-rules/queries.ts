import { sql } from 'kysely'
import type { Db, OrgId } from '../platform/db/database.ts'
import { newestFirst, nextRows } from '../platform/db/pages.ts'
import { notFound } from '../platform/errors.ts'
import type { Page } from '../platform/http/paging.ts'

type Severity = 'info' | 'warning' | 'critical'
type GroupBy = 'agent' | 'company' | 'version'

const columnsOf = (org: OrgId) =>
  [
    'id',
    'name',
    'enabled',
    sql<Severity>`severity`.as('severity'),
    // The condition was validated when it was stored.
    sql<object>`condition`.as('condition'),
    sql<object | null>`filter`.as('filter'),
    sql<GroupBy | null>`group_by`.as('groupBy'),
    'window_minutes as windowMinutes',
    'minimum_sample as minimumSample',
    'destination_ids as destinationIds',
    'owner_user_id as ownerUserId',
    'repeat_every_minutes as repeatEveryMinutes',
    'runbook_url as runbookUrl',
    'muted_until as mutedUntil',
    'checked_until as checkedUntil',
    'created_by_user_id as createdByUserId',
    'created_at as createdAt',
    'updated_at as updatedAt',
    sql<boolean>`EXISTS (
      SELECT FROM alert_incidents i
      WHERE i.organization_id = ${org} AND i.alert_rule_id = alert_rules.id AND i.status <> 'resolved')`.as('isFiring'),
  ] as const

export const listRules = (db: Db, org: OrgId, page: Page) =>
  db
    .selectFrom('alert_rules')
    .select(columnsOf(org))
    .where('organization_id', '=', org)
    .$call(newestFirst('id', page))
    .execute()

const selectRule = (db: Db, org: OrgId, id: string) =>
  db.selectFrom('alert_rules').select(columnsOf(org)).where('organization_id', '=', org).where('id', '=', id)

export const getRule = (db: Db, org: OrgId, id: string) => selectRule(db, org, id).executeTakeFirstOrThrow(notFound)

export type StoredRule = Awaited<ReturnType<typeof getRule>>

export const lockRule = (trx: Db, org: OrgId, id: string) =>
  selectRule(trx, org, id).forUpdate().executeTakeFirstOrThrow(notFound)

/** Locks the rule and returns it, or undefined if it was deleted. */
export const findLockedRule = (trx: Db, org: OrgId, id: string) =>
  selectRule(trx, org, id).forUpdate().executeTakeFirst()

/** Counts the rules. Until the transaction ends, no other transaction can add one. */
export const lockRuleCount = async (trx: Db, org: OrgId): Promise<number> => {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended('alert rules of ' || ${org}::text, 0))`.execute(trx)
  const { count } = await trx
    .selectFrom('alert_rules')
    .select(sql<number>`count(*)`.as('count'))
    .where('organization_id', '=', org)
    .executeTakeFirstOrThrow()
  return count
}

export type RuleFields = {
  name: string
  enabled: boolean
  severity: Severity
  condition: object
  filter: object | null
  groupBy: GroupBy | null
  windowMinutes: number
  minimumSample: number
  destinationIds: string[]
  ownerUserId: string | null
  repeatEveryMinutes: number | null
  runbookUrl: string | null
}

const valuesOf = (fields: RuleFields) => ({
  name: fields.name,
  enabled: fields.enabled,
  severity: fields.severity,
  condition: JSON.stringify(fields.condition),
  filter: fields.filter === null ? null : JSON.stringify(fields.filter),
  group_by: fields.groupBy,
  window_minutes: fields.windowMinutes,
  minimum_sample: fields.minimumSample,
  destination_ids: fields.destinationIds,
  owner_user_id: fields.ownerUserId,
  repeat_every_minutes: fields.repeatEveryMinutes,
  runbook_url: fields.runbookUrl,
})

type NewRule = RuleFields & { id: string; createdByUserId: string | null; now: Date }

export const insertRules = (trx: Db, org: OrgId, rules: NewRule[]) =>
  trx
    .insertInto('alert_rules')
    .values(
      rules.map((rule) => ({
        organization_id: org,
        id: rule.id,
        ...valuesOf(rule),
        next_check_at: rule.now,
        created_by_user_id: rule.createdByUserId,
        created_at: rule.now,
        updated_at: rule.now,
      })),
    )
    .execute()

/** Updates a rule. The rule is checked immediately, and its earlier checks no longer count. */
export const updateRule = (trx: Db, org: OrgId, id: string, fields: RuleFields, now: Date) =>
  trx
    .updateTable('alert_rules')
    .set({ ...valuesOf(fields), next_check_at: now, checked_until: null, updated_at: now })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .execute()

export const muteRule = (trx: Db, org: OrgId, id: string, until: Date | null, now: Date) =>
  trx
    .updateTable('alert_rules')
    .set({ muted_until: until, updated_at: now })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .execute()

export const deleteRule = (trx: Db, org: OrgId, id: string) =>
  trx
    .deleteFrom('alert_rules')
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirstOrThrow(notFound)

/** Removes a destination from all rules. */
export const removeDestination = (trx: Db, org: OrgId, destinationId: string) =>
  trx
    .updateTable('alert_rules')
    .set({ destination_ids: sql<string[]>`array_remove(destination_ids, ${destinationId}::uuid)` })
    .where('organization_id', '=', org)
    .where(sql<boolean>`${destinationId}::uuid = ANY(destination_ids)`)
    .execute()

export const listDueOrganizationsAllOrgs = async (db: Db, now: Date): Promise<{ id: OrgId }[]> => {
  const { rows } = await sql<{ id: OrgId }>`
    SELECT DISTINCT r.organization_id AS id FROM alert_rules r JOIN organizations o ON o.id = r.organization_id
    WHERE r.enabled AND r.next_check_at <= ${now}::timestamptz AND o.suspended_at IS NULL`.execute(db)
  return rows
}

export const listDueRules = (db: Db, org: OrgId, now: Date, page: Page) =>
  db
    .selectFrom('alert_rules')
    .select(columnsOf(org))
    .where('organization_id', '=', org)
    .where('enabled', '=', true)
    .where('next_check_at', '<=', now)
    .$call(nextRows('id', page))
    .execute()

type Checked = { nextCheckAt: Date; checkedUntil: Date | null }

/** Stores the time of a rule's next check, unless the rule has changed since it was read. A changed rule stays due. */
export const updateNextCheck = (db: Db, org: OrgId, { id, updatedAt }: StoredRule, checked: Checked) =>
  db
    .updateTable('alert_rules')
    .set({ next_check_at: checked.nextCheckAt, checked_until: checked.checkedUntil })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .where('updated_at', '=', updatedAt)
    .execute()

/** Returns the user's name if they are a member. */
export const findMemberName = async (db: Db, org: OrgId, userId: string): Promise<string | undefined> => {
  const member = await db
    .selectFrom('members')
    .select('name')
    .where('organization_id', '=', org)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return member?.name
}

/** Removes a person who left the organization as the owner of rules. */
export const clearRuleOwner = (trx: Db, org: OrgId, userId: string) =>
  trx
    .updateTable('alert_rules')
    .set({ owner_user_id: null })
    .where('organization_id', '=', org)
    .where('owner_user_id', '=', userId)
    .execute()

/** Disables the rules that watch a monitor. Returns those that were enabled. */
export const disableRules = (trx: Db, org: OrgId, monitorId: string, now: Date) =>
  trx
    .updateTable('alert_rules')
    .set({ enabled: false, updated_at: now })
    .where('organization_id', '=', org)
    .where(sql<boolean>`condition ->> 'monitorId' = ${monitorId}`)
    .where('enabled', '=', true)
    .returning('id')
    .execute()
