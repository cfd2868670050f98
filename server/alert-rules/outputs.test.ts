// Tests rules about the categories and fields of monitors.

import { beforeEach, describe, expect, it } from 'vitest'
import { makeAlertRule, makeConversations, makeMonitor, makeOrganization } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { hourMs, minuteMs } from '../platform/durations.ts'
import { checkAlertRules } from './jobs.ts'

const server = await testServer()
const { call, clock, deps } = server

let key: string
let monitorId: string
beforeEach(async () => {
  key = (await makeOrganization(server)).key
  monitorId = (await makeMonitor(server, key)).id
  // Rules from other tests in this file must not be due.
  await deps.db.updateTable('alert_rules').set({ enabled: false }).execute()
})

const check = async () => {
  await deps.jobs.enqueue(deps.db, checkAlertRules, {})
  await deps.jobs.drain([checkAlertRules], deps)
}

const minutesAgo = (minutes: number) => new Date(clock.now().getTime() - minutes * minuteMs).toISOString()

/** Creates a conversation for each result. */
const tell = async (results: object[], startedAt = minutesAgo(2), fields: object = {}) => {
  const ids = await makeConversations(
    server,
    key,
    results.map(() => ({ startedAt, ...fields })),
  )
  const body = {
    results: results.map((result, at) => ({ monitorId, conversationId: ids[at], result: 'not_affected', ...result })),
  }
  const answer = await call('POST', '/v1/monitor-results', { key, body })
  expect(answer.body.data.flatMap(({ error }: { error?: unknown }) => error ?? [])).toEqual([])
  return ids
}

const times = (count: number, result: object) => Array.from({ length: count }, () => result)
const amounts = (values: number[]) => values.map((amount) => ({ fields: { amount } }))

type Incident = { text: string; conversationIds: string[]; value: number; sample: number }

const incidentsOf = async (ruleId: string) =>
  (await call('GET', `/v1/alert-incidents?ruleId=${ruleId}`, { key })).body.data as Incident[]

const fires = async (condition: object, fields: object = {}) => {
  const { id } = await makeAlertRule(server, key, {
    condition: { monitorId, ...condition },
    minimumSample: 5,
    ...fields,
  })
  await check()
  return incidentsOf(id)
}

const preview = (condition: object) =>
  call('POST', '/v1/alert-rules/preview', {
    key,
    body: { condition: { monitorId, ...condition }, windowMinutes: 60, minimumSample: 5 },
  })

/** At half past the hour, all results in the last complete hour count. */
const moveToHalfPast = () => clock.advance(hourMs - (clock.now().getTime() % hourMs) + 30 * minuteMs)

describe('the share of a category', () => {
  const condition = { kind: 'category', category: 'refund', direction: 'above' }

  it('fires if its interval is past the threshold, and shows conversations with the category', async () => {
    const ids = await tell(times(12, { categories: ['refund', 'delivery'] }))
    await tell([
      ...times(18, { categories: ['delivery'] }),
      { categories: [] },
      // Neither of these results counts towards the share.
      ...times(40, { categories: ['not_applicable'], result: 'unscored' }),
      ...times(40, {}),
    ])
    expect(await fires({ ...condition, threshold: 0.3 })).toEqual([])
    const [incident, ...others] = await fires({ ...condition, threshold: 0.2 })
    expect(others).toEqual([])
    expect(incident).toMatchObject({ sample: 31, value: 12 / 31 })
    expect(incident?.text).toMatch(
      /^38.7% of conversations have the category refund \(\d.*n = 31\), above 20.0%, in the last hour\.$/,
    )
    expect(ids).toEqual(expect.arrayContaining(incident?.conversationIds ?? []))
    expect(await fires({ ...condition, threshold: 0.3, certainty: 'point' })).toHaveLength(1)
    expect(await fires({ ...condition, category: 'not_applicable', threshold: 0.4 })).toMatchObject([{ sample: 71 }])
  })

  it('follows filters and groups, and counts the newest version', async () => {
    await tell(times(30, { categories: ['refund'], fields: { amount: 9 } }), minutesAgo(2), { channel: 'chat' })
    await tell(times(30, { categories: ['delivery'] }))
    expect(await fires({ ...condition, threshold: 0.6 })).toEqual([])
    expect(await fires({ ...condition, threshold: 0.6 }, { filter: { channels: ['chat'] } })).toMatchObject([
      { value: 1, sample: 30 },
    ])
    const large = { fields: [{ monitorId, field: 'amount', op: 'gt', value: '8' }] }
    expect(await fires({ ...condition, threshold: 0.6 }, { filter: large })).toMatchObject([{ value: 1, sample: 30 }])
    expect(await fires({ ...condition, threshold: 0.6 }, { groupBy: 'agent' })).toEqual([])
  })

  it('fires if it changes', async () => {
    moveToHalfPast()
    await tell([...times(2, { categories: ['refund'] }), ...times(98, { categories: [] })], minutesAgo(100))
    await tell([...times(30, { categories: ['refund'] }), ...times(70, { categories: [] })], minutesAgo(40))
    const change = { kind: 'change', direction: 'up', falseAlarmsPerYear: 12 }
    // No conversation was affected.
    expect(await fires(change)).toEqual([])
    const [incident] = await fires({ ...change, category: 'refund' })
    expect(incident?.text).toMatch(
      /^30.0% of conversations have the category refund .*a clear change from the period before\.$/,
    )
    expect(await fires({ ...change, category: 'refund', direction: 'down' })).toEqual([])
  })
})

describe('the values of a field', () => {
  const condition = { kind: 'field', field: 'amount', direction: 'above' }

  it('fire if the interval of their mean is past the threshold', async () => {
    const ids = await tell(amounts(Array.from({ length: 20 }, (_, at) => 60 + (at % 5) * 10)))
    // Missing values are not zeros.
    await tell([...times(20, { fields: { amount: null } }), ...times(5, {}), { fields: { amount: 'much' } }])
    expect(await fires({ ...condition, statistic: 'mean', threshold: 75 })).toEqual([])
    const [incident] = await fires({ ...condition, statistic: 'mean', threshold: 70 })
    expect(incident?.text).toBe('The mean of amount was 80 (n = 20), above 70, in the last hour.')
    expect(ids).toEqual(expect.arrayContaining(incident?.conversationIds ?? []))
  })

  it('fire if the share of values past the threshold exceeds the percentile', async () => {
    await tell(amounts([...times(70, {}).map(() => 60), ...times(30, {}).map(() => 900)]))
    expect(await fires({ ...condition, statistic: 'p50', threshold: 300 })).toEqual([])
    const [incident] = await fires({ ...condition, statistic: 'p95', threshold: 300 })
    expect(incident?.text).toBe('The 95th percentile of amount was 900 (n = 100), above 300, in the last hour.')
  })

  it('ignore numbers that are too large to be summed', async () => {
    const scores = [1e200, -1e200, ...times(20, {}).map(() => 3)]
    await tell(scores.map((score) => ({ score, fields: { amount: score * 10 } })))
    const mean = { direction: 'above', statistic: 'mean', threshold: 1 }
    expect(await fires({ ...mean, kind: 'field', field: 'amount' })).toMatchObject([{ value: 30, sample: 20 }])
    expect(await fires({ ...mean, kind: 'score' })).toMatchObject([{ value: 3, sample: 20 }])
  })

  it('count true as 1 and false as 0', async () => {
    await tell([...times(30, { fields: { urgent: true } }), ...times(10, { fields: { urgent: false } })])
    const [incident] = await fires({
      kind: 'field',
      field: 'urgent',
      direction: 'above',
      statistic: 'mean',
      threshold: 0.5,
    })
    expect(incident).toMatchObject({ value: 0.75, sample: 40 })
  })

  it.each([
    ['the period before', undefined, 100],
    ['the same time a week earlier', 'same_weekday', 40 + 7 * 24 * 60],
  ])('fire if they changed from %s', async (words, comparedTo, minutes) => {
    moveToHalfPast()
    const spread = (from: number) => Array.from({ length: 60 }, (_, at) => from + (at % 10))
    await tell(amounts(spread(20)), minutesAgo(minutes))
    const ids = await tell(amounts(spread(26)), minutesAgo(40))
    const change = {
      kind: 'change',
      field: 'amount',
      direction: 'up',
      falseAlarmsPerYear: 12,
      ...(comparedTo && { comparedTo }),
    }
    const [incident] = await fires(change)
    expect(incident?.text).toBe(
      `The median of amount was 30 (n = 60) in a period of 1 hour, a clear change from ${words}.`,
    )
    expect(ids).toEqual(expect.arrayContaining(incident?.conversationIds ?? []))
    expect(incident?.conversationIds).toHaveLength(3)
    expect(await fires({ ...change, direction: 'down' })).toEqual([])
    const { body } = await preview(change)
    expect(body.incidents).toMatchObject([{ value: 30 }])
  })

  it('do not fire if they stay the same, whatever their number is', async () => {
    moveToHalfPast()
    await tell(amounts(Array.from({ length: 20 }, (_, at) => 20 + at)), minutesAgo(100))
    await tell(amounts(Array.from({ length: 100 }, (_, at) => 20 + (at % 20))), minutesAgo(40))
    expect(await fires({ kind: 'change', field: 'amount', direction: 'either', falseAlarmsPerYear: 300 })).toEqual([])
  })
})

describe('a preview', () => {
  it('shows when a category or field would have fired', async () => {
    await tell(times(60, { categories: ['refund'], fields: { amount: 20 } }), minutesAgo(24 * 60))
    await tell(times(60, { categories: [], fields: { amount: 10 } }), minutesAgo(12 * 60))
    const shares = await preview({ kind: 'category', category: 'refund', direction: 'above', threshold: 0.5 })
    expect(shares.body.incidents).toMatchObject([{ value: 1 }])
    const values = await preview({
      kind: 'field',
      field: 'amount',
      statistic: 'p50',
      direction: 'above',
      threshold: 15,
    })
    expect(values.body.incidents).toMatchObject([{ value: 20 }])
  })
})

describe('a rule', () => {
  it('names categories and fields that its monitor has', async () => {
    const definition = { expression: 'true', categories: "{'late': true}", fields: "{'turns': turns.size()}" }
    const rule = await makeMonitor(server, key, { kind: 'rule', definition })
    const faultOf = async (condition: object) => {
      const body = { name: 'Late', condition: { monitorId: rule.id, ...condition } }
      const answer = await call('POST', '/v1/alert-rules', { key, body })
      return answer.status === 201 ? 'none' : answer.body.details.issues[0].path
    }
    const share = { kind: 'category', direction: 'above', threshold: 0.5 }
    const change = { kind: 'change', direction: 'up', falseAlarmsPerYear: 2 }
    const mean = { kind: 'field', direction: 'above', statistic: 'mean', threshold: 5 }
    expect(await faultOf({ ...share, category: 'late' })).toBe('none')
    expect(await faultOf({ ...share, category: 'early' })).toBe('condition.category')
    expect(await faultOf({ ...mean, field: 'turns' })).toBe('none')
    expect(await faultOf({ ...mean, field: 'turn' })).toBe('condition.field')
    expect(await faultOf({ ...change, field: 'turns' })).toBe('none')
    expect(await faultOf({ ...change, field: 'turns', category: 'late' })).toBe('condition.field')
  })

  it('can still be changed if its monitor no longer has the category', async () => {
    const definition = { expression: 'true', categories: "{'late': true}" }
    const rule = await makeMonitor(server, key, { kind: 'rule', definition })
    const condition = { kind: 'category', monitorId: rule.id, category: 'late', direction: 'above', threshold: 0.5 }
    const { id } = await makeAlertRule(server, key, { condition })
    const body = { definition: { expression: 'true' } }
    expect((await call('PATCH', `/v1/monitors/${rule.id}`, { key, body })).status).toBe(200)
    expect((await call('PATCH', `/v1/alert-rules/${id}`, { key, body: { name: 'Lateness' } })).status).toBe(200)
  })
})
