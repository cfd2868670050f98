import { useEndpoints } from '../exports/queries.ts'
import { plural } from '../lib/format.ts'
import { Badge, type Tone } from '../ui/badge.tsx'
import { Time } from '../ui/time.tsx'
import type { Schedule, ScheduleRun } from './queries.ts'

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** Weeks start on Monday. */
export const weekdays = (['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const).map(
  (value) => ({ value, label: capital(value) }),
)

export const recurrenceWords = ({ recurrence, config, conversationConfig }: Schedule): string => {
  const { every, minute, at, weekday, day } = recurrence
  const zone = (config ?? conversationConfig)?.timezone
  if (every === 'hour') return `Every hour at minute ${minute ?? 0}`
  if (every === 'day') return `Every day at ${at} (${zone})`
  if (every === 'week') return `Every ${capital(weekday ?? 'monday')} at ${at} (${zone})`
  return `On day ${day} of every month at ${at} (${zone})`
}

export const windowWords = ({ window, settleMinutes }: Pick<Schedule, 'window' | 'settleMinutes'>): string => {
  const { kind, hours, days } = window
  const calls =
    kind === 'since_last_run'
      ? 'Since the last run'
      : `Last ${(hours === null ? plural(days ?? 1, 'day') : plural(hours, 'hour')).replace(/^1 /, '')}`
  return settleMinutes === 0 ? calls : `${calls}, ending ${plural(settleMinutes, 'minute')} before the run`
}

export const Destination = ({ of }: { of: Schedule['destination'] }) => {
  const { nameOf } = useEndpoints()
  const { type, bucket, prefix, webhookEndpointId } = of
  return type === 'webhook' ? nameOf(webhookEndpointId) : `s3://${bucket}${prefix ? `/${prefix}` : ''}`
}

const pauses: Record<NonNullable<Schedule['pauseReason']>, string> = {
  by_hand: 'Paused',
  failing: 'Paused: five runs in a row failed',
  owner_left: 'Paused: its owner is no longer a member',
}

export const ScheduleState = ({ schedule: { status, pauseReason, nextRunAt } }: { schedule: Schedule }) => {
  if (status === 'paused') {
    const isFailing = pauseReason !== 'by_hand'
    return <Badge tone={isFailing ? 'failed' : 'unscored'}>{pauses[pauseReason ?? 'by_hand']}</Badge>
  }
  return (
    <span>
      Next <Time at={nextRunAt ?? ''} />
    </span>
  )
}

const states: Record<ScheduleRun['status'], { tone: Tone; word: string }> = {
  generating: { tone: 'accent', word: 'Creating' },
  delivering: { tone: 'accent', word: 'Delivering' },
  succeeded: { tone: 'plain', word: 'Completed' },
  failed: { tone: 'failed', word: 'Failed' },
}

export const RunState = ({ run }: { run: ScheduleRun }) => {
  const { tone, word } = states[run.status]
  return <Badge tone={tone}>{word}</Badge>
}
