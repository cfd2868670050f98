import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { testServer } from '../../../test/server.ts'
import { openExperiments } from '../../../test/support/experiments/experiments.ts'
import { dayMs } from '../../platform/durations.ts'
import { sweepExperiments } from './jobs.ts'
import { listOrganizationsWithOpenAllOrgs } from './queries.ts'

const server = await testServer()
const { db, jobs } = server.deps

it('a failing experiment does not block the end of others', async () => {
  for (const own of [await openExperiments(server), await openExperiments(server)]) {
    const experiment = await own.launch()
    await own.converse('A')
    await own.read(experiment)
    server.clock.advance(1_000)
    await own.finish(experiment)
  }
  await server.drain()
  server.clock.advance(8 * dayMs)
  const [first, second] = await listOrganizationsWithOpenAllOrgs(db)
  expect(second).toBeDefined()
  await sql`UPDATE experiment_outcomes SET sums = '{}' WHERE organization_id = ${first?.id}`.execute(db)

  await jobs.enqueue(db, sweepExperiments, {})
  const outcomes = await jobs.drain([sweepExperiments], server.deps, { allowFailures: true })
  expect(outcomes).toContainEqual(expect.objectContaining({ result: 'retried', error: expect.any(TypeError) }))
  expect(await listOrganizationsWithOpenAllOrgs(db)).toEqual([first])
})
