import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { answer, api } from './client.ts'
import type { Schemas } from './schema.d.ts'

export type Role = Schemas['Me']['role']

/** Who is signed in, where, and what they may do. */
export const meOptions = queryOptions({
  queryKey: ['me'],
  queryFn: ({ signal }) => answer(api.GET('/v1/me', { signal })),
  staleTime: 60_000,
})

export const useMe = () => useSuspenseQuery(meOptions).data

const ranks: Record<Role, number> = { viewer: 0, member: 1, admin: 2, owner: 3 }

/** Whether the person signed in has at least this role. */
export const useMay = (role: Role): boolean => ranks[useMe().role] >= ranks[role]
