import { type Options, WronglyCalled } from './options.ts'
import { type Remote, strangeAnswer } from './remote.ts'

type Named = { id: string; name: string }
type Monitor = Named & { enabled: boolean }

const mostMonitors = 20

const list = async <T extends Named>(remote: Remote, path: string): Promise<T[]> => {
  const all: T[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    // A page, as the interface describes it.
    const page = (await remote.get(`${path}?limit=200${query}`)) as { data?: T[]; nextCursor: string | null }
    if (!Array.isArray(page.data)) throw strangeAnswer(remote.url)
    all.push(...page.data)
    cursor = page.nextCursor
  }
  return all
}

const find = <T extends Named>(known: T[], given: string, kind: string): T => {
  const wanted = given.toLowerCase()
  const found = known.filter(({ id, name }) => id === wanted || name.toLowerCase() === wanted)
  if (found[0] && found.length === 1) return found[0]
  if (found.length > 1) throw new WronglyCalled(`${found.length} have the name ${JSON.stringify(given)}; give the id.`)
  const names = known.slice(0, 20).map(({ name }) => `  ${name}`)
  throw new WronglyCalled(
    `There is no ${kind} ${JSON.stringify(given)}.${names.length > 0 ? ` There is:\n${names.join('\n')}` : ''}`,
  )
}

const chooseMonitors = async (remote: Remote, { monitors, affected, notAffected }: Options['named']) => {
  const known = await list<Monitor>(remote, '/v1/monitors')
  const conditions = new Map<string, 'affected' | 'not_affected'>()
  for (const name of affected) conditions.set(find(known, name, 'monitor').id, 'affected')
  for (const name of notAffected) {
    const { id } = find(known, name, 'monitor')
    if (conditions.has(id)) throw new WronglyCalled(`${JSON.stringify(name)} cannot be both affected and not.`)
    conditions.set(id, 'not_affected')
  }
  const chosen =
    monitors.length > 0
      ? monitors.map((name) => find(known, name, 'monitor').id)
      : known.filter(({ enabled }) => enabled).map(({ id }) => id)
  const ids = [...new Set([...chosen, ...conditions.keys()])]
  if (ids.length === 0) throw new WronglyCalled('There is no enabled monitor; name one with --monitor.')
  if (ids.length > mostMonitors) {
    throw new WronglyCalled(
      `An export has at most ${mostMonitors} monitors, not ${ids.length}; name them with --monitor.`,
    )
  }
  return ids.map((id) => ({ id, result: conditions.get(id) ?? 'all' }))
}

const paths = {
  companyId: ['/v1/companies', 'company'],
  agentId: ['/v1/agents', 'agent'],
  groupId: ['/v1/agent-groups', 'agent group'],
} as const

/** The configuration of the export, with the ids of all that was named. */
export const makeConfiguration = async (remote: Remote, { named, places, asked }: Options) => {
  const found: Record<string, string> = {}
  for (const [field, given] of Object.entries(places)) {
    if (given === undefined) continue
    // The names of `places` are those of `paths`.
    const [path, kind] = paths[field as keyof typeof paths]
    found[field] = find(await list(remote, path), given, kind).id
  }
  return { monitors: await chooseMonitors(remote, named), ...asked, ...found }
}
