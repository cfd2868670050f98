// Loads names for IDs. All names of a kind are loaded once and cached for a minute.

import { queryOptions, useQuery } from '@tanstack/react-query'
import { answer, api } from './client.ts'
import { queryClient } from './queries.ts'

type Named = { id: string; name: string }
type Page = { data: Named[]; nextCursor: string | null }
type Load = (query: { limit: number; cursor?: string }) => Promise<Page>

const loaders = {
  agents: (query) => answer(api.GET('/v1/agents', { params: { query } })),
  agentGroups: (query) => answer(api.GET('/v1/agent-groups', { params: { query } })),
  companies: (query) => answer(api.GET('/v1/companies', { params: { query } })),
  monitors: (query) => answer(api.GET('/v1/monitors', { params: { query } })),
  buckets: (query) => answer(api.GET('/v1/buckets', { params: { query } })),
  members: async (query) => {
    const { data, nextCursor } = await answer(api.GET('/v1/members', { params: { query } }))
    return { data: data.map(({ userId, name, email }) => ({ id: userId, name: name || email })), nextCursor }
  },
} satisfies Record<string, Load>

export type NamedKind = keyof typeof loaders

/** The maximum number of names to load. Further names appear as IDs. */
const maxNames = 2_000

const readAll = async (load: Load): Promise<Named[]> => {
  const all: Named[] = []
  let cursor: string | null = null
  do {
    const page: Page = await load({ limit: 200, ...(cursor !== null && { cursor }) })
    all.push(...page.data)
    cursor = page.nextCursor
  } while (cursor !== null && all.length < maxNames)
  return all
}

export const namesOptions = (kind: NamedKind) =>
  queryOptions({ queryKey: [kind, 'names'], queryFn: () => readAll(loaders[kind]), staleTime: 60_000 })

const optionsOf = (names: Named[]) => names.map(({ id, name }) => ({ value: id, label: name }))

/** Loads all names of a kind as options. */
export const loadNames = async (kind: NamedKind) => optionsOf(await queryClient.fetchQuery(namesOptions(kind)))

/** Returns all names of a kind, as options and by ID. */
export const useNames = (kind: NamedKind) => {
  const { data = [], isSuccess, error, refetch } = useQuery(namesOptions(kind))
  return {
    isLoaded: isSuccess,
    error,
    retry: () => void refetch(),
    options: optionsOf(data),
    nameOf: (id: string): string => data.find((item) => item.id === id)?.name ?? `${id.slice(0, 8)}…`,
  }
}
