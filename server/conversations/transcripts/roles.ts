import type { TurnRole } from './turn.ts'

const spellings: Record<TurnRole, string[]> = {
  agent: ['agent', 'assistant', 'bot', 'ai', 'model', 'ai agent', 'ai assistant', 'voice agent', 'virtual agent'],
  customer: ['customer', 'user', 'caller', 'client', 'human', 'end user', 'guest', 'patient'],
  system: ['system', 'developer'],
  tool: ['tool', 'function'],
  human_agent: ['human agent', 'live agent', 'representative', 'supervisor', 'operator', 'transfer target'],
  other: ['other', 'unknown', 'speaker'],
}

const roles = new Map(
  Object.entries(spellings).flatMap(([role, names]) => names.map((name) => [name, role as TurnRole] as const)),
)

/** The role that a source's word for a speaker stands for; undefined when nobody has agreed on it. */
export const knownRole = (name: string): TurnRole | undefined =>
  name.length > 40 ? undefined : roles.get(name.trim().toLowerCase().replaceAll(/[\s_-]+/g, ' '))

export const roleOf = (name: string): TurnRole => knownRole(name) ?? 'other'
