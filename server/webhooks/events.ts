import type { Feature } from '../platform/identity/actor.ts'

type Kind = {
  /** Without which it is not sent. */
  feature?: Feature
}

/** Every kind of event that an endpoint may subscribe to. A further one is a line here. */
const subscribable = {
  'monitor_export.completed': { feature: 'exportWebhooks' },
  'monitor_export.failed': { feature: 'exportWebhooks' },
  'monitor_export.expired': { feature: 'exportWebhooks' },
  'export_schedule.paused': { feature: 'exportWebhooks' },
  'review.completed': {},
  'finding.created': {},
  'finding.updated': {},
  'alert_incident.opened': {},
  'alert_incident.acknowledged': {},
  'alert_incident.resolved': {},
} satisfies Record<string, Kind>

export type SubscribableEvent = keyof typeof subscribable

/** `webhook.test` goes to an endpoint whenever someone asks for it, whatever it subscribes to. */
export type EventType = SubscribableEvent | 'webhook.test'

// Object.keys forgets the literal types.
export const subscribableEvents = Object.keys(subscribable) as SubscribableEvent[]
export const eventTypes: readonly EventType[] = [...subscribableEvents, 'webhook.test']

const kinds: Record<SubscribableEvent, Kind> = subscribable

export const featureOf = (type: EventType): Feature | undefined =>
  type === 'webhook.test' ? undefined : kinds[type].feature
