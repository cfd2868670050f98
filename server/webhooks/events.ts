import type { Feature } from '../platform/identity/actor.ts'

type Kind = {
  /** The feature that the event requires. */
  feature?: Feature
}

/** All kinds of events that an endpoint can subscribe to. Add a line for each new kind. */
const subscribable = {
  'monitor_export.completed': { feature: 'exportWebhooks' },
  'monitor_export.failed': { feature: 'exportWebhooks' },
  'monitor_export.expired': { feature: 'exportWebhooks' },
  'conversation_export.completed': { feature: 'exportWebhooks' },
  'conversation_export.failed': { feature: 'exportWebhooks' },
  'conversation_export.expired': { feature: 'exportWebhooks' },
  'export_schedule.paused': { feature: 'exportWebhooks' },
  'review.completed': {},
  'finding.created': {},
  'finding.updated': {},
  'alert_incident.opened': {},
  'alert_incident.acknowledged': {},
  'alert_incident.resolved': {},
} satisfies Record<string, Kind>

export type SubscribableEvent = keyof typeof subscribable

/** `webhook.test` is sent to an endpoint on request, regardless of its subscriptions. */
export type EventType = SubscribableEvent | 'webhook.test'

// Object.keys loses the literal types.
export const subscribableEvents = Object.keys(subscribable) as SubscribableEvent[]
export const eventTypes: readonly EventType[] = [...subscribableEvents, 'webhook.test']

const kinds: Record<SubscribableEvent, Kind> = subscribable

export const featureOf = (type: EventType): Feature | undefined =>
  type === 'webhook.test' ? undefined : kinds[type].feature
