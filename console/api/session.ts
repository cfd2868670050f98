import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { answer, api } from './client.ts'
import type { Schemas } from './schema.d.ts'

export type Role = Schemas['Me']['role']

/** The signed-in member, their organization, and their permissions. */
export const meOptions = queryOptions({
  queryKey: ['me'],
  queryFn: ({ signal }) => answer(api.GET('/v1/me', { signal })),
  staleTime: 60_000,
})

export const useMe = () => useSuspenseQuery(meOptions).data

const ranks: Record<Role, number> = { viewer: 0, member: 1, admin: 2, owner: 3 }

/** Returns whether the signed-in member has at least this role. */
export const useMay = (role: Role): boolean => ranks[useMe().role] >= ranks[role]
