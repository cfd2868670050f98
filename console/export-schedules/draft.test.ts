import { describe, expect, it } from 'vitest'
import { changesOf, readDraft, startOf, startWith } from './draft.ts'
import type { Schedule } from './queries.ts'

// The schedule has only the fields that drafts read.
const schedule = {
  name: 'Refunds',
  config: { monitors: [{ id: 'm', result: 'affected' }], timezone: 'Europe/Berlin', format: 'csv' },
  recurrence: { every: 'week', at: '02:30', weekday: 'friday', minute: null, day: null },
  window: { kind: 'last', hours: null, days: 7 },
  settleMinutes: 30,
  destination: {
    type: 's3',
    webhookEndpointId: null,
    bucket: 'refunds',
    region: 'eu-central-1',
    prefix: 'weekly',
    endpoint: null,
    accessKeyId: 'AKIA',
    fileName: null,
    encryption: null,
  },
} as unknown as Schedule

const bodyOf = (draft: ReturnType<typeof startOf>) => {
  const read = readDraft(draft)
  if ('missing' in read) throw new Error(read.missing)
  return read.body
}

describe('a schedule’s draft', () => {
  it('sends what it has loaded', () => {
    expect(bodyOf(startOf(schedule))).toEqual({
      name: 'Refunds',
      config: { monitors: [{ id: 'm', result: 'affected' }], timezone: 'Europe/Berlin', format: 'csv' },
      recurrence: { every: 'week', at: '02:30', weekday: 'friday' },
      window: { kind: 'last', days: 7 },
      settleMinutes: 30,
      destination: { type: 's3', bucket: 'refunds', region: 'eu-central-1', accessKeyId: 'AKIA', prefix: 'weekly' },
    })
  })

  it('sends only the fields of its frequency and period', () => {
    const draft = startOf(schedule)
    expect(bodyOf({ ...draft, every: 'hour', minute: '5' }).recurrence).toEqual({ every: 'hour', minute: 5 })
    expect(bodyOf({ ...draft, every: 'day' }).recurrence).toEqual({ every: 'day', at: '02:30' })
    expect(bodyOf({ ...draft, every: 'month', day: '31' }).recurrence).toEqual({ every: 'month', at: '02:30', day: 31 })
    expect(bodyOf({ ...draft, window: 'since_last_run' }).window).toEqual({ kind: 'since_last_run' })
    expect(bodyOf({ ...draft, window: 'hours', amount: '6' }).window).toEqual({ kind: 'last', hours: 6 })
    expect(bodyOf({ ...draft, to: 'webhook', webhookEndpointId: 'w' }).destination).toEqual({
      type: 'webhook',
      webhookEndpointId: 'w',
    })
  })

  it('says what is missing', () => {
    const draft = startOf(schedule)
    expect(readDraft({ ...draft, name: ' ' })).toEqual({ missing: 'Enter a name.' })
    expect(readDraft({ ...draft, what: { monitors: [] } })).toEqual({ missing: 'Choose at least one monitor.' })
    expect(readDraft({ ...draft, to: 'webhook' })).toEqual({ missing: 'Choose a webhook endpoint.' })
    expect(readDraft({ ...draft, region: '' })).toEqual({ missing: 'Enter the bucket’s name, region, and access key.' })
  })

  it('changes only the edited fields, so that the destination is not tested again and a due run stays due', () => {
    const start = startOf(schedule)
    expect(changesOf(start, bodyOf({ ...start, name: 'All refunds' }))).toEqual({ name: 'All refunds' })
    expect(Object.keys(changesOf(start, bodyOf({ ...start, at: '03:00' })))).toEqual(['name', 'recurrence'])
  })

  it('sends the destination if a new secret is entered', () => {
    const start = startOf(schedule)
    const changes = changesOf(start, bodyOf({ ...start, secretAccessKey: 'secret' }))
    expect(changes).toMatchObject({ destination: { bucket: 'refunds', secretAccessKey: 'secret' } })
  })
})

describe('a schedule of an export', () => {
  const list = { filter: { channels: ['call' as const] }, columns: [{ key: 'startedAt' }], format: 'xlsx' as const }

  it('repeats its list in windows of its period', () => {
    const period = { previous: 'week' as const, timezone: 'Europe/Berlin' }
    const draft = startWith({ list: { ...list, filter: { ...list.filter, period } } })
    expect(draft).toMatchObject({ every: 'week', weekday: 'monday', at: '01:00', window: 'days', amount: '7' })
    const body = bodyOf({ ...draft, to: 'webhook', webhookEndpointId: 'w' })
    expect(body).toMatchObject({ conversationConfig: { ...list, timezone: 'Europe/Berlin' }, settleMinutes: 60 })
    expect(body).not.toHaveProperty('config')
    expect(bodyOf({ ...draft, to: 'webhook', webhookEndpointId: 'w' }).name).toBe('Conversations as Excel')
  })

  it.each([
    [{ last: '24h' }, { every: 'day', amount: '1' }],
    [{ last: '3d' }, { every: 'day', amount: '3' }],
    [{ last: '2w' }, { every: 'week', amount: '14' }],
    [{ current: 'month' as const }, { every: 'month', window: 'since_last_run' }],
    [{ last: '90m' }, { every: 'day', window: 'since_last_run' }],
  ])('of %j runs %j', (period, expected) => {
    expect(startWith({ list: { ...list, filter: { period } } })).toMatchObject(expected)
  })

  it('repeats its results, and notifies the same endpoint', () => {
    const config = {
      monitors: [{ id: 'm' }],
      since: '2026-11-01T00:00:00Z',
      timezone: 'UTC',
      notificationEndpointId: 'w',
    }
    expect(bodyOf(startWith({ config }))).toMatchObject({
      config: { monitors: [{ id: 'm' }], timezone: 'UTC' },
      destination: { type: 'webhook', webhookEndpointId: 'w' },
    })
  })
})
