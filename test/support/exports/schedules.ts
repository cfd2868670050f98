import { onTestFinished } from 'vitest'
import { planRuns } from '../../../server/export-schedules/jobs.ts'
import { jobList } from '../../../server/worker.ts'
import { makeConversation, makeMonitor } from '../../make.ts'
import type { TestServer } from '../../server.ts'
import type { openTestBucket } from './customer-bucket.ts'
import { exportsOf } from './exports.ts'

export const hourMs = 3_600_000
export const minuteMs = 60_000

/** Returns functions that create schedules and complete their runs. */
export const schedulesOf = (server: TestServer) => {
  const { call, clock, deps } = server
  const { store: storeResults } = exportsOf(server)

  const plan = async () => {
    await deps.jobs.enqueue(deps.db, planRuns, {})
    await deps.jobs.drain([planRuns], deps)
  }

  /** Creates due runs and completes them, including retries after failures. */
  const work = async () => {
    await plan()
    await deps.jobs.drain(jobList, deps, { delayed: true, allowFailures: true })
  }

  const toNextHour = () => clock.advance(hourMs - (clock.now().getTime() % hourMs))

  const makeSchedule = async (key: string, body: object) => {
    const monitor = await makeMonitor(server, key, { name: 'Refund asked' })
    const answer = await call('POST', '/v1/export-schedules', {
      key,
      body: {
        name: 'Hourly refunds',
        config: { monitors: [{ id: monitor.id }], timezone: 'Europe/Berlin' },
        recurrence: { every: 'hour' },
        window: { kind: 'since_last_run' },
        settleMinutes: 10,
        ...body,
      },
    })
    if (answer.status !== 201) throw new Error(`expected 201, got ${answer.status}: ${answer.text}`)
    const { id } = answer.body as { id: string }
    // Later runs of the schedule would interfere with other tests.
    onTestFinished(async () => {
      await call('DELETE', `/v1/export-schedules/${id}`, { key })
    })
    return { id, monitorId: monitor.id as string }
  }

  /** Creates a call that started this long ago, with a result. */
  const makeCall = async (key: string, monitorId: string, externalId: string, agoMs: number) => {
    const startedAt = new Date(clock.now().getTime() - agoMs).toISOString()
    const { id } = await makeConversation(server, key, { startedAt, externalId })
    await storeResults(key, [{ monitorId, conversationId: id, result: 'affected' }])
  }

  const read = async (key: string, id: string) => (await call('GET', `/v1/export-schedules/${id}`, { key })).body
  const runsOf = async (key: string, id: string) =>
    (await call('GET', `/v1/export-schedules/${id}/runs`, { key })).body.data
  const runNow = (key: string, id: string) => call('POST', `/v1/export-schedules/${id}/run`, { key })

  return { plan, work, toNextHour, makeSchedule, makeCall, read, runsOf, runNow }
}

type Store = Awaited<ReturnType<typeof openTestBucket>>['store']
/** Returns the calls in all files of the bucket. */
export const callsIn = ({ objects }: Store) =>
  [...objects.values()].flatMap(({ body }) => [...body.toString().matchAll(/call-\d+/g)].map(([name]) => name))
