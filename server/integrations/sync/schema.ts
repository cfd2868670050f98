import Type from 'typebox'
import { Choice, Closed, Id, Nullable, PageQuery, Timestamp } from '../../platform/http/schemas.ts'

const Instant = Nullable(Type.Unsafe<Date>({ type: 'string', format: 'date-time' }))
const count = (description: string) => Type.Integer({ minimum: 0, description })

const counts = {
  listed: count('Calls that the provider listed and that had not been listed before.'),
  stored: count('Of those, the ones that were stored already.'),
  filled: count('Calls that were lacking here and were fetched.'),
  failed: count('Calls that could not be taken in.'),
  erased: count('Calls that were erased here; they stay so.'),
}

const run = {
  id: Id,
  status: Choice(['running', 'completed', 'failed', 'cancelled']),
  reason: Nullable(Type.String({ description: 'Why it failed or was cancelled.' })),
  ...counts,
  unfinished: count('Calls that went on, or had just ended: they are looked at again.'),
  startedAt: Timestamp,
  endedAt: Instant,
}

export const SyncRun = Closed(run, { title: 'IntegrationSyncRun' })

const state = {
  enabled: Type.Boolean(),
  state: Choice(['off', 'waiting', 'running', 'paused'], {
    description: 'paused: `pausedReason` says why nothing is asked until the settings change.',
  }),
  pausedReason: Nullable(Type.String()),
  apiBaseUrl: Nullable(Type.String({ description: 'Null for the provider’s own.' })),
  intervalMinutes: Type.Integer(),
  lookbackDays: Type.Integer(),
  completeUntil: {
    ...Timestamp,
    description: 'Every call that began before this is stored, or stands among the gaps that failed.',
  },
  nextRunAt: { ...Instant, description: 'Null while it is off or paused.' },
  openGaps: count('Calls that could not be taken in yet. They are tried again.'),
  lastRun: Nullable(Closed(run)),
}

/** As an integration shows it. */
export const SyncState = Closed(state)

export const Sync = Closed(
  { ...state, last30Days: Closed(counts, { description: 'Over the runs that began in the last 30 days.' }) },
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
        description: 'The provider’s API key. It is never shown again; left out, the present one stays.',
        examples: ['an-api-key'],
      }),
    ),
    apiBaseUrl: Type.Optional({
      ...Nullable(Type.String({ maxLength: 500, pattern: '^https?://[^\\s/?#@\\\\]+(/[^\\s?#@\\\\]*)?$' })),
      description: 'The provider’s own when left out. Another one needs the key beside it.',
    }),
    intervalMinutes: Type.Integer({ minimum: 5, maximum: 1_440, default: 15 }),
    lookbackDays: Type.Integer({
      minimum: 1,
      maximum: 90,
      default: 7,
      description: 'How far back the sync begins. Another value, key or address than before begins anew from there.',
    }),
  },
  { examples: [{ enabled: true, apiKey: 'an-api-key', intervalMinutes: 15, lookbackDays: 7 }] },
)

const gapStates = ['unfinished', 'failed'] as const

export const SyncGap = Closed(
  {
    id: Id,
    externalId: Type.String({ description: 'The provider’s own id of the call.' }),
    state: Choice(gapStates, {
      description: 'unfinished: the call goes on, or had just ended. failed: `reason` says why.',
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
