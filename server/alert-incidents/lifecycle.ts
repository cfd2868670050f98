import type { Chart } from '../destinations/chart.ts'
import type { Message, MessageKind } from '../destinations/message.ts'
import { listWebhookEndpointIds } from '../destinations/queries.ts'
import { sendMessage } from '../destinations/send.ts'
import { findRoute, type OwnershipSubject } from '../ownership-rules/match-rule.ts'
import { publishChanges } from '../platform/changes/changes.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { newId } from '../platform/ids.ts'
import { publishEvent } from '../webhooks/send.ts'
import { presentWithTimeline } from './present.ts'
import {
  type EventKind,
  findIncidentRule,
  findOwner,
  type IncidentRule,
  insertIncident,
  insertIncidentEvent,
  type Severity,
  type StoredIncident,
  type StoredReading,
  updateIncident,
} from './queries.ts'

/**
 * Opens, repeats, acknowledges, and resolves incidents. Each change is stored in one transaction with its event,
 * messages, and webhooks. The caller has locked the rule or the incident, so that no change happens twice.
 */

type IncidentDeps = Pick<Deps, 'jobs' | 'clock' | 'baseUrl' | 'reactions'>

const titleOf = ({ ruleName, groupLabel }: StoredIncident): string =>
  groupLabel === null ? ruleName : `${ruleName}: ${groupLabel}`

const prefixes: Partial<Record<MessageKind, string>> = {
  repeated: 'Still firing: ',
  acknowledged: 'Acknowledged: ',
  resolved: 'Resolved: ',
}

const spell = (instant: Date): string => `${instant.toISOString().slice(0, 16).replace('T', ' ')} UTC`

const messageOf = (
  { baseUrl }: IncidentDeps,
  kind: 'opened' | 'repeated' | 'acknowledged' | 'resolved',
  incident: StoredIncident,
  { runbookUrl, ownerName }: IncidentRule,
  { event, chart }: Pick<Message, 'event' | 'chart'>,
): Message => {
  const { id, severity, reading, conversationIds, openedAt, resolvedAt } = incident
  const facts = [
    { label: 'Since', value: spell(openedAt) },
    ...(resolvedAt === null ? [] : [{ label: 'Until', value: spell(resolvedAt) }]),
    ...(ownerName === null ? [] : [{ label: 'Owner', value: ownerName }]),
  ]
  return {
    kind,
    severity,
    title: `${prefixes[kind] ?? ''}${titleOf(incident)}`,
    text: reading.text,
    facts,
    examples:
      kind === 'resolved'
        ? []
        : conversationIds.map((conversationId, index) => ({
            label: `Conversation ${index + 1}`,
            url: `${baseUrl()}/conversations/${conversationId}`,
          })),
    links: [
      { label: 'Open incident', url: `${baseUrl()}/alerts/incidents/${id}` },
      ...(runbookUrl === null ? [] : [{ label: 'Runbook', url: runbookUrl }]),
    ],
    ...(event && { event }),
    ...(chart && { chart }),
  }
}

/** Stores the event and sends it to the rule's destinations and to subscribed webhook endpoints. */
const announce = async (
  deps: IncidentDeps,
  trx: Db,
  org: OrgId,
  incident: StoredIncident,
  rule: IncidentRule | undefined,
  { kind, isNews, chart }: { kind: Exclude<EventKind, 'commented'>; isNews: boolean; chart?: Chart | undefined },
): Promise<void> => {
  if (isNews && (kind === 'opened' || kind === 'resolved')) {
    await deps.reactions.incidentAnnounced(trx, org, {
      incidentId: incident.id,
      kind,
      ownerUserId: rule?.ownerUserId ?? null,
      byUserId: incident.resolvedByUserId,
    })
  }
  const type = kind === 'repeated' ? undefined : (`alert_incident.${kind}` as const)
  const data = await presentWithTimeline(trx, org, incident)
  if (type && isNews) {
    // A destination can be a webhook endpoint that also subscribes to the event. It must receive the event only once.
    const exceptEndpointIds = await listWebhookEndpointIds(trx, org, rule?.destinationIds ?? [])
    await publishEvent(deps, trx, org, { type, data }, { exceptEndpointIds })
  }
  if (!rule) return
  const message = messageOf(deps, kind, incident, rule, {
    event: { type: type ?? 'alert_incident.opened', data },
    ...(chart && { chart }),
  })
  for (const destinationId of rule.destinationIds) {
    await sendMessage(deps, trx, org, { destinationId, subjectId: incident.id, message })
  }
}

/**
 * Returns the rule of an incident, including the owner and destinations that an ownership rule added when the incident
 * opened.
 */
const withRoute = async (
  trx: Db,
  org: OrgId,
  rule: IncidentRule | undefined,
  { ownerUserId, routedDestinationIds }: StoredIncident,
): Promise<IncidentRule | undefined> => {
  if (!rule) return undefined
  const destinationIds = [...new Set([...rule.destinationIds, ...routedDestinationIds])]
  if (rule.ownerUserId !== null || ownerUserId === null) return { ...rule, destinationIds }
  const owner = await findOwner(trx, org, ownerUserId)
  return { ...rule, destinationIds, ownerUserId: owner?.userId ?? null, ownerName: owner?.name ?? null }
}

const ruleOf = async (trx: Db, org: OrgId, incident: StoredIncident): Promise<IncidentRule | undefined> =>
  withRoute(trx, org, await findIncidentRule(trx, org, incident.alertRuleId), incident)

const isMuted = (rule: IncidentRule | undefined, now: Date): boolean =>
  rule !== undefined && rule.mutedUntil !== null && rule.mutedUntil > now

const record = async (trx: Db, org: OrgId, incidentId: string, kind: EventKind, userId: string | null, now: Date) => {
  await insertIncidentEvent(trx, org, { id: newId(), incidentId, kind, userId, now })
  await publishChanges(
    trx,
    org,
    { resource: 'alert-incidents', kind: kind === 'opened' ? 'created' : 'updated', ids: [incidentId] },
    // The states of rules and of the organization depend on open incidents.
    { resource: 'alert-rules', kind: 'updated' },
    { resource: 'health', kind: 'updated' },
  )
}

type Opening = {
  alertRuleId: string
  ruleName: string
  severity: Severity
  groupKey: string
  groupLabel: string | null
  reading: StoredReading
  conversationIds: string[]
  /** The agents, companies, and tags that ownership rules are compared with. */
  subject: OwnershipSubject
}

type Opened = { now: Date; chart: Chart | undefined }

/** Opens an incident. While its rule is muted, nothing is sent. */
export const openIncident = async (
  deps: IncidentDeps,
  trx: Db,
  org: OrgId,
  { subject, ...opening }: Opening,
  { now, chart }: Opened,
): Promise<void> => {
  const own = await findIncidentRule(trx, org, opening.alertRuleId)
  const ownerUserId = own?.ownerUserId ?? null
  const route = ownerUserId === null ? await findRoute(trx, org, subject) : undefined
  const routed = {
    ownerUserId: ownerUserId ?? route?.ownerUserId ?? null,
    routedDestinationIds: route?.destinationIds ?? [],
  }
  const incident = await insertIncident(trx, org, { id: newId(), ...opening, ...routed, now })
  const rule = await withRoute(trx, org, own, incident)
  await record(trx, org, incident.id, 'opened', null, now)
  if (isMuted(rule, now)) return
  await announce(deps, trx, org, incident, rule, { kind: 'opened', isNews: true, chart })
  await updateIncident(trx, org, incident.id, { notifiedAt: now })
}

/**
 * Announces that the condition is still met. This is the first message if the rule was muted until now, and otherwise a
 * reminder.
 */
export const remindOfIncident = async (
  deps: IncidentDeps,
  trx: Db,
  org: OrgId,
  incident: StoredIncident,
  reading: StoredReading,
  now: Date,
): Promise<void> => {
  const rule = await ruleOf(trx, org, incident)
  if (isMuted(rule, now)) return
  const isNews = incident.notifiedAt === null
  const changed = await updateIncident(trx, org, incident.id, { reading, clearSince: null, notifiedAt: now })
  if (!isNews) await record(trx, org, incident.id, 'repeated', null, now)
  await announce(deps, trx, org, changed, rule, { kind: isNews ? 'opened' : 'repeated', isNews })
}

export const acknowledgeIncident = async (
  deps: IncidentDeps,
  trx: Db,
  org: OrgId,
  incident: StoredIncident,
  byUserId: string,
  now: Date,
): Promise<StoredIncident> => {
  const change = { status: 'acknowledged', acknowledged: { at: now, byUserId } } as const
  const changed = await updateIncident(trx, org, incident.id, change)
  await record(trx, org, incident.id, 'acknowledged', byUserId, now)
  if (incident.notifiedAt === null) return changed
  const rule = await ruleOf(trx, org, incident)
  await announce(deps, trx, org, changed, rule, { kind: 'acknowledged', isNews: true })
  return changed
}

/** Resolves an incident. If its opening was never announced, the resolution isn't either. */
export const resolveIncident = async (
  deps: IncidentDeps,
  trx: Db,
  org: OrgId,
  incident: StoredIncident,
  byUserId: string | null,
  now: Date,
): Promise<StoredIncident> => {
  const resolved = { at: now, byUserId }
  const changed = await updateIncident(trx, org, incident.id, { status: 'resolved', resolved })
  await record(trx, org, incident.id, 'resolved', byUserId, now)
  if (incident.notifiedAt === null) return changed
  const rule = await ruleOf(trx, org, incident)
  await announce(deps, trx, org, changed, rule, { kind: 'resolved', isNews: true })
  return changed
}
