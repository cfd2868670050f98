import { beforeEach, describe, expect, it } from 'vitest'
import { makeMonitor } from '../../test/make.ts'
import { serverWithModel, turns } from '../../test/support/evaluations/evaluations.ts'
import {
  type ArmLabel,
  type Experiments,
  expectSame,
  openExperiments,
} from '../../test/support/experiments/experiments.ts'
import { studiesOf } from '../../test/support/experiments/studies.ts'
import { readCsv } from '../../test/support/exports/file-readers.ts'
import { boolean, numeric, observed, seeded } from '../../test/support/statistics.ts'
import type { Design } from '../statistics/design.ts'
import { outcomeResult } from '../statistics/outcome.ts'
import { type OutcomeValue, outcomeSumsOf } from '../statistics/outcome-sums.ts'

const { server } = await serverWithModel()
const { call } = server
const { make } = studiesOf(server)

let own: Experiments
let key: string
beforeEach(async () => {
  own = await openExperiments(server)
  key = own.key
})

const makeJudge = (output: object) =>
  makeMonitor(server, key, { kind: 'judge', definition: { criteria: 'What is the call about?', output } })

const topicsOutput = {
  type: 'category',
  categories: [
    { key: 'refund', label: 'Asks for a refund' },
    { key: 'delivery', label: 'Delivery' },
  ],
  allowOther: true,
  allowNotApplicable: true,
}
const orderOutput = {
  type: 'extract',
  fields: [
    { key: 'amount', type: 'number', description: 'The refunded amount.' },
    { key: 'urgent', type: 'boolean', description: 'Whether it is urgent.' },
    { key: 'name', type: 'string', description: 'The name.' },
  ],
}

const category = (metricId: string, name: string) => ({ metricId, kind: 'category', category: name })
const field = (metricId: string, name: string, range?: object) => ({
  metricId,
  kind: 'field',
  field: name,
  ...(range && { range }),
})
const range = { low: 0, high: 500 }

const launchOf = (metricId: string, outcomeMeasures: object[]) => ({
  outcomeMetricIds: [metricId],
  primaryMetricId: metricId,
  outcomeMeasures,
})

type Issue = { path: string; message: string }

describe('a launch', () => {
  it('measures categories and fields of judges, each as an outcome of its own', async () => {
    const [topics, order, plain] = [
      await makeJudge(topicsOutput),
      await makeJudge(orderOutput),
      await makeMonitor(server, key),
    ]
    const outcomeMeasures = [
      category(topics.id, 'refund'),
      { metricId: topics.id, kind: 'result' },
      category(topics.id, 'other'),
      field(order.id, 'amount', range),
      field(order.id, 'urgent'),
    ]
    const experiment = await own.launch({
      outcomeMetricIds: [topics.id, order.id, plain.id],
      primaryMetricId: topics.id,
      outcomeMeasures,
    })
    const { outcomes, ...shown } = await own.read(experiment)
    expect(shown).toMatchObject({
      outcomeMetricIds: [topics.id, order.id, plain.id],
      primaryMetricId: topics.id,
      outcomeMeasures: [...outcomeMeasures, { metricId: plain.id, kind: 'result' }],
    })
    expect(outcomes).toMatchObject([
      {
        metricId: topics.id,
        primary: true,
        kind: 'boolean',
        measure: { kind: 'category', key: 'refund', label: 'Asks for a refund' },
      },
      { metricId: topics.id, primary: false, measure: { kind: 'result', key: null, label: null } },
      { metricId: topics.id, primary: false, measure: { kind: 'category', key: 'other', label: 'No category fits' } },
      { metricId: order.id, kind: 'numeric', range, measure: { kind: 'field', key: 'amount', label: 'amount' } },
      { metricId: order.id, kind: 'boolean', range: null, measure: { kind: 'field', key: 'urgent' } },
      { metricId: plain.id, kind: 'boolean', measure: { kind: 'result' } },
    ])
    const { body } = await call('GET', '/v1/experiments?limit=1', { key })
    expect(body.data).toMatchObject([
      { outcomeMetricIds: shown.outcomeMetricIds, outcomeMeasures: shown.outcomeMeasures },
    ])
  })

  it('reports every measure that a monitor does not have', async () => {
    const [topics, order, plain] = [
      await makeJudge(topicsOutput),
      await makeJudge(orderOutput),
      await makeMonitor(server, key),
    ]
    const rule = await makeMonitor(server, key, {
      kind: 'rule',
      definition: { expression: 'true', categories: "{'late': true}", fields: "{'turns': turns.size()}" },
    })
    const answer = await own.tryLaunch({
      outcomeMetricIds: [topics.id, order.id, rule.id],
      primaryMetricId: topics.id,
      outcomeMeasures: [
        category(topics.id, 'refunds'),
        field(topics.id, 'amount', range),
        field(order.id, 'amount'),
        field(order.id, 'urgent', range),
        field(order.id, 'name'),
        field(rule.id, 'turns', { low: 5, high: 5 }),
        category(rule.id, 'late'),
        category(rule.id, 'late'),
        category(rule.id, 'early'),
        field(rule.id, 'turn', range),
        field(plain.id, 'amount', range),
      ],
    })
    expect(answer.status).toBe(400)
    expect(answer.body.details.issues.map(({ path }: Issue) => path)).toEqual([
      'outcomeMeasures[0].category',
      'outcomeMeasures[1].field',
      'outcomeMeasures[2].range',
      'outcomeMeasures[3].range',
      'outcomeMeasures[4].field',
      'outcomeMeasures[5].range.high',
      'outcomeMeasures[7]',
      'outcomeMeasures[8].category',
      'outcomeMeasures[9].field',
      'outcomeMeasures[10].metricId',
    ])
  })

  it('has at most 20 outcomes', async () => {
    const monitor = await makeMonitor(server, key)
    const other = await makeMonitor(server, key)
    const many = Array.from({ length: 20 }, (_, at) => category(monitor.id, `topic${at}`))
    expect((await own.tryLaunch(launchOf(monitor.id, many))).status).toBe(201)
    const launch = { ...launchOf(monitor.id, many), outcomeMetricIds: [monitor.id, other.id] }
    const { status, body } = await own.tryLaunch(launch)
    expect([status, body.details?.issues.map(({ path }: Issue) => path)]).toEqual([400, ['outcomeMeasures']])
  })
})

/** A conversation's result, and its expected values for the category `refund`, the amount, and `urgent`. */
type Case = { result: string; fields: object; values: [OutcomeValue, OutcomeValue, OutcomeValue] }

const missing: OutcomeValue = { status: 'missing' }
const failed: OutcomeValue = { status: 'failed' }

const cases = (amount: number): Case[] => [
  {
    result: 'affected',
    fields: { categories: ['refund', 'delivery'], fields: { amount, urgent: true } },
    values: [observed(1), observed(amount), observed(1)],
  },
  {
    result: 'not_affected',
    fields: { categories: ['delivery'], fields: { amount, urgent: false } },
    values: [observed(0), observed(amount), observed(0)],
  },
  // No category fits, so `refund` doesn't either.
  {
    result: 'unscored',
    fields: { categories: ['other'], fields: { amount: null, urgent: null } },
    values: [observed(0), missing, missing],
  },
  {
    result: 'unscored',
    fields: { categories: ['not_applicable'], fields: { amount: 501, urgent: 'yes' } },
    values: [missing, failed, failed],
  },
  { result: 'not_affected', fields: {}, values: [missing, missing, missing] },
  {
    result: 'not_affected',
    fields: { categories: [], fields: { urgent: true } },
    values: [observed(0), missing, observed(1)],
  },
]

const wishes = { target: null, conversationsPerDay: null }

type Stored = { arm: ArmLabel; values: Case['values'] }

/** Computes an outcome from scratch. Each conversation is its own unit. */
const computed = (stored: Stored[], at: number, design: Design) => {
  const inArm = ({ arm, values }: Stored, wanted: ArmLabel) => (arm === wanted ? [values[at] ?? missing] : [])
  const units = stored.map((one) => ({ a: inArm(one, 'A'), b: inArm(one, 'B'), inBothArms: false }))
  return outcomeResult(outcomeSumsOf(units, design), design, wishes)
}

/** Generates the content of random results. */
const openDraw = (random: ReturnType<typeof seeded>) => () => {
  const all = cases(Math.floor(random.uniform() * 900) / 2)
  return all[Math.floor(random.uniform() * all.length)] as Case
}

const width = ({ low, high }: { low: number; high: number }) => high - low

describe('the values of categories and fields', () => {
  it('equal a direct computation, with late and changed results and erasures', async () => {
    const monitor = await makeMonitor(server, key)
    const measures = [category(monitor.id, 'refund'), field(monitor.id, 'amount', range), field(monitor.id, 'urgent')]
    const experiment = await own.launch(launchOf(monitor.id, measures))
    const random = seeded(41)
    const draw = openDraw(random)
    const stored: (Stored & { id: string })[] = []
    const tell = async (id: string): Promise<Case['values']> => {
      const { result, fields, values } = draw()
      await own.tell(monitor.id, id, result, fields)
      return values
    }
    for (let number = 0; number < 60; number++) {
      const arm = random.uniform() < 0.5 ? 'A' : 'B'
      const id = await own.converse(arm)
      stored.push({ id, arm, values: [missing, missing, missing] })
    }
    await own.read(experiment)
    for (const one of stored.filter((_, at) => at % 7 > 0)) one.values = await tell(one.id)
    await own.read(experiment)
    for (const one of stored.filter((_, at) => at % 5 === 0)) one.values = await tell(one.id)
    await own.read(experiment)
    for (const { id } of stored.splice(10, 5)) await own.erase(id)
    const { outcomes } = await own.read(experiment)
    const designs: Design[] = [boolean, { ...numeric, range }, boolean]
    for (const [at, design] of designs.entries()) {
      expectSame(outcomes[at], computed(stored, at, design), `outcome ${at}`, 1e-9)
      const { a, b } = outcomes[at].arms
      expect(a.conversations + b.conversations).toBe(55)
      expect(a.missing + b.missing).toBeGreaterThan(0)
    }
  })

  it('have simultaneous intervals over all outcomes, also of the same monitor', async () => {
    const monitor = await makeMonitor(server, key)
    const other = await makeMonitor(server, key)
    const experiment = await own.launch({
      outcomeMetricIds: [monitor.id, other.id],
      primaryMetricId: other.id,
      outcomeMeasures: ['refund', 'delivery', 'complaint'].map((name) => category(monitor.id, name)),
    })
    for (let number = 0; number < 24; number++) {
      const id = await own.converse(number % 2 === 0 ? 'A' : 'B')
      const categories = ['complaint', number % 3 === 0 ? 'refund' : 'delivery']
      await own.tell(monitor.id, id, 'not_affected', { categories })
      await own.tell(other.id, id, number % 5 === 0 ? 'affected' : 'not_affected')
    }
    const { outcomes } = await own.read(experiment)
    const [refund, , complaint, primary] = outcomes
    expect(primary).toMatchObject({ primary: true, correction: null })
    // Every caller complains, so this outcome has an interval as well.
    expect(complaint.arms).toMatchObject({ a: { mean: 1 }, b: { mean: 1 } })
    for (const { correction } of [refund, complaint]) expect(correction.familySize).toBe(3)
    expect(width(refund.correction.simultaneous.anytime.interval)).toBeGreaterThan(
      width(refund.difference.anytime.interval),
    )
  })

  it('follow rules, and are retried once for all outcomes of a monitor', async () => {
    const rule = await makeMonitor(server, key, {
      kind: 'rule',
      definition: {
        expression: 'metrics.late',
        categories: "{'late': metrics.late, 'long': turns.size() > 2}",
        fields: "{'turns': turns.size()}",
      },
    })
    const measures = [
      category(rule.id, 'late'),
      category(rule.id, 'long'),
      field(rule.id, 'turns', { low: 0, high: 10 }),
    ]
    const experiment = await own.launch(launchOf(rule.id, measures))
    const id = await own.converse('A', { transcript: turns })
    await own.converse('B', { transcript: turns })
    await call('PUT', `/v1/conversations/${id}/metrics/late`, { key, body: { value: true } })
    const { outcomes } = await own.read(experiment)
    // Without the metric, the rule can't decide whether any category applies.
    expect(outcomes).toMatchObject([
      { arms: { a: { observed: 1, sum: 1 }, b: { observed: 0, missing: 1 } } },
      { arms: { a: { observed: 1, sum: 1 }, b: { observed: 0, missing: 1 } } },
      { arms: { a: { observed: 1, sum: 3 }, b: {} } },
    ])
    server.clock.advance(1_000)
    const { status, body } = await call('POST', `/v1/experiments/${experiment.id}/evaluations`, { key })
    expect(status).toBe(202)
    await server.drain()
    const runs = (await call('GET', `/v1/experiments/${experiment.id}/evaluations`, { key })).body.data
    expect(runs.find(({ id: run }: { id: string }) => run === body.id)).toMatchObject({ status: 'completed' })
  })

  it('are not corrected by reviews, and have a verdict of their own', async () => {
    const monitor = await makeMonitor(server, key)
    const experiment = await own.launch(launchOf(monitor.id, [category(monitor.id, 'refund')]))
    for (let number = 0; number < 40; number++) {
      const arm = number % 2 === 0 ? 'A' : 'B'
      const id = await own.converse(arm)
      await own.tell(monitor.id, id, 'not_affected', { categories: arm === 'A' ? ['delivery'] : ['refund'] })
    }
    const [outcome] = (await own.read(experiment)).outcomes
    expect(outcome).toMatchObject({ corrected: null, verdict: { verdict: 'b_higher' } })
    expect(outcome.verdict.text).toMatch(/^B has this category \d/)
  })
})

describe('an export', () => {
  it('has the columns of each outcome, with the results of its monitor', async () => {
    const monitor = await makeMonitor(server, key, { name: 'Topics' })
    const measures = [category(monitor.id, 'refund'), field(monitor.id, 'amount', range)]
    const experiment = await own.launch(launchOf(monitor.id, measures))
    await own.tell(monitor.id, await own.converse('A'), 'affected', {
      categories: ['refund'],
      fields: { amount: 20.5 },
    })
    await own.tell(monitor.id, await own.converse('B'), 'not_affected', { categories: [] })
    await own.read(experiment)
    const { names, rows } = readCsv(await make({ key, id: experiment.id }, { format: 'csv' }))
    const cellsOf = (cells: unknown[]) => Object.fromEntries(names.map((name, at) => [name, cells[at]]))
    expect(rows.map(cellsOf)).toMatchObject([
      {
        topics_refund_observation: 'observed',
        topics_refund_value: '1',
        topics_refund_result: 'affected',
        topics_amount_observation: 'observed',
        topics_amount_value: '20.5',
        topics_amount_result: 'affected',
      },
      { topics_refund_value: '0', topics_amount_observation: 'missing', topics_amount_result: 'not_affected' },
    ])
  })
})
