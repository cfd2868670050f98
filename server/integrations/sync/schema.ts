import Type from 'typebox'
import { Choice, Closed, Id, Nullable, PageQuery, Timestamp } from '../../platform/http/schemas.ts'

const Instant = Nullable(Type.Unsafe<Date>({ type: 'string', format: 'date-time' }))
const count = (description: string) => Type.Integer({ minimum: 0, description })

const counts = {
  listed: count('Newly listed calls.'),
  stored: count('Listed calls that were already stored.'),
  filled: count('Missing calls that were retrieved.'),
  failed: count('Calls that could not be stored.'),
  erased: count('Calls that were erased, which stay erased.'),
}

const run = {
  id: Id,
  status: Choice(['running', 'completed', 'failed', 'cancelled']),
  reason: Nullable(Type.String({ description: 'Why the run failed or was cancelled.' })),
  ...counts,
  unfinished: count('Calls in progress or just ended, which are checked again.'),
  startedAt: Timestamp,
  endedAt: Instant,
}

export const SyncRun = Closed(run, { title: 'IntegrationSyncRun' })

const state = {
  enabled: Type.Boolean(),
  state: Choice(['off', 'waiting', 'running', 'paused'], {
    description: 'paused: `pausedReason` says why the sync has stopped until its settings change.',
  }),
  pausedReason: Nullable(Type.String()),
  apiBaseUrl: Nullable(Type.String({ description: 'Null for the provider’s default.' })),
  intervalMinutes: Type.Integer(),
  lookbackDays: Type.Integer(),
  completeUntil: {
    ...Timestamp,
    description: 'Every call that started before this time is stored or listed as a failed gap.',
  },
  nextRunAt: { ...Instant, description: 'Null while the sync is disabled or paused.' },
  openGaps: count('Calls that could not be stored yet. They are retried.'),
  lastRun: Nullable(Closed(run)),
}

/** The state of a sync, as in the response for its integration. */
export const SyncState = Closed(state)

export const Sync = Closed(
  { ...state, last30Days: Closed(counts, { description: 'Totals of the runs that started in the last 30 days.' }) },
  { title: 'IntegrationSync' },
)

export const SyncPut = Closed(
  {
    enabled: Type.Boolean({ default: true }),
    apiKey: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1_000,
        pattern: '^[\\x21-\\x7e]+$',
        description: 'The provider’s API key. Never shown again. If omitted, the current key is kept.',
        examples: ['an-api-key'],
      }),
    ),
    apiBaseUrl: Type.Optional({
      ...Nullable(Type.String({ maxLength: 500, pattern: '^https?://[^\\s/?#@\\\\]+(/[^\\s?#@\\\\]*)?$' })),
      description: 'Default: the provider’s API. To change it, send the key too.',
    }),
    intervalMinutes: Type.Integer({ minimum: 5, maximum: 1_440, default: 15 }),
    lookbackDays: Type.Integer({
      minimum: 1,
      maximum: 90,
      default: 7,
      description: 'How far back the sync starts. Changing this, the key, or the address restarts the sync.',
    }),
  },
  { examples: [{ enabled: true, apiKey: 'an-api-key', intervalMinutes: 15, lookbackDays: 7 }] },
)

const gapStates = ['unfinished', 'failed'] as const

export const SyncGap = Closed(
  {
    id: Id,
    externalId: Type.String({ description: 'The provider’s call ID.' }),
    state: Choice(gapStates, {
      description: 'unfinished: the call is in progress or just ended. failed: see `reason`.',
    }),
    reason: Nullable(Type.String()),
    beganAt: Instant,
    attempts: Type.Integer({ minimum: 1 }),
    foundAt: Timestamp,
    triedAt: Timestamp,
    nextTryAt: Timestamp,
  },
  { title: 'IntegrationSyncGap' },
)

export const SyncGapQuery = Closed({ ...PageQuery.properties, state: Type.Optional(Choice(gapStates)) })
