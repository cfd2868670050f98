import { parseArgs } from 'node:util'
import type { Command } from '../main.ts'
import type { DeadJob } from '../platform/jobs/queries.ts'
import type { Jobs } from '../platform/jobs/queue.ts'
import { open } from './open.ts'

const usage = `Usage:
  earshot jobs list [--json]          list dead jobs, the latest first
  earshot jobs retry --all            give all of them back to their queues
  earshot jobs retry JOB-ID …         give these back
`

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
  if (dead.length === 0) return 'No job is dead.\n'
  return dead.map((job) => `${job.id}  ${job.diedAt.toISOString()}  ${job.name}\n    ${job.error}\n`).join('')
}

export const run: Command = async (args) => {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { json: { type: 'boolean' }, all: { type: 'boolean' }, help: { type: 'boolean' } },
  })
  const [verb, ...ids] = positionals
  const asksAll = values.all === true
  const known = verb === 'retry' ? asksAll === (ids.length === 0) : verb === 'list' && !asksAll && ids.length === 0
  if (values.help || !known) {
    process.stdout.write(usage)
    return values.help ? 0 : 2
  }
  const { deps, close } = await open({ command: 'jobs', exclusive: 'preferred' })
  try {
    if (verb === 'list') {
      const dead = await listAll(deps.jobs)
      process.stdout.write(values.json ? `${JSON.stringify(dead, null, 2)}\n` : tell(dead))
      return 0
    }
    const retried = await deps.jobs.retryDead(asksAll ? 'all' : ids.filter((id) => jobId.test(id)))
    process.stdout.write(`Given back: ${retried.length}\n`)
    const missing = asksAll ? [] : ids.filter((id) => !retried.includes(id.toLowerCase()))
    if (missing.length > 0) process.stderr.write(`earshot: not among the dead jobs: ${missing.join(', ')}\n`)
    return missing.length > 0 ? 1 : 0
  } finally {
    await close()
  }
}
