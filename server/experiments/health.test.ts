import { beforeEach, describe, expect, it } from 'vitest'
import { makeCompany, makeConversations } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { type ArmLabel, type Experiments, openExperiments } from '../../test/support/experiments/experiments.ts'
import { openMailServer } from '../../test/support/mail-server.ts'
import { dayMs } from '../platform/durations.ts'

const server = await testServer()

let own: Experiments
beforeEach(async () => {
  own = await openExperiments(server)
})

/** Creates calls. `of` returns the arm and the properties for a call's number. */
const converse = async (count: number, of: (number: number) => { arm: ArmLabel } & Record<string, unknown>) => {
  const { key, arms } = own
  const startedAt = server.clock.now().toISOString()
  const each = Array.from({ length: count }, (_, number) => {
    const { arm, ...fields } = of(number)
    const version = { agentId: arms.agentId, agentVersionId: arms[`arm${arm}VersionId`] }
    return { agent: undefined, ...version, startedAt, ...fields }
  })
  await makeConversations(server, key, each)
}

const alternating = (number: number): ArmLabel => (number % 2 === 0 ? 'A' : 'B')
const healthOf = async (experiment: { id: string }) => (await own.read(experiment)).health

describe('health', () => {
  it('is sound if each caller stays in an arm, and both get their share', async () => {
    const experiment = await own.launch({ expectedArmAPercent: 50 })
    for (let day = 0; day < 3; day++) {
      await converse(60, (number) => ({ arm: alternating(number), customerId: `caller ${number}` }))
      await server.drain()
      server.clock.advance(dayMs)
    }
    const health = await healthOf(experiment)
    expect(health).toMatchObject({
      concerns: [],
      sampleRatio: { status: 'fits', units: { a: 30, b: 30 }, shareOfA: { low: expect.any(Number) } },
      routing: { status: 'stable', returning: 60, inBothArms: 0, instability: 0 },
      conversations: { a: 90, b: 90, perDay: 60 },
      byDirection: { status: 'cannot_tell', values: [{ value: null, a: 90, b: 90 }] },
    })
    expect(health.byDay).toHaveLength(3)
    const [outcome] = (await own.read(experiment)).outcomes
    expect(outcome.verdict.verdict).toBe('too_early')
  })

  it('reports a split that differs from the expected one', async () => {
    const experiment = await own.launch({ expectedArmAPercent: 50 })
    await converse(200, (number) => ({ arm: number % 5 === 0 ? 'B' : 'A' }))
    const { health, outcomes } = await own.read(experiment)
    expect(health).toMatchObject({
      concerns: ['mismatch'],
      sampleRatio: { status: 'mismatch', units: { a: 160, b: 40 } },
    })
    expect(outcomes[0].verdict).toMatchObject({ verdict: 'not_trustworthy', concerns: ['mismatch'] })
    const { data } = (await server.call('GET', '/v1/findings', { key: own.key })).body
    expect(data).toMatchObject([
      { findingType: 2, priority: 'high', source: { kind: 'experiment', id: experiment.id } },
    ])
    // The alarm stays, even if the split becomes equal again.
    await converse(500, (number) => ({ arm: number % 2 === 0 && number > 370 ? 'A' : 'B' }))
    const later = await healthOf(experiment)
    expect(later.sampleRatio.units.b).toBeGreaterThan(400)
    expect(later.sampleRatio.p).toBeLessThanOrEqual(health.sampleRatio.p)
    expect(later.concerns).toContain('mismatch')
  })

  it('reports callers who switch arms', async () => {
    const experiment = await own.launch()
    await converse(60, (number) => ({
      arm: alternating(Math.floor(number / 3) + number),
      customerId: `caller ${number % 20}`,
    }))
    expect(await healthOf(experiment)).toMatchObject({
      concerns: ['routed_per_conversation'],
      routing: { status: 'routed_per_conversation', units: 20, returning: 20 },
    })
  })

  it('reports arms that took turns, and conversations that arrived unevenly', async () => {
    const experiment = await own.launch()
    for (const arm of ['A', 'B'] as const) {
      const direction = arm === 'A' ? 'inbound' : 'outbound'
      await converse(80, () => ({ arm, direction }))
      await server.drain()
      server.clock.advance(2 * dayMs)
    }
    expect(await healthOf(experiment)).toMatchObject({
      byHour: { status: 'cannot_tell', values: [{ a: 80, b: 80 }] },
      concerns: ['arms_not_concurrent'],
      concurrency: { status: 'arms_not_concurrent', overlapShare: 0 },
      byDirection: { status: 'uneven' },
    })
  })
})

describe('what should not differ between the arms', () => {
  it('is compared by hour and by company, largest first', async () => {
    const experiment = await own.launch()
    const acme = await makeCompany(server, own.key)
    const other = await makeCompany(server, own.key, 'Other')
    // Acme's calls only go to arm A. They start two hours later than the others.
    await converse(120, (number) => ({ arm: alternating(number), companyId: other.id }))
    server.clock.advance(2 * 60 * 60 * 1_000)
    await converse(80, () => ({ arm: 'A', companyId: acme.id }))
    const { byCompany, byHour } = await healthOf(experiment)
    expect(byCompany).toMatchObject({
      status: 'uneven',
      values: [
        { value: other.id, a: 60, b: 60 },
        { value: acme.id, a: 80, b: 0 },
      ],
    })
    expect(byCompany.p).toBeLessThan(0.0001)
    const hour = new Date(server.clock.now()).toISOString().slice(11, 13)
    expect(byHour.status).toBe('uneven')
    expect(byHour.values).toContainEqual({ value: hour, a: 80, b: 0 })
  })
})

describe('people', () => {
  it('are notified of the launch, of wrong routing once, and of the end', async () => {
    const mail = await openMailServer()
    const mailing = await testServer({ EARSHOT_SMTP_URL: `smtp://127.0.0.1:${mail.port}` })
    own = await openExperiments(mailing)
    const experiment = await own.launch({
      name: 'Shorter\n greeting',
      expectedArmAPercent: 50,
      notifications: { emails: ['lead@example.com', 'head@example.com', 'lead@example.com'] },
    })
    await mailing.drain()
    expect(mail.received.map(({ recipients }) => recipients)).toEqual([['lead@example.com'], ['head@example.com']])
    expect(mail.received[0]).toMatchObject({ headers: { subject: 'Experiment launched: Shorter greeting' } })
    expect(mail.received[0]?.text).toContain(`/experiments/${experiment.id}`)
    const startedAt = mailing.clock.now().toISOString()
    for (let round = 0; round < 2; round++) {
      const each = Array.from({ length: 200 }, (_, number) => {
        const agentVersionId = number % 5 === 0 ? own.arms.armBVersionId : own.arms.armAVersionId
        return { agent: undefined, agentId: own.arms.agentId, agentVersionId, startedAt }
      })
      await makeConversations(mailing, own.key, each)
      await mailing.drain()
    }
    expect(mail.received).toHaveLength(4)
    expect(mail.received[2]).toMatchObject({ headers: { subject: 'Routing problem: Shorter greeting' } })
    expect(mail.received[2]?.text).toContain('arm A has 160 units and arm B has 40')
    await own.finish(experiment)
    await mailing.drain()
    expect(mail.received).toHaveLength(6)
    expect(mail.received[5]).toMatchObject({ headers: { subject: 'Experiment finished: Shorter greeting' } })
  })
})
