import { createHash } from 'node:crypto'
import { type Earshot, EarshotError, type RequestOptions } from '../../../client/src/earshot.ts'
import type { WantedVersion } from './bodies.ts'

/** The maximum number of agents or versions to cache. If there are more, they are looked up again. */
const mostKept = 10_000

/** Finds or creates the versions for labels, each only once. */
export const openVersions = (earshot: Earshot, asked: RequestOptions) => {
  const agents = new Map<string, Promise<string>>()
  const versions = new Map<string, Promise<string>>()

  const findAgent = async (externalId: string): Promise<string | undefined> =>
    (await earshot.agents.list({ externalId }, asked).page()).data[0]?.id

  const getAgent = async ({ externalId, name, channel }: WantedVersion['agent']): Promise<string> => {
    const present = await findAgent(externalId)
    if (present !== undefined) return present
    try {
      return (await earshot.agents.create({ externalId, name, channel }, asked)).id
    } catch (error) {
      // A conflict means that another process created the agent first.
      const made = error instanceof EarshotError && error.status === 409 ? await findAgent(externalId) : undefined
      if (made === undefined) throw error
      return made
    }
  }

  const findVersion = async (agentId: string, label: string): Promise<string | undefined> => {
    for await (const version of earshot.agents.listVersions(agentId, {}, asked)) {
      if (version.label === label) return version.id
    }
    return undefined
  }

  const makeVersion = async (agentId: string, systemPrompt: string, label: string | null): Promise<string> => {
    try {
      return (await earshot.agents.createVersion(agentId, { systemPrompt, label }, asked)).id
    } catch (error) {
      // A conflict means that the label belongs to another prompt.
      if (label === null || !(error instanceof EarshotError && error.status === 409)) throw error
      return makeVersion(agentId, systemPrompt, null)
    }
  }

  const getVersion = async (agentId: string, version: WantedVersion['version']): Promise<string> => {
    if ('systemPrompt' in version) return makeVersion(agentId, version.systemPrompt, version.label ?? null)
    const { label } = version
    const present = await findVersion(agentId, label)
    if (present !== undefined) return present
    // The service creates the same version for a conversation that only has a label, so both lead to the same version.
    const made = { systemPrompt: '', config: { version: label }, label }
    return (await earshot.agents.createVersion(agentId, made, asked)).id
  }

  const once = <T>(known: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> => {
    const present = known.get(key)
    if (present) return present
    if (known.size >= mostKept) known.clear()
    const made = make()
    known.set(key, made)
    return made
  }

  return async ({ agent, version }: WantedVersion): Promise<string> => {
    const agentId = await once(agents, agent.externalId, () => getAgent(agent))
    const key = createHash('sha256').update(JSON.stringify(version)).digest('base64')
    return once(versions, `${agentId} ${key}`, () => getVersion(agentId, version))
  }
}
