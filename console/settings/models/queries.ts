import { queryOptions } from '@tanstack/react-query'
import { answer, api } from '../../api/client.ts'
import { listOptions, queryClient } from '../../api/queries.ts'
import type { Schemas } from '../../api/schema.d.ts'

export type Provider = Schemas['ModelProvider']
export type ProviderKind = Provider['kind']
export type TestResult = Schemas['ModelProviderTest']
export type OfferedModel = Schemas['OfferedModels']['data'][number]
export type ModelPrice = NonNullable<Provider['modelPrice']>

export const providersOptions = listOptions(['model-providers', 'list'], (cursor, signal) =>
  answer(api.GET('/v1/model-providers', { params: { query: { limit: 100, ...cursor } }, signal })),
)

export const providerOptions = (id: string) =>
  queryOptions({
    queryKey: ['model-providers', id],
    queryFn: ({ signal }) => answer(api.GET('/v1/model-providers/{id}', { params: { path: { id } }, signal })),
  })

export const instanceOptions = queryOptions({
  queryKey: ['model-providers', 'instance'],
  queryFn: ({ signal }) => answer(api.GET('/v1/model-providers/instance', { signal })),
})

export const offeredOptions = (id: string) =>
  queryOptions({
    queryKey: ['model-providers', id, 'models'],
    queryFn: ({ signal }) => answer(api.GET('/v1/model-providers/{id}/models', { params: { path: { id } }, signal })),
  })

export type ProviderChange = {
  name?: string
  settings?: Record<string, unknown>
  isDefault?: boolean
  limits?: Partial<Record<keyof Provider['limits'], number | null>>
  prices?: Provider['prices']
  fallbackProviderIds?: string[]
  status?: Provider['status']
}

/** Changes a provider, and reloads everything that depends on it. */
export const changeProvider = async (id: string, body: ProviderChange): Promise<void> => {
  await answer(api.PATCH('/v1/model-providers/{id}', { params: { path: { id } }, body }))
  await refreshProviders()
}

export const refreshProviders = async (): Promise<void> => {
  await queryClient.invalidateQueries({ queryKey: ['model-providers'] })
  await queryClient.invalidateQueries({ queryKey: ['models'] })
}
