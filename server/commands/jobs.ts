import type { DeadJob } from '../platform/jobs/queries.ts'
import type { Jobs } from '../platform/jobs/queue.ts'
import { type RunCommand, WronglyCalled } from './call.ts'
import { plainLines, print, printJson } from './columns.ts'
import { openAsItIs } from './open.ts'

const jobId = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const pageSize = 200

const listAll = async (jobs: Jobs): Promise<DeadJob[]> => {
  const dead: DeadJob[] = []
  for (;;) {
    const last = dead.at(-1)
    const page = await jobs.listDead({ limit: pageSize, ...(last && { after: last }) })
    dead.push(...page)
    if (page.length < pageSize) return dead
  }
}

const tell = (dead: DeadJob[]): string => {
  if (dead.length === 0) return 'No dead jobs.\n'
  return dead
    .map((job) => `${job.id}  ${job.diedAt.toISOString()}  ${job.name}\n    ${plainLines(job.error)}\n`)
    .join('')
}

export const run: RunCommand = async ({ action, args: ids, flag }) => {
  const asksAll = action === 'retry' && flag('all')
  if (action === 'retry' && asksAll !== (ids.length === 0)) throw new WronglyCalled('Pass job IDs or --all.', true)
  const { deps, close } = await openAsItIs({ command: 'jobs' })
  try {
    if (action === 'list') {
      const dead = await listAll(deps.jobs)
      return flag('json') ? printJson(dead) : print(tell(dead))
    }
    const retried = await deps.jobs.retryDead(asksAll ? 'all' : ids.filter((id) => jobId.test(id)))
    const missing = asksAll ? [] : ids.filter((id) => !retried.includes(id.toLowerCase()))
    if (flag('json')) printJson({ retried, missing })
    else print(`Retrying ${retried.length}\n`)
    if (missing.length > 0) process.stderr.write(`earshot: not dead: ${missing.join(', ')}\n`)
    return missing.length > 0 ? 1 : 0
  } finally {
    await close()
  }
}
