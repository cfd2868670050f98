import { beforeEach, describe, expect, it } from 'vitest'
import { testServer } from '../../test/server.ts'
import { type ArmLabel, type Experiments, openExperiments } from '../../test/support/experiments/experiments.ts'

const server = await testServer()

let own: Experiments
beforeEach(async () => {
  own = await openExperiments(server)
})

describe('an experiment', () => {
  it('counts results in each arm', async () => {
    const experiment = await own.launch({ expectedArmAPercent: 50 })
    const [monitorId] = experiment.outcomeMetricIds
    for (const [arm, results] of Object.entries({
      A: ['affected', 'not_affected', 'not_affected'],
      B: ['affected', 'affected'],
    })) {
      for (const result of results) await own.tell(monitorId, await own.converse(arm as ArmLabel), result)
    }
    await own.converse('B')
    const shown = await own.read(experiment)
    expect(shown).toMatchObject({ status: 'running', finishedAt: null, stableRoutingConfirmed: true })
    expect(shown.outcomes[0]).toMatchObject({
      metricId: monitorId,
      monitorVersion: 1,
      primary: true,
      arms: { a: { observed: 3, sum: 1, mean: 1 / 3, missing: 0 }, b: { observed: 2, sum: 2, missing: 1 } },
      difference: { estimate: 1 - 1 / 3 },
      verdict: { verdict: 'no_difference_shown' },
    })
    expect(shown.outcomes[0].timeline.at(-1)).toMatchObject({ observedA: 3, observedB: 2 })
    expect(shown.health).toMatchObject({
      concerns: [],
      sampleRatio: { status: 'too_few', units: { a: 3, b: 3 }, expectedA: 0.5 },
      conversations: { a: 3, b: 3 },
      withoutUnit: { a: 3, b: 3 },
    })
  })
})
