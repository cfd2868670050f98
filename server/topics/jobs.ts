import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { dayMs, hourMs } from '../platform/durations.ts'
import { currentTime, defineSweep } from '../platform/jobs/define-sweep.ts'
import type { Events } from '../platform/reactions.ts'
import { assignPage } from './assign.ts'
import { buildTopics } from './build.ts'
import { listBuilds, listBuiltAllOrgs, listEmbeddingAllOrgs, listToAssign } from './queries.ts'

const assignedAtOnce = 1_000

/** Yields pages of conversations, newest first. The start and ID of the last conversation identify a page. */
async function* listPages({ database }: Deps, org: OrgId, first: string | undefined) {
  const db = database.dbOf(org)
  const number = (await listBuilds(db, org))[0]?.number
  if (number === undefined) return
  const [startedAt, id] = first?.split(' ') ?? []
  for (let after = startedAt && id ? { startedAt: new Date(startedAt), id } : undefined; ; ) {
    const page = await listToAssign(db, org, number, { after, limit: assignedAtOnce })
    after = page.at(-1)
    if (after === undefined) return
    yield { id: `${after.startedAt.toISOString()} ${after.id}`, page }
  }
}

/** Assigns stored conversations to topics after a build. Once a day, assigns those that were left out. */
export const assignOlder = defineSweep({
  name: 'topics.assign-older',
  schedule: '40 4 * * *',
  time: currentTime,
  concurrency: 1,
  listOrganizations: async ({ db }: Deps) => [
    ...new Map((await listBuiltAllOrgs(db)).map((build) => [build.id, { id: build.id }])).values(),
  ],
  listItems: (deps, { org, after }) => listPages(deps, org, after),
  sweepItem: (deps, { page }, { org, attempt }) => assignPage(deps, org, page, attempt),
})

/**
 * The age at which topics are built again. It is slightly less than a day, because builds always start at the same
 * minute of the hour.
 */
const builtAgainMs = dayMs - hourMs / 2

const isDue = (builtAt: Date | undefined, now: Date): boolean =>
  builtAt === undefined || now.getTime() - builtAt.getTime() >= builtAgainMs

/** Builds topics once a day. The first build starts as soon as there are enough conversations. */
export const buildDaily = defineSweep({
  name: 'topics.build',
  schedule: '35 * * * *',
  time: currentTime,
  concurrency: 1,
  timeoutSeconds: 60 * 60,
  listOrganizations: async ({ db, config }: Deps, now) => {
    if (!config.embeddings) return []
    const built = new Map((await listBuiltAllOrgs(db)).map(({ id, builtAt }) => [id, builtAt]))
    return (await listEmbeddingAllOrgs(db)).filter(({ id }) => isDue(built.get(id), now))
  },
  listItems: async function* (deps, { org, now }) {
    const [newest] = await listBuilds(deps.database.dbOf(org), org)
    if (isDue(newest?.builtAt, now)) yield { id: 'build' }
  },
  sweepItem: async (deps, _build, { org, attempt }) => {
    await buildTopics(deps, org, attempt, async (trx, number) => {
      await deps.jobs.enqueue(trx, assignOlder, { organizationId: org }, { singletonKey: `build-${number}` })
    })
  },
})

/** The delay of the first build, so that it includes conversations that arrive together. */
const firstBuildSeconds = 60

/** Builds topics for the first time soon after enough conversations are embedded, instead of at the next full hour. */
export const buildFirst = async (
  { jobs }: Pick<Deps, 'jobs'>,
  trx: Db,
  org: OrgId,
  { firstPassages }: Events['conversationsEmbedded'],
): Promise<void> => {
  if (firstPassages.length === 0 || (await listBuilds(trx, org)).length > 0) return
  const options = { singletonKey: 'first', afterSeconds: firstBuildSeconds }
  await jobs.enqueue(trx, buildDaily, { organizationId: org }, options)
}
