const channels = ['voice', 'text'] as const

export type AgentsSearch = {
  tab?: 'groups'
  channel?: (typeof channels)[number]
  companyId?: string
  groupId?: string
  archived?: true
}

const text = <const Name extends string>(name: Name, value: unknown): { [name in Name]?: string } =>
  (typeof value === 'string' && value !== '' ? { [name]: value } : {}) as { [name in Name]?: string }

export const readAgentsSearch = (search: Record<string, unknown>): AgentsSearch => {
  const channel = channels.find((known) => known === search.channel)
  return {
    ...(search.tab === 'groups' && { tab: 'groups' }),
    ...(channel && { channel }),
    ...text('companyId', search.companyId),
    ...text('groupId', search.groupId),
    ...(search.archived === true && { archived: true }),
  }
}

/** The versions that are compared: the earlier and the later. */
export type AgentSearch = { from?: string; to?: string }

export const readAgentSearch = (search: Record<string, unknown>): AgentSearch => ({
  ...text('from', search.from),
  ...text('to', search.to),
})
