// Describes the exports of a schedule: monitor results or conversations.

import type { Configuration } from '../exports/configuration.ts'
import type { ConversationConfiguration } from '../exports/conversations/configuration.ts'
import { requireListed } from '../exports/conversations/requirements.ts'
import { type Asking, requireSelected } from '../exports/requirements.ts'
import type { Db } from '../platform/db/database.ts'
import type { Actor } from '../platform/identity/actor.ts'
import type { ScheduleDestination } from './queries.ts'

export type ScheduledCalls = Omit<Configuration, 'since' | 'until' | 'notificationEndpointId'>
export type ScheduledConversations = Omit<ConversationConfiguration, 'notificationEndpointId'>
export type ScheduledConfig = ScheduledCalls | ScheduledConversations

/** Returns the stored configuration, which can only come from `parseSchedule`. */
export const configOf = ({ config }: { config: object }): ScheduledConfig => config as ScheduledConfig

const isOfConversations = (config: ScheduledConfig): config is ScheduledConversations => 'columns' in config

export const kindOf = (config: ScheduledConfig) => (isOfConversations(config) ? 'conversation' : 'monitor')

/** Returns the configuration under the API property for its kind. */
export const shownConfig = (config: ScheduledConfig) =>
  isOfConversations(config) ? { conversationConfig: config } : { config }

/** Returns the configuration of an export that covers a period. */
export const configWithin = (config: ScheduledConfig, window: { since: Date; until: Date }) => {
  const times = { since: window.since.toISOString(), until: window.until.toISOString() }
  return isOfConversations(config) ? { ...config, filter: { ...config.filter, ...times } } : { ...config, ...times }
}

export type Scheduling = Asking & Pick<Actor, 'entitlements'>

/** Throws if the schedule refers to a resource that does not exist, or to an endpoint that can't be notified. */
export const requireNamed = (
  db: Db,
  asking: Scheduling,
  { config, destination }: { config: ScheduledConfig; destination: ScheduleDestination },
): Promise<void> => {
  const endpoint = destination.type === 'webhook' ? { notificationEndpointId: destination.webhookEndpointId } : {}
  const endpointPath = 'destination.webhookEndpointId'
  return isOfConversations(config)
    ? requireListed(db, asking, { ...config, ...endpoint }, { path: 'conversationConfig', endpointPath })
    : requireSelected(db, asking, { ...config, ...endpoint }, endpointPath)
}
