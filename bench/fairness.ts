// How long one organization's work waits while another saturates the same kind of work, against an idle service. Bound:
// at most three times the idle delay plus the length of one task. Rules and judges are the real thing, on a model that
// answers after a while; the other kinds go through the real queue with the places of their jobs, and wait instead of
// reaching the outside.
// npm run bench -- fairness [KIND]
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { buildApp } from '../server/app.ts'
import { loadConfig } from '../server/config.ts'
import { fetchRecording } from '../server/conversations/recordings/jobs.ts'
import { type Deps, openDeps } from '../server/deps.ts'
import { evaluateConversations, judge } from '../server/evaluations/jobs.ts'
import { deliverRun } from '../server/export-schedules/deliver.ts'
import { generateExport } from '../server/exports/jobs.ts'
import { insertMonitor, insertMonitorVersion } from '../server/monitors/queries.ts'
import { provisionOrganization } from '../server/organizations/provision.ts'
import type { OrgId } from '../server/platform/db/database.ts'
import { migrate } from '../server/platform/db/migrate.ts'
import { newId } from '../server/platform/ids.ts'
import type { Job } from '../server/platform/jobs/define-job.ts'
import { openLog } from '../server/platform/log.ts'
import { deliver } from '../server/webhooks/deliveries/jobs.ts'
import { failedCount, judge as hold, millisecondsOf, print } from './report.ts'
import { openBenchDatabase } from './servers.ts'

const asked = process.argv[2]
const probes = 20
const answerMs = 400
const waitMs = 500

const p95 = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * 0.95) - 1] ?? Number.NaN

const openModel = async () => {
  const content = JSON.stringify({ result: 'not_affected', reasoning: 'Nothing.', evidence: [] })
  const answer = JSON.stringify({
    choices: [{ message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 10, completion_tokens: 10 },
  })
  const server = createServer((request, response) => {
    request
      .resume()
      .on('end', () => setTimeout(() => response.setHeader('content-type', 'application/json').end(answer), answerMs))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, close: () => server.close() }
}

type Tenant = { org: OrgId; conversationIds: string[] }

const makeTenant = async (deps: Deps, app: Awaited<ReturnType<typeof buildApp>>, slug: string, turns: number) => {
  const owner = { email: `${slug}@example.com`, name: 'Owner' }
  const { org, apiKey } = await deps.db
    .transaction()
    .execute((trx) => provisionOrganization(trx, deps.clock, { name: slug, slug, owner }))
  const conversationIds: string[] = []
  for (let number = 0; number < 30; number++) {
    const answer = await app.inject({
      method: 'POST',
      url: '/v1/conversations',
      headers: { authorization: `Bearer ${apiKey.key}` },
      payload: {
        agent: { externalId: 'leo', name: 'Leo', channel: 'voice' },
        channel: 'call',
        status: 'completed',
        startedAt: '2026-11-01T10:00:00Z',
        transcript: {
          turns: Array.from({ length: turns }, (_, at) => ({
            role: at % 2 ? 'agent' : 'customer',
            text: `Hello ${at}`,
          })),
        },
      },
    })
    if (answer.statusCode >= 300) throw new Error(answer.body)
    conversationIds.push(answer.json().id)
  }
  return { org, conversationIds }
}

const addMonitor = async (
  { db }: Deps,
  { org }: Tenant,
  kind: 'rule' | 'judge',
  definition: Record<string, unknown>,
) => {
  const id = newId()
  const monitor = { id, name: `${kind} ${id}`, description: null, kind, enabled: true } as const
  await insertMonitor(db, org, { ...monitor, scope: {}, samplePercent: 100 })
  await insertMonitorVersion(db, org, id, 1, definition)
  return id
}

/** Some hundred milliseconds for a conversation of forty turns. */
const heavy = (number: number) => ({
  expression: `turns.all(a, turns.all(b, turns.all(c, a.text + b.text + c.text != "${number}")))`,
})

type Kind = {
  name: string
  job: Job<Deps>
  /** Enough of the loud one's work for all probes. */
  saturate: () => Promise<unknown>
  probe: () => Promise<string>
  taskMs: number
}

const served = await openBenchDatabase()
const model = await openModel()
const log = openLog({ write: () => {} })
const connection = { connectionString: served.url }
await migrate(connection, { log })
const config = loadConfig({
  EARSHOT_DATA_DIR: join(served.folder, 'files'),
  EARSHOT_JUDGE_BASE_URL: model.url,
  EARSHOT_JUDGE_API_KEY: 'none',
  EARSHOT_JUDGE_MODEL: 'model',
})
const deps = await openDeps({ config, log, connection, applicationName: 'bench' })
const app = await buildApp(deps, { overload: { check: () => {}, close: () => {} } })

/** Work of this length in the places of the job. */
const inPlaceOf = (job: Job<Deps>): Job<Deps> => ({ ...job, run: () => sleep(waitMs) })

try {
  const { db, jobs, rules } = deps
  const loud = await makeTenant(deps, app, 'loud', 40)
  const quiet = await makeTenant(deps, app, 'quiet', 10)
  await db.deleteFrom('jobs').execute()
  for (let number = 0; number < 8; number++) await addMonitor(deps, loud, 'rule', heavy(number))
  await addMonitor(deps, quiet, 'rule', { expression: 'turns.size() > 3' })
  const criteria = { criteria: 'The agent was impolite.', output: { type: 'boolean' } }
  const [loudJudge, quietJudge] = [
    await addMonitor(deps, loud, 'judge', criteria),
    await addMonitor(deps, quiet, 'judge', criteria),
  ]

  const judging = ({ org, conversationIds: [conversationId = ''] }: Tenant, monitorId: string) => ({
    ...{ organizationId: org, conversationId, monitorIds: [monitorId] },
    // No answer counts as a newer one.
    ...{ since: '2100-01-01T00:00:00Z', round: 1 },
  })
  const evaluating = ({ org, conversationIds }: Tenant, count: number) => ({
    ...{ organizationId: org, conversationIds: conversationIds.slice(0, count) },
  })

  const facts = JSON.stringify({ conversation: {}, metadata: {}, signals: {}, metrics: {} })
  const turns = Array.from({ length: 40 }, (_, at) => ({ role: 'agent', text: `Hello ${at}` }))
  const transcript = { content: JSON.stringify({ turns }), format: null }
  const ruleOnce = () => rules.evaluate({ rules: [heavy(9)], subjects: [{ facts, transcript, unreadable: null }] })
  await ruleOnce()
  const ruleMs = await millisecondsOf(ruleOnce)

  const waiting = (name: string, job: Job<Deps>): Kind => {
    const payload = (org: OrgId) => ({ organizationId: org, endpointId: newId(), exportId: newId(), runId: newId() })
    const all = { deliveryId: newId(), attempt: 1, conversationId: newId() }
    return {
      ...{ name, job: inPlaceOf(job), taskMs: waitMs },
      saturate: () =>
        jobs.enqueueMany(
          db,
          job as Job<never, object>,
          Array.from({ length: 4_000 }, () => ({ ...payload(loud.org), ...all })),
        ),
      probe: () => jobs.enqueue(db, job as Job<never, object>, { ...payload(quiet.org), ...all }),
    }
  }

  const kinds: Kind[] = [
    {
      ...{ name: 'rules', job: evaluateConversations, taskMs: ruleMs },
      saturate: () =>
        jobs.enqueueMany(
          db,
          evaluateConversations,
          Array.from({ length: 50 }, () => evaluating(loud, 30)),
        ),
      probe: () => jobs.enqueue(db, evaluateConversations, evaluating(quiet, 1)),
    },
    {
      ...{ name: 'judges', job: judge, taskMs: answerMs },
      saturate: () =>
        jobs.enqueueMany(
          db,
          judge,
          Array.from({ length: 2_000 }, () => judging(loud, loudJudge)),
        ),
      probe: () => jobs.enqueue(db, judge, judging(quiet, quietJudge)),
    },
    waiting('recordings', fetchRecording),
    waiting('schedules', deliverRun),
    waiting('webhooks', deliver),
    waiting('exports', generateExport),
  ]

  for (const kind of kinds.filter(({ name }) => asked === undefined || name === asked)) {
    const ended = new Map<string, () => void>()
    const settled = new Set<string>()
    // Jobs that follow, such as those of judges after rules, are not of this kind.
    await jobs.start([kind.job], deps, {
      workerId: 'bench',
      onSettled: ({ jobId, result, error }) => {
        if (result !== 'completed' && result !== 'returned') throw new Error(`A job was ${result}`, { cause: error })
        settled.add(jobId)
        ended.get(jobId)?.()
      },
    })
    const measure = async () => {
      const delays: number[] = []
      for (let number = 0; number < probes; number++) {
        delays.push(
          await millisecondsOf(async () => {
            const id = await kind.probe()
            await new Promise<void>((resolve) => {
              ended.set(id, resolve)
              if (settled.has(id)) resolve()
            })
          }),
        )
        await sleep(50)
      }
      return p95(delays)
    }
    const idle = await measure()
    await kind.saturate()
    await sleep(1_000)
    const loaded = await measure()
    await jobs.stop({ timeoutMs: 0 })
    await db.deleteFrom('jobs').execute()
    const parts = `idle ${idle.toFixed(0)} ms, beside the loud one ${loaded.toFixed(0)} ms, a task ${kind.taskMs.toFixed(0)} ms`
    print(`${kind.name}: p95 ${parts}`)
    hold('delay, of three times idle plus a task', loaded / (3 * idle + kind.taskMs), { atMost: 1 })
  }
} finally {
  await app.close()
  await deps.close()
  model.close()
  await served.close()
}
process.exitCode = failedCount() > 0 ? 1 : 0
