import { setTimeout as sleep } from 'node:timers/promises'
import type { Earshot, Schemas } from '../../client/src/earshot.ts'
import { type Called, type RunCommand, WronglyCalled } from './call.ts'
import { columns, plain, print, printJson } from './columns.ts'
import { connect, findNamed } from './connect.ts'
import { openProgress } from './progress.ts'
import { periodOf } from './when.ts'

type Evaluation = Schemas['EvaluationRun']

const pollMs = 1_000
const mostTried = 1_000

const list = async (called: Called): Promise<number> => {
  const monitors = await connect(called).earshot.monitors.list().all()
  if (called.flag('json')) return printJson(monitors)
  const rows = monitors.map(({ id, kind, enabled, currentVersion, name }) => [
    id,
    kind,
    enabled ? 'on' : 'off',
    `v${currentVersion.number}`,
    plain(name),
  ])
  return rows.length > 0 ? print(columns(rows)) : print('No monitors.\n')
}

const templates = async (called: Called): Promise<number> => {
  const { data } = await connect(called).earshot.monitorTemplates.list()
  if (called.flag('json')) return printJson(data)
  return print(columns(data.map(({ key, kind, language, groupName, name }) => [key, kind, language, groupName, name])))
}

const install = async (called: Called): Promise<number> => {
  const { earshot } = connect(called)
  const known = new Set((await earshot.monitorTemplates.list()).data.map(({ key }) => key))
  const unknown = called.args.find((key) => !known.has(key))
  if (unknown !== undefined)
    throw new WronglyCalled(`No template is named ${JSON.stringify(unknown)}. See: earshot monitors templates`)
  const variant = called.flag('any-language') ? ('any_language' as const) : ('default' as const)
  for (const key of called.args) {
    const monitor = await earshot.monitorTemplates.install(key, { variant })
    if (called.flag('json')) printJson(monitor)
    else print(`${monitor.id}  ${plain(monitor.name)}\n`)
  }
  return 0
}

const monitorOf = (earshot: Earshot, { args }: Called) =>
  // The command line requires the argument.
  findNamed(earshot.monitors.list(), args[0] as string, 'monitor')

const readLimit = (given: string | undefined): number | undefined => {
  if (given === undefined) return undefined
  const limit = /^\d{1,4}$/.test(given) ? Number(given) : 0
  if (limit < 1 || limit > mostTried) throw new WronglyCalled(`--limit must be a number from 1 to ${mostTried}.`)
  return limit
}

const test = async (called: Called): Promise<number> => {
  const { earshot } = connect(called)
  const conversationIds = called.list('conversation')
  const limit = readLimit(called.text('limit')) ?? 20
  const { id } = await monitorOf(earshot, called)
  const selection = conversationIds.length > 0 ? { conversationIds } : { filter: {}, limit }
  const trial = await earshot.monitors.test(id, selection, { timeoutMs: 300_000 })
  if (called.flag('json')) return printJson(trial)
  const rows = trial.data.map(({ conversationId, asked: wasAsked, status, result, score, reasoning }) => [
    conversationId,
    wasAsked ? (result ?? status ?? '') : 'skipped',
    score === null ? '' : String(score),
    plain(reasoning ?? '').slice(0, 80),
  ])
  const { affected, notAffected, unscored, failed, notAsked } = trial.summary
  const counts = { affected, 'not affected': notAffected, unscored, failed, skipped: notAsked }
  const summary = Object.entries(counts).flatMap(([name, count]) => (count > 0 ? [`${count} ${name}`] : []))
  return print(`${columns(rows, [2])}${summary.join(', ') || 'No conversations.'}\n`)
}

/** A batch takes up to a day, so it is checked less often. */
const batchPollMs = 10_000

const isOver = ({ status }: Evaluation): boolean => !['queued', 'running'].includes(status)

const follow = async (
  earshot: Earshot,
  first: Evaluation,
  quiet: boolean,
  signal: AbortSignal,
): Promise<Evaluation> => {
  const progress = openProgress(quiet, { lines: true })
  try {
    let run = first
    while (!isOver(run)) {
      const { total, scored, unscored, failed, batch } = run
      const isWaiting = batch?.status === 'submitted'
      if (isWaiting) progress.show('In batches', batch.answered + batch.failed, batch.requests)
      else progress.show(run.status === 'queued' ? 'Queued' : 'Evaluating', scored + unscored + failed, total)
      await sleep(isWaiting ? batchPollMs : pollMs, undefined, { signal })
      run = await earshot.monitors.getEvaluation(first.monitorId, first.id, { signal })
    }
    return run
  } finally {
    progress.end()
  }
}

/** Returns a string such as `3 conversations, about 0.5 for the model.`, with the cost in US dollars. */
const sayEstimate = (estimate: Schemas['EvaluationEstimate'] | undefined, inBatches: boolean): string => {
  const { conversations = 0 } = estimate ?? {}
  const cost = inBatches ? estimate?.batch?.cost : estimate?.cost
  return `${conversations} conversations${cost ? `, about ${cost} for the model${inBatches ? ' in batches' : ''}` : ''}.\n`
}

const backfill = async (called: Called): Promise<number> => {
  const { earshot } = connect(called)
  const { since, until } = periodOf(called, new Date())
  const { id } = await monitorOf(earshot, called)
  const dryRun = called.flag('dry-run')
  const inBatches = called.flag('batch')
  const made = await earshot.monitors.createEvaluation(id, {
    since,
    until,
    ...(inBatches && { mode: 'batch' }),
    ...(dryRun && { dryRun }),
  })
  if (made === undefined || !('status' in made)) {
    return called.flag('json') ? printJson(made) : print(sayEstimate(made, inBatches))
  }
  const interrupted = new AbortController()
  process.once('SIGINT', () => interrupted.abort())
  const run = await follow(earshot, made, called.flag('quiet'), interrupted.signal).catch((error: unknown) => {
    if (interrupted.signal.aborted) return undefined
    throw error
  })
  if (run === undefined) {
    process.stderr.write('earshot: the run continues in the background.\n')
    return 130
  }
  const { status, total, scored, unscored, failed, failure } = run
  if (called.flag('json')) printJson(run)
  else
    print(
      `${status}: ${scored} of ${total} scored, ${unscored} unscored, ${failed} failed${failure ? ` (${plain(failure)})` : ''}\n`,
    )
  return status === 'completed' ? 0 : 3
}

const actions = { list, templates, install, test, backfill }

export const run: RunCommand = (called) => actions[called.action as keyof typeof actions](called)
