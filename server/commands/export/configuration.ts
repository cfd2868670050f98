import type { Earshot } from '../../../client/src/earshot.ts'
import { WronglyCalled } from '../call.ts'
import { findAmong, findNamed } from '../connect.ts'
import type { Options } from './options.ts'

const mostMonitors = 20

type Asking = { earshot: Earshot; signal: AbortSignal }

const chooseMonitors = async ({ earshot, signal }: Asking, { monitors, affected, notAffected }: Options['named']) => {
  const known = await earshot.monitors.list({}, { signal }).all()
  const idOf = (name: string): string => findAmong(known, name, 'monitor').id
  const conditions = new Map<string, 'affected' | 'not_affected'>()
  for (const name of affected) conditions.set(idOf(name), 'affected')
  for (const name of notAffected) {
    const id = idOf(name)
    if (conditions.has(id))
      throw new WronglyCalled(`${JSON.stringify(name)} cannot be in both --affected and --not-affected.`)
    conditions.set(id, 'not_affected')
  }
  const chosen = monitors.length > 0 ? monitors.map(idOf) : known.filter(({ enabled }) => enabled).map(({ id }) => id)
  const ids = [...new Set([...chosen, ...conditions.keys()])]
  if (ids.length === 0) throw new WronglyCalled('No monitor is enabled. Choose one with --monitor.')
  if (ids.length > mostMonitors) {
    throw new WronglyCalled(
      `An export can have at most ${mostMonitors} monitors, not ${ids.length}. Choose them with --monitor.`,
    )
  }
  return ids.map((id) => ({ id, result: conditions.get(id) ?? ('all' as const) }))
}

/** Returns the configuration of the export, with names resolved to IDs. */
export const makeConfiguration = async (
  earshot: Earshot,
  { named, places, asked, format }: Options,
  signal: AbortSignal,
) => {
  const { company, agent, group } = places
  const { companies, agents, agentGroups } = earshot
  const given = { signal }
  const config = {
    monitors: await chooseMonitors({ earshot, signal }, named),
    ...asked,
    format,
    ...(company !== undefined && { companyId: (await findNamed(companies.list({}, given), company, 'company')).id }),
    ...(agent !== undefined && { agentId: (await findNamed(agents.list({}, given), agent, 'agent')).id }),
    ...(group !== undefined && { groupId: (await findNamed(agentGroups.list({}, given), group, 'agent group')).id }),
  }
  // The command line only accepts valid choices, and the service validates the rest.
  return config as Parameters<Earshot['exports']['preview']>[0]['config']
}
