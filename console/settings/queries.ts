import { queryOptions } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import { listOptions, queryClient } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'

export type Member = Schemas['Member']
export type ApiKey = Schemas['ApiKey']
export type Integration = Schemas['Integration']
export type IntegrationDelivery = Schemas['IntegrationDelivery']
export type IntegrationSync = Schemas['IntegrationSync']
export type IntegrationSyncGap = Schemas['IntegrationSyncGap']
export type Endpoint = Schemas['WebhookEndpoint']
export type WebhookDelivery = Schemas['WebhookDelivery']
export type Destination = Schemas['Destination']
export type OwnershipRule = Schemas['OwnershipRule']
export type DestinationDelivery = Schemas['DestinationDelivery']
export type FailedJob = Schemas['FailedJob']
export type AuditEvent = Schemas['AuditEvent']

export const organizationOptions = queryOptions({
  queryKey: ['organization'],
  queryFn: ({ signal }) => answer(api.GET('/v1/organization', { signal })),
})

export const membersOptions = listOptions(['members', 'list'], (cursor, signal) =>
  answer(api.GET('/v1/members', { params: { query: { limit: 100, ...cursor } }, signal })),
)

export const keysOptions = listOptions(['api-keys'], (cursor, signal) =>
  answer(api.GET('/v1/api-keys', { params: { query: { limit: 100, ...cursor } }, signal })),
)

export type AuditFilter = { action?: string; userId?: string; since?: string; until?: string }

export const auditOptions = (filter: AuditFilter) =>
  listOptions(['audit-events', filter], (cursor, signal) =>
    answer(api.GET('/v1/audit-events', { params: { query: { limit: 100, ...filter, ...cursor } }, signal })),
  )

export const integrationsOptions = listOptions(['integrations', 'list'], (cursor, signal) =>
  answer(api.GET('/v1/integrations', { params: { query: { limit: 100, ...cursor } }, signal })),
)

export const integrationOptions = (id: string) =>
  queryOptions({
    queryKey: ['integrations', id],
    queryFn: ({ signal }) => answer(api.GET('/v1/integrations/{id}', { params: { path: { id } }, signal })),
  })

export const integrationDeliveriesOptions = (id: string, status: IntegrationDelivery['status'] | undefined) =>
  listOptions(['integrations', id, 'deliveries', status], (cursor, signal) =>
    answer(
      api.GET('/v1/integrations/{id}/deliveries', {
        params: { path: { id }, query: { limit: 50, ...(status && { status }), ...cursor } },
        signal,
      }),
    ),
  )

export const integrationDeliveryOptions = (id: string, deliveryId: string) =>
  queryOptions({
    queryKey: ['integrations', id, 'deliveries', 'one', deliveryId],
    queryFn: ({ signal }) =>
      answer(
        api.GET('/v1/integrations/{id}/deliveries/{deliveryId}', { params: { path: { id, deliveryId } }, signal }),
      ),
  })

export const integrationSyncOptions = (id: string) =>
  queryOptions({
    queryKey: ['integrations', id, 'sync'],
    queryFn: ({ signal }) => answer(api.GET('/v1/integrations/{id}/sync', { params: { path: { id } }, signal })),
  })

export const integrationSyncGapsOptions = (id: string) =>
  listOptions(['integrations', id, 'sync', 'gaps'], (cursor, signal) =>
    answer(
      api.GET('/v1/integrations/{id}/sync/gaps', {
        params: { path: { id }, query: { limit: 100, state: 'failed', ...cursor } },
        signal,
      }),
    ),
  )

export const endpointsOptions = listOptions(['webhook-endpoints', 'list'], (cursor, signal) =>
  answer(api.GET('/v1/webhook-endpoints', { params: { query: { limit: 100, ...cursor } }, signal })),
)

export const endpointOptions = (id: string) =>
  queryOptions({
    queryKey: ['webhook-endpoints', id],
    queryFn: ({ signal }) => answer(api.GET('/v1/webhook-endpoints/{id}', { params: { path: { id } }, signal })),
  })

export const webhookDeliveriesOptions = (id: string, status: WebhookDelivery['status'] | undefined) =>
  listOptions(['webhook-endpoints', id, 'deliveries', status], (cursor, signal) =>
    answer(
      api.GET('/v1/webhook-endpoints/{id}/deliveries', {
        params: { path: { id }, query: { limit: 50, ...(status && { status }), ...cursor } },
        signal,
      }),
    ),
  )

export const webhookDeliveryOptions = (id: string, deliveryId: string) =>
  queryOptions({
    queryKey: ['webhook-endpoints', id, 'deliveries', 'one', deliveryId],
    queryFn: ({ signal }) =>
      answer(
        api.GET('/v1/webhook-endpoints/{id}/deliveries/{deliveryId}', { params: { path: { id, deliveryId } }, signal }),
      ),
  })

export const ownershipRulesOptions = listOptions(['ownership-rules'], (cursor, signal) =>
  answer(api.GET('/v1/ownership-rules', { params: { query: { limit: 100, ...cursor } }, signal })),
)

export const destinationsOptions = listOptions(['destinations', 'list'], (cursor, signal) =>
  answer(api.GET('/v1/destinations', { params: { query: { limit: 100, ...cursor } }, signal })),
)

export const destinationOptions = (id: string) =>
  queryOptions({
    queryKey: ['destinations', id],
    queryFn: ({ signal }) => answer(api.GET('/v1/destinations/{id}', { params: { path: { id } }, signal })),
  })

export const destinationDeliveriesOptions = (id: string, status: DestinationDelivery['status'] | undefined) =>
  listOptions(['destinations', id, 'deliveries', status], (cursor, signal) =>
    answer(
      api.GET('/v1/destinations/{id}/deliveries', {
        params: { path: { id }, query: { limit: 50, ...(status && { status }), ...cursor } },
        signal,
      }),
    ),
  )

export const healthOptions = queryOptions({
  queryKey: ['health'],
  queryFn: ({ signal }) => answer(api.GET('/v1/health', { signal })),
})

export const failedJobsOptions = listOptions(['failed-jobs'], (cursor, signal) =>
  answer(api.GET('/v1/failed-jobs', { params: { query: { limit: 50, ...cursor } }, signal })),
)

export const refresh = (...key: string[]) => queryClient.invalidateQueries({ queryKey: key })
