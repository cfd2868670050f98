import { readText } from '../lib/search.ts'

const channels = ['voice', 'text'] as const

export type AgentsSearch = {
  tab?: 'groups'
  channel?: (typeof channels)[number]
  companyId?: string
  groupId?: string
  archived?: true
}

export const readAgentsSearch = (search: Record<string, unknown>): AgentsSearch => {
  const channel = channels.find((known) => known === search.channel)
  return {
    ...(search.tab === 'groups' && { tab: 'groups' }),
    ...(channel && { channel }),
    ...readText('companyId', search.companyId),
    ...readText('groupId', search.groupId),
    ...(search.archived === true && { archived: true }),
  }
}

/** The two versions to compare, the earlier one first, and the period of the figures. */
export type AgentSearch = { from?: string; to?: string; time?: string }

export const readAgentSearch = (search: Record<string, unknown>): AgentSearch => ({
  ...readText('from', search.from),
  ...readText('to', search.to),
  ...readText('time', search.time),
})
