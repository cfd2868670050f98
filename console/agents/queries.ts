import { queryOptions } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import { listOptions, queryClient } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'
import type { AgentsSearch } from './search.ts'

export type Agent = Schemas['Agent']
export type AgentGroup = Schemas['AgentGroup']
export type AgentVersion = Schemas['AgentVersion']

export const agentsOptions = ({ channel, companyId, groupId, archived }: AgentsSearch) => {
  const query = {
    ...(channel && { channel }),
    ...(companyId && { companyId }),
    ...(groupId && { groupId }),
    ...(archived && { archived }),
  }
  return listOptions(['agents', 'list', query], (cursor, signal) =>
    answer(api.GET('/v1/agents', { params: { query: { limit: 50, ...query, ...cursor } }, signal })),
  )
}

export const agentOptions = (id: string) =>
  queryOptions({
    queryKey: ['agents', id],
    queryFn: ({ signal }) => answer(api.GET('/v1/agents/{id}', { params: { path: { id } }, signal })),
  })

export const versionsOptions = (id: string) =>
  listOptions(['agents', id, 'versions'], (cursor, signal) =>
    answer(api.GET('/v1/agents/{id}/versions', { params: { path: { id }, query: { limit: 100, ...cursor } }, signal })),
  )

export const versionOptions = (id: string, versionId: string) =>
  queryOptions({
    queryKey: ['agents', id, 'versions', versionId],
    queryFn: ({ signal }) =>
      answer(api.GET('/v1/agents/{id}/versions/{versionId}', { params: { path: { id, versionId } }, signal })),
    // Versions never change.
    staleTime: Number.POSITIVE_INFINITY,
  })

export const groupsOptions = listOptions(['agentGroups', 'list'], (cursor, signal) =>
  answer(api.GET('/v1/agent-groups', { params: { query: { limit: 50, ...cursor } }, signal })),
)

export const refreshAgents = () => queryClient.invalidateQueries({ queryKey: ['agents'] })

export const refreshGroups = () => queryClient.invalidateQueries({ queryKey: ['agentGroups'] })

export const versionName = ({ number, label }: Pick<AgentVersion, 'number' | 'label'>): string =>
  label ? `${number} · ${label}` : String(number)

/** The policies for an agent's recordings. */
export const keepNames: Record<Agent['recordings']['keep'], string> = {
  all: 'Keep',
  days: 'Delete after a set time',
  transcript_only: 'Measure, then delete',
  nothing: 'Don’t store',
}

/** The redaction methods for an agent's recordings. With an empty name, the organization's setting applies. */
export const redactionNames = { '': 'Organization default', none: 'None', mute: 'Mute', beep: 'Beep' } as const

export const channelNames: Record<Agent['channel'], string> = { voice: 'Voice', text: 'Text' }
