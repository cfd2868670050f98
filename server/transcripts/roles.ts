import { Unreadable } from './draft.ts'
import { entriesOf, type JsonObject } from './json.ts'
import type { TurnRole } from './turn.ts'

const spellings: Record<TurnRole, string[]> = {
  agent: ['agent', 'assistant', 'bot', 'ai', 'model', 'ai agent', 'ai assistant', 'voice agent', 'virtual agent'],
  customer: ['customer', 'user', 'caller', 'client', 'human', 'end user'],
  system: ['system', 'developer'],
  tool: ['tool', 'function'],
  human_agent: ['human agent', 'live agent', 'representative', 'supervisor', 'transfer target'],
  other: ['other', 'unknown', 'speaker'],
}

const roles = new Map(
  Object.entries(spellings).flatMap(([role, names]) => names.map((name) => [name, role as TurnRole] as const)),
)

/** Returns the role for a speaker name used by a source, or undefined if the name is unknown. */
export const knownRole = (name: string): TurnRole | undefined =>
  name.length > 40
    ? undefined
    : roles.get(
        name
          .trim()
          .toLowerCase()
          .replaceAll(/[\s_-]+/g, ' '),
      )

export const roleOf = (name: string): TurnRole => knownRole(name) ?? 'other'

export type SpokenEntry = { entry: JsonObject; name: string; role: TurnRole }

/** Yields each entry of a list. Every entry must have a role. */
export function* spokenEntries(list: unknown[]): Generator<SpokenEntry> {
  let index = 0
  for (const entry of entriesOf(list)) {
    if (typeof entry.role !== 'string') throw new Unreadable(`entry ${index} has no role`)
    yield { entry, name: entry.role.toLowerCase(), role: roleOf(entry.role) }
    index += 1
  }
}
