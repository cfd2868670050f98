// Measures how long one organization's work waits while another one saturates the same kind of work, compared with an
// idle service. The limit is three times the delay of the idle service plus the length of one task. All work is real,
// but external services (a model, recordings, receivers, and a bucket) respond after 400 ms.
// npm run bench -- fairness [KIND]
import { availableParallelism, loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { buildApp } from '../server/app.ts'
import { fetchRecording } from '../server/conversations/recordings/jobs.ts'
import { openDeps, type ServiceDeps } from '../server/deps.ts'
import { evaluateConversations, judge } from '../server/evaluations/lifecycle.ts'
import { deliverRun } from '../server/export-schedules/runs/lifecycle.ts'
import { generateExport } from '../server/exports/lifecycle.ts'
import { loadConfig } from '../server/platform/config.ts'
import { migrate } from '../server/platform/db/migrate.ts'
import type { Job } from '../server/platform/jobs/define-job.ts'
import { openLog } from '../server/platform/log.ts'
import { deliver } from '../server/webhooks/deliveries/jobs.ts'
import { answerMs, openOutside } from './fairness/outside.ts'
import { makeTenant, type Tenant } from './fairness/tenant.ts'
import { failedCount, judge as hold, millisecondsOf, print } from './report.ts'
import { openBenchDatabase } from './servers.ts'

const onlyKind = process.argv[2]
const probes = 20
/** The maximum number of unfinished exports of an organization. */
const mostExports = 20

const p95 = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * 0.95) - 1] ?? Number.NaN

/** Returns a rule that takes some hundred milliseconds for a conversation of forty turns. */
const heavy = (number: number) => ({
  expression: `turns.all(a, turns.all(b, turns.all(c, a.text + b.text + c.text != "${number}")))`,
})

type Kind = {
  name: string
  job: Job<ServiceDeps>
  /** Returns the length of one task of the busy organization. */
  taskMs: () => Promise<number> | number
  /** Gives the busy organization more work than it can finish before the next probe. Called before each probe. */
  saturate: (probe: number) => Promise<unknown>
  /** Enqueues one piece of work for the quiet organization, and returns its job. */
  probe: () => Promise<string>
}

const served = await openBenchDatabase()
const outside = await openOutside()
const log = openLog({ write: () => {} })
const connection = { connectionString: served.url }
await migrate(connection, { log })
const config = loadConfig({
  EARSHOT_DATA_DIR: join(served.folder, 'files'),
  EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1/32',
  EARSHOT_JUDGE_BASE_URL: `${outside.url}/v1`,
  EARSHOT_JUDGE_API_KEY: 'none',
  EARSHOT_JUDGE_MODEL: 'model',
})
const deps = await openDeps({ config, log, connection, applicationName: 'bench' })
const app = await buildApp(deps, { overload: { check: () => {}, close: () => {} } })

try {
  const { db, jobs, rules } = deps
  const loudSize = { conversations: 1_000, turns: 40, endpoints: 16, schedules: 20 }
  const loud = await makeTenant(deps, app, 'loud', outside.url, loudSize)
  const quietSize = { conversations: 100, turns: 10, endpoints: 1, schedules: 1 }
  const quiet = await makeTenant(deps, app, 'quiet', outside.url, quietSize)
  for (let number = 0; number < 8; number++) await loud.addMonitor('rule', heavy(number))
  await quiet.addMonitor('rule', { expression: 'turns.size() > 3' })
  const criteria = { criteria: 'The agent was impolite.', output: { type: 'boolean' } }
  const judges = new Map([
    [loud, await loud.addMonitor('judge', criteria)],
    [quiet, await quiet.addMonitor('judge', criteria)],
  ])
  await db.deleteFrom('jobs').execute()

  /** Creates an export, which schedules deliver later. */
  const exportOnce = async (tenant: Tenant) => {
    await tenant.startExport()
    await jobs.drain([generateExport], deps)
  }
  await exportOnce(loud)
  await exportOnce(quiet)

  const evaluating = ({ org, conversationIds }: Tenant, count: number) => ({
    organizationId: org,
    conversationIds: conversationIds.slice(0, count),
  })
  const judging = (tenant: Tenant) => ({
    organizationId: tenant.org,
    conversationId: tenant.conversationIds[0] ?? '',
    // No result is newer than this, so every conversation is evaluated.
    monitorIds: [judges.get(tenant) ?? ''],
    since: '2100-01-01T00:00:00Z',
    round: 1,
  })
  const fetching = ({ org }: Tenant, conversationId: string) => ({ organizationId: org, conversationId })
  const delivering = ({ org }: Tenant, runId: string) => ({ organizationId: org, runId })

  const facts = JSON.stringify({ conversation: {}, metadata: {}, signals: {}, metrics: {} })
  const turns = Array.from({ length: 40 }, (_, at) => ({ role: 'agent', text: `Hello ${at}` }))
  const transcript = { content: JSON.stringify({ turns }), format: null }
  const ruleOnce = () => rules.evaluate({ rules: [heavy(9)], subjects: [{ facts, transcript, unreadable: null }] })

  const kinds: Kind[] = [
    {
      name: 'rules',
      job: evaluateConversations,
      taskMs: async () => {
        await ruleOnce()
        return millisecondsOf(ruleOnce)
      },
      saturate: async (probe) => {
        const payloads = Array.from({ length: probe === 0 ? 50 : 0 }, () => evaluating(loud, 30))
        await jobs.enqueueMany(db, evaluateConversations, payloads)
      },
      probe: () => jobs.enqueue(db, evaluateConversations, evaluating(quiet, 1)),
    },
    {
      name: 'judges',
      job: judge,
      taskMs: () => answerMs,
      saturate: async (probe) => {
        await jobs.enqueueMany(db, judge, Array(probe === 0 ? 2_000 : 0).fill(judging(loud)))
      },
      probe: () => jobs.enqueue(db, judge, judging(quiet)),
    },
    {
      name: 'recordings',
      job: fetchRecording,
      taskMs: () => answerMs,
      saturate: async (probe) => {
        const ids = probe === 0 ? await loud.addRecordings(loudSize.conversations) : []
        await jobs.enqueueMany(
          db,
          fetchRecording,
          ids.map((id) => fetching(loud, id)),
        )
      },
      probe: async () => {
        const [id = ''] = await quiet.addRecordings(1)
        return jobs.enqueue(db, fetchRecording, fetching(quiet, id))
      },
    },
    {
      name: 'schedules',
      job: deliverRun,
      taskMs: () => answerMs,
      saturate: async () => {
        const ids = await loud.addRuns(loudSize.schedules)
        await jobs.enqueueMany(
          db,
          deliverRun,
          ids.map((id) => delivering(loud, id)),
        )
      },
      probe: async () => {
        const [id = ''] = await quiet.addRuns(1)
        return jobs.enqueue(db, deliverRun, delivering(quiet, id))
      },
    },
    {
      name: 'webhooks',
      job: deliver,
      taskMs: () => answerMs,
      saturate: (probe) => loud.sendEvents(probe === 0 ? 4_000 : 0),
      probe: async () => {
        await quiet.sendEvents(1)
        return quiet.lastJob(deliver.name)
      },
    },
    {
      name: 'exports',
      job: generateExport,
      taskMs: () => millisecondsOf(() => exportOnce(loud)),
      saturate: async () => {
        for (let count = await loud.countUnfinishedExports(); count < mostExports; count++) await loud.startExport()
      },
      probe: async () => {
        await quiet.startExport()
        return quiet.lastJob(generateExport.name)
      },
    },
  ]

  print(`load average ${loadavg()[0]?.toFixed(1)} on ${availableParallelism()} cores`)
  for (const kind of kinds.filter(({ name }) => onlyKind === undefined || name === onlyKind)) {
    const taskMs = await kind.taskMs()
    const ended = new Map<string, () => void>()
    const settled = new Set<string>()
    // Jobs that follow, such as judges after rules, are of another kind and don't run.
    await jobs.start([kind.job], deps, {
      workerId: 'bench',
      onSettled: ({ jobId, result, error }) => {
        if (result !== 'completed' && result !== 'returned') throw new Error(`A job was ${result}`, { cause: error })
        settled.add(jobId)
        ended.get(jobId)?.()
      },
    })
    const probeOnce = async () => {
      const id = await kind.probe()
      await new Promise<void>((resolve) => {
        ended.set(id, resolve)
        if (settled.has(id)) resolve()
      })
    }
    const measure = async (before: (probe: number) => Promise<unknown>) => {
      const delays: number[] = []
      for (let probe = 0; probe < probes; probe++) {
        await before(probe)
        // By then, the busy organization uses all of its slots.
        await sleep(probe === 0 ? 1_000 : 50)
        delays.push(await millisecondsOf(probeOnce))
      }
      return p95(delays)
    }
    const idle = await measure(async () => {})
    settled.clear()
    const loaded = await measure(kind.saturate)
    const loudDone = settled.size - probes
    await jobs.stop({ timeoutMs: 0 })
    await db.deleteFrom('jobs').execute()
    const parts = `idle ${idle.toFixed(0)} ms, next to the loud one ${loaded.toFixed(0)} ms, a task ${taskMs.toFixed(0)} ms`
    print(`${kind.name}: p95 ${parts}; the loud one finished ${loudDone} jobs in the meantime`)
    hold('delay, of three times idle plus a task', loaded / (3 * idle + taskMs), { atMost: 1 })
  }
  print(`load average ${loadavg()[0]?.toFixed(1)}`)
} finally {
  await app.close()
  await deps.close()
  await outside.close()
  await served.close()
}
process.exitCode = failedCount() > 0 ? 1 : 0
