// Compares incremental updates with a computation from scratch.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { makeMonitor } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { type ArmLabel, expectSame, openExperiments } from '../../test/support/experiments/experiments.ts'
import { orgIdOf } from '../platform/ids.ts'
import { type Design, standardDesign } from '../statistics/design.ts'
import { outcomeResult } from '../statistics/outcome.ts'
import { type OutcomeValue, outcomeSumsOf, type UnitAnswers } from '../statistics/outcome-sums.ts'
import { countChanges } from './observations/apply-changes.ts'
import { countAll, startCounting } from './observations/counter-loop.ts'
import { changeOutcome, noExactOutcome, outcomeSums } from './observations/exact-sums.ts'
import { changeTotals, missing, noUnitTotals, observed } from './observations/unit-totals.ts'

const server = await testServer()
const { call } = server

type Stored = {
  id: string
  arm: ArmLabel
  customer: string | undefined
  affected: boolean | undefined
  score: number | undefined
}

const customers = ['ada', 'bea', 'cleo', 'dora', undefined]
/** For these values, sums of floats are correct to nine digits. */
const similar = [0, 1, 2.5, 3.25, 0.1, 0.2]
const scores = [...similar, -3.25, 1e-7, 1_000_000_000.1, 1_000_000_000.2, 1e15, 3e20]

type Operation =
  | { do: 'converse'; arm: ArmLabel; customer: string | undefined }
  | { do: 'tell'; which: number; affected: boolean }
  | { do: 'measure'; which: number; score: number }
  | { do: 'rename'; which: number; customer: string | undefined }
  | { do: 'move'; which: number; arm: ArmLabel }
  | { do: 'erase'; which: number }
  | { do: 'count' }

const arm = fc.constantFrom<ArmLabel>('A', 'B')
const which = fc.nat(1_000)
const customer = fc.constantFrom(...customers)
const operationWith = (score: fc.Arbitrary<number>) =>
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ do: fc.constant('converse'), arm, customer }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('tell'), which, affected: fc.boolean() }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('measure'), which, score }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('rename'), which, customer }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('move'), which, arm }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('erase'), which }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('count') }) },
  ) as fc.Arbitrary<Operation>
const operations = fc
  .constantFrom(similar, scores)
  .chain((drawn) => fc.array(operationWith(fc.constantFrom(...drawn)), { minLength: 10, maxLength: 60 }))

const design = (kind: Design['kind']): Design => ({ ...standardDesign, kind, range: null })

const wishes = { target: null, conversationsPerDay: null }

/** Computes everything from the final data, with sums of floats and with exact sums. */
const expected = (stored: Stored[], kind: Design['kind']) => {
  const units = new Map<string, { a: OutcomeValue[]; b: OutcomeValue[] }>()
  for (const { id, arm: ofArm, customer: name, affected, score } of stored) {
    const unit = units.get(name ?? id) ?? { a: [], b: [] }
    units.set(name ?? id, unit)
    const value = kind === 'numeric' ? score : affected === undefined ? undefined : Number(affected)
    const without: OutcomeValue = { status: 'missing' }
    unit[ofArm === 'A' ? 'a' : 'b'].push(value === undefined ? without : { status: 'observed', value })
  }
  const answers = [...units.values()].map(
    (unit): UnitAnswers => ({ ...unit, inBothArms: unit.a.length > 0 && unit.b.length > 0 }),
  )
  const hold = (ofArm: readonly OutcomeValue[]) =>
    ofArm.reduce(
      (sum, answer) =>
        answer.status === 'observed' ? changeTotals(sum, observed, answer.value, 1) : changeTotals(sum, missing, 0, 1),
      noUnitTotals,
    )
  const exact = answers.reduce(
    (sums, { a, b, inBothArms }) => changeOutcome(sums, { a: hold(a), b: hold(b) }, { inBothArms, sign: 1 }),
    noExactOutcome,
  )
  return {
    byFloats: outcomeResult(outcomeSumsOf(answers, design(kind)), design(kind), wishes),
    exactly: outcomeResult(outcomeSums(exact, kind), design(kind), wishes),
  }
}

type Step = typeof operations extends fc.Arbitrary<(infer S)[]> ? S : never

type Stage = { own: Awaited<ReturnType<typeof openExperiments>>; told: string; count: () => Promise<void> }

/** Performs a step. A step that needs a stored conversation picks one and records its new state. */
const take = async (step: Step, stored: Stored[], { own, told, count }: Stage): Promise<void> => {
  if (step.do === 'count') return count()
  if (step.do === 'converse') {
    const id = await own.converse(step.arm, { customerId: step.customer })
    stored.push({ id, arm: step.arm, customer: step.customer, affected: undefined, score: undefined })
    return
  }
  const conversation = stored[step.which % Math.max(1, stored.length)]
  if (!conversation) return
  if (step.do === 'erase') {
    await own.erase(conversation.id)
    stored.splice(stored.indexOf(conversation), 1)
  } else Object.assign(conversation, await change(step, conversation, { own, told }))
}

const change = async (
  step: Exclude<Step, { do: 'count' | 'converse' | 'erase' }>,
  { id }: Stored,
  { own, told }: Pick<Stage, 'own' | 'told'>,
): Promise<Partial<Stored>> => {
  if (step.do === 'tell') {
    await own.tell(told, id, step.affected ? 'affected' : 'not_affected')
    return { affected: step.affected }
  }
  if (step.do === 'measure') {
    await call('PUT', `/v1/conversations/${id}/metrics/score`, { key: own.key, body: { value: step.score } })
    return { score: step.score }
  }
  if (step.do === 'move') {
    await own.patch(id, { agentVersionId: own.arms[`arm${step.arm}VersionId`] })
    return { arm: step.arm }
  }
  if (step.customer === undefined) return {}
  await own.patch(id, { customerId: step.customer })
  return { customer: step.customer }
}

describe('counting', () => {
  it('happens once, however many processes do it at once, and whichever dies', async () => {
    const own = await openExperiments(server)
    const experiment = await own.launch()
    const { deps } = server
    const dying = {
      ...deps,
      clock: {
        now: () => {
          throw new Error('the process died')
        },
      },
    }
    const { org } = own
    for (let round = 0; round < 5; round++) {
      const ids = await Promise.all((['A', 'B', 'A'] as const).map((inArm) => own.converse(inArm)))
      await expect(countChanges(dying, orgIdOf(org), experiment.id)).rejects.toThrow('the process died')
      await Promise.all([
        countAll(deps),
        countAll(deps),
        own.tell(experiment.outcomeMetricIds[0], ids[0] as string, 'affected'),
      ])
    }
    const shown = await own.read(experiment)
    expect(shown.outcomes[0].arms).toMatchObject({
      a: { conversations: 10, observed: 5, missing: 5, units: 5 },
      b: { conversations: 5, observed: 0, missing: 5 },
    })
    expect(shown.health.conversations).toMatchObject({ a: 10, b: 5 })
  })

  it('runs automatically in a running service', async () => {
    const own = await openExperiments(server)
    const experiment = await own.launch()
    const counting = startCounting(server.deps)
    try {
      await own.tell(experiment.outcomeMetricIds[0], await own.converse('A'), 'affected')
      const observed = async () => {
        const { body } = await call('GET', `/v1/experiments/${experiment.id}`, { key: own.key })
        return body.outcomes[0].arms.a.observed
      }
      await expect.poll(observed, { timeout: 20_000 }).toBe(1)
    } finally {
      await counting.stop()
    }
  })

  it('equals computing everything at once, with any order of arrivals, late results, and erasures', async () => {
    await fc.assert(
      fc.asyncProperty(operations, async (steps) => {
        const own = await openExperiments(server)
        const definition = { expression: 'metrics.score > 1.0', score: 'metrics.score' }
        const rule = await makeMonitor(server, own.key, { kind: 'rule', definition })
        const told = await makeMonitor(server, own.key)
        const outcomeMetricIds = [told.id, rule.id]
        const experiment = await own.launch({ outcomeMetricIds, primaryMetricId: told.id })
        const count = async () => void (await (steps.length % 2 === 0 ? server.drain() : countAll(server.deps)))
        const stored: Stored[] = []
        for (const step of steps) await take(step, stored, { own, told: told.id, count })
        const { outcomes, health } = await own.read(experiment)
        for (const [at, kind] of (['boolean', 'numeric'] as const).entries()) {
          const { byFloats, exactly } = expected(stored, kind)
          expectSame(outcomes[at], exactly, kind, 0)
          const isSimilar = stored.every(({ score }) => score === undefined || similar.includes(score))
          if (kind === 'boolean' || isSimilar) expectSame(outcomes[at], byFloats, kind, 1e-9)
        }
        const inArm = (wanted: ArmLabel) => stored.filter(({ arm }) => arm === wanted).length
        expect(health.conversations).toMatchObject({ a: inArm('A'), b: inArm('B') })
        expect(health.routing.units).toBe(new Set(stored.map(({ id, customer }) => customer ?? id)).size)
      }),
      { numRuns: 20 },
    )
  }, 120_000)
})
